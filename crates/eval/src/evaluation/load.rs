//! Loads the documents of a set into its collection, and waits until its rankings no longer change.

use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{Evaluation, EvaluationError, Work};
use crate::{
    client::{LOOK, Mode},
    measures::retrieval::DEPTH,
    set::SetDocument,
};

/// Largest number of documents in one job: enough to keep all workers busy, few enough to see progress.
const JOB_DOCUMENTS: usize = 500;
/// Largest number of characters of documents in one request, far below the default limit of a service.
const JOB_BYTES: usize = 8 * 1024 * 1024;
/// Number of consecutive requests that must return the same ranking before it counts as settled.
const SAME_LOOKS: u32 = 4;
/// Longest wait for a ranking to settle.
const MAX_SETTLING: Duration = Duration::from_mins(2);

/// Documents of a set that could not be indexed. Nothing of them is found, and the figures count that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotIndexed {
    /// Number of these documents.
    pub documents: u64,
    /// Name of the first of them, and the reason.
    pub first: String,
}

impl NotIndexed {
    /// Together with those of a later job.
    fn with(earlier: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (earlier, later) {
            (Some(one), Some(other)) => Some(Self { documents: one.documents + other.documents, first: one.first }),
            (one, other) => one.or(other),
        }
    }
}

/// Documents of a set in their collection.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Documents in the collection.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Time from the first document sent to the last one stored.
    pub duration: Duration,
    /// Documents that are not in it.
    pub not_indexed: Option<NotIndexed>,
}

impl Evaluation<'_> {
    /// Indexes the documents like any upload and waits until each of them is stored or has failed.
    pub(super) async fn load(&self) -> Result<Loaded, EvaluationError> {
        let (started, documents) = (Instant::now(), &self.set.documents);
        let mut jobs = Vec::new();
        for part in parts(documents) {
            jobs.push(self.client.ingest(&self.collection, part).await?);
        }
        let (mut done, mut not_indexed) = (0, None);
        for job in jobs {
            let (settled, failed) = self.wait_for(&job, done).await?;
            done += settled;
            not_indexed = NotIndexed::with(not_indexed, failed);
        }
        let duration = started.elapsed();
        let stored = self.client.collection(&self.collection).await?;
        let failed = not_indexed.as_ref().map_or(0, |failed| failed.documents);
        let expected = u64::try_from(documents.len()).unwrap_or(u64::MAX).saturating_sub(failed);
        if let Some(failed) = not_indexed.take_if(|_| expected == 0) {
            return Err(EvaluationError::NotIndexed(failed));
        }
        if stored.documents != expected {
            let (collection, stored) = (self.collection.clone(), stored.documents);
            return Err(EvaluationError::ForeignDocuments { collection, stored, expected });
        }
        Ok(Loaded { documents: stored.documents, chunks: stored.chunks, duration, not_indexed })
    }

    /// Waits for the end of a job, where `before` documents were settled earlier; returns how many it settled, and those
    /// that it could not index.
    async fn wait_for(&self, job: &str, before: usize) -> Result<(usize, Option<NotIndexed>), EvaluationError> {
        loop {
            let state = self.client.job(job).await?;
            self.report_progress(Work::Index, before + state.settled, self.set.documents.len());
            if !state.is_open {
                return Ok((state.settled, state.not_indexed));
            }
            sleep(LOOK).await;
        }
    }

    /// Waits until a search returns the same ranking repeatedly. After the end of a job the service may still compute
    /// BM25 weights for the new average length of a chunk: figures of before and after would be mixed.
    pub(super) async fn settle(&self) -> Result<(), EvaluationError> {
        let queries = self.set.queries.iter().map(|query| query.text.as_str());
        let questions = self.set.questions.iter().map(|question| question.text.as_str());
        let Some(query) = queries.chain(questions).next() else { return Ok(()) };
        let started = Instant::now();
        let mut found = self.client.search(&self.collection, query, Mode::Lexical, DEPTH).await?;
        let mut same = 0;
        while same < SAME_LOOKS && started.elapsed() < MAX_SETTLING {
            sleep(LOOK).await;
            let again = self.client.search(&self.collection, query, Mode::Lexical, DEPTH).await?;
            same = if again == found { same + 1 } else { 0 };
            found = again;
        }
        Ok(())
    }
}

/// Groups of documents that are sent together, as one job each.
fn parts(documents: &[SetDocument]) -> impl Iterator<Item = &[SetDocument]> {
    let mut rest = documents;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |document: &&SetDocument| {
            bytes += document.title.len() + document.text.len();
            bytes <= JOB_BYTES
        };
        let end = rest.iter().take(JOB_DOCUMENTS).take_while(fits).count().max(1).min(rest.len());
        let (part, others) = rest.split_at_checked(end)?;
        rest = others;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_bounded_in_documents_and_bytes() {
        let document = |bytes: usize| SetDocument { id: "d".to_owned(), title: String::new(), text: "x".repeat(bytes) };
        let sizes = |documents: &[SetDocument]| parts(documents).map(<[SetDocument]>::len).collect::<Vec<_>>();
        assert_eq!(sizes(&[]), Vec::<usize>::new());
        assert_eq!(sizes(&vec![document(10); JOB_DOCUMENTS + 1]), [JOB_DOCUMENTS, 1]);
        let large = [JOB_BYTES / 2, JOB_BYTES / 2, 1, JOB_BYTES + 1, 1].map(document);
        assert_eq!(sizes(&large), [2, 1, 1, 1]);
    }
}
