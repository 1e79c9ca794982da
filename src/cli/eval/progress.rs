//! Progress on standard error: standard output is reserved for the result.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use eval::{Event, Work};

use super::super::wording::counted;

/// Minimum time between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Prints the progress of one set.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    set: &'a str,
    last: Mutex<Instant>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(set: &'a str) -> Self {
        Self { set, last: Mutex::new(Instant::now()) }
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        let set = self.set;
        match event {
            Event::Progress { work, done, of } => {
                let Ok(mut last) = self.last.lock() else { return };
                if last.elapsed() >= TELL_EVERY {
                    *last = Instant::now();
                    eprintln!("{set}: {done} of {of}, {}", name_of(work));
                }
            }
            Event::Loaded(loaded) => {
                let seconds = loaded.duration.as_secs_f64();
                let documents = counted(loaded.documents, "document");
                eprintln!("{set}: {documents} in {}, {seconds:.0} s", counted(loaded.chunks, "chunk"));
                if let Some(failed) = &loaded.not_indexed {
                    let documents = counted(failed.documents, "document");
                    eprintln!("{set}: {documents} could not be indexed; the first: {}", failed.first);
                }
            }
            Event::Searched(mode, figures) => {
                let (mode, queries, ndcg) = (mode.as_str(), figures.queries, figures.ndcg_at_10);
                eprintln!("{set}: {mode} nDCG@10 {ndcg:.3}, {queries} queries, {:.1} ms", figures.median_ms);
            }
        }
    }
}

const fn name_of(work: Work) -> &'static str {
    match work {
        Work::Index => "documents indexed",
        Work::Search(mode) => mode.as_str(),
        Work::Ask => "questions asked",
        Work::AskOffCorpus => "questions of another set asked",
        Work::Converse => "follow-up questions asked",
        Work::Check => "claims checked",
        Work::Attack => "attacks tried",
    }
}
