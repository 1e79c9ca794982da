//! Progress on standard error: standard output is for the result.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use super::report::share;
use crate::{
    domain::evaluation::retrieval::RetrievalFigures,
    service::evaluation::{Loaded, Progress},
};

/// Least time between two lines of one kind.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Tells how far one set has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Teller<'a> {
    set: &'a str,
}

impl<'a> Teller<'a> {
    pub(super) const fn new(set: &'a str) -> Self {
        Self { set }
    }

    /// An observer of one kind of work.
    pub(super) fn of(self, what: &'static str) -> impl Fn(Progress) + Send + Sync + 'a {
        let last = Mutex::new(Instant::now());
        move |Progress { done, of }| {
            let Ok(mut last) = last.lock() else { return };
            if last.elapsed() >= TELL_EVERY {
                *last = Instant::now();
                eprintln!("{}: {done} of {of}, {what}", self.set);
            }
        }
    }

    pub(super) fn loaded(self, loaded: &Loaded) {
        let seconds = loaded.duration.as_secs_f64();
        eprintln!("{}: {} documents in {} chunks, {seconds:.0} s", self.set, loaded.documents, loaded.chunks);
    }

    pub(super) fn measured(self, mode: &str, figures: &RetrievalFigures) {
        let ndcg = share(Some(figures.ndcg_at_10));
        eprintln!("{}: {mode} nDCG@10 {ndcg}, {} queries, {:.1} ms", self.set, figures.queries, figures.median_ms);
    }
}
