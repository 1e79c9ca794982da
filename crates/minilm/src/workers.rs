//! Threads that compute, and the queues they read from.
//!
//! Inference keeps a core busy for tens of milliseconds, so it runs on threads of its own and the async side only
//! awaits answers. One more thread than asked for takes nothing but queries, and the others take queries first: a
//! query waits behind other queries at most, never behind a document. Every text is computed alone, so neither its
//! neighbours nor the thread it lands on can change its vector, and no short text is padded to a long one's length.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, RecvError, Sender, select_biased, unbounded};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::MiniLmError;
use super::model::Output;

/// Passages handed over per thread before a caller has to wait: one in work, one ready.
const PASSAGES_PER_THREAD: usize = 2;

type Answer = Result<Vec<f32>, MiniLmError>;

struct Job {
    text: String,
    output: Output,
    answer: oneshot::Sender<Answer>,
    /// Frees the passage's place in the queue when the job is done or dropped.
    _place: Option<OwnedSemaphorePermit>,
}

/// The queues, as a thread sees them.
enum Lane {
    /// Takes queries alone.
    Queries(Receiver<Job>),
    /// Takes queries first, then passages.
    All { queries: Receiver<Job>, passages: Receiver<Job> },
}

impl Lane {
    /// The next job; an error when it is time to end.
    fn next(&self) -> Result<Job, RecvError> {
        match self {
            Self::Queries(queries) => queries.recv(),
            Self::All { queries, passages } => select_biased! {
                recv(queries) -> job => job,
                recv(passages) -> job => job,
            },
        }
    }
}

/// A running set of threads; they end when it is dropped.
pub(super) struct Workers {
    queries: Sender<Job>,
    passages: Sender<Job>,
    places: Arc<Semaphore>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts `passages` threads and one for queries. `prepare` gives each thread its computation.
    pub(crate) fn start<P, E>(passages: NonZeroUsize, prepare: P) -> Result<Self, MiniLmError>
    where
        P: Fn() -> E + Clone + Send + 'static,
        E: FnMut(&str, Output) -> Vec<f32>,
    {
        let threads = passages.get();
        let places = Arc::new(Semaphore::new(threads.saturating_mul(PASSAGES_PER_THREAD)));
        let (query_sender, queries) = unbounded();
        let (passage_sender, passages) = unbounded();
        let mut workers = Self { queries: query_sender, passages: passage_sender, places, threads: Vec::new() };
        workers.add("minilm-query", Lane::Queries(queries.clone()), prepare.clone())?;
        for index in 0..threads {
            let lane = Lane::All { queries: queries.clone(), passages: passages.clone() };
            workers.add(&format!("minilm-{index}"), lane, prepare.clone())?;
        }
        Ok(workers)
    }

    fn add<P, E>(&mut self, name: &str, lane: Lane, prepare: P) -> Result<(), MiniLmError>
    where
        P: Fn() -> E + Send + 'static,
        E: FnMut(&str, Output) -> Vec<f32>,
    {
        let (pool, thread) = single_thread_pool(name)?;
        self.threads.extend(thread);
        // A panic in here ends the process: rayon aborts, and nobody waits for a thread that is gone.
        pool.spawn(move || work(&lane, prepare));
        Ok(())
    }

    /// The vector of a query.
    pub(crate) async fn query(&self, text: &str, output: Output) -> Answer {
        let answer = submit(&self.queries, text.to_owned(), output, None);
        answer.await.unwrap_or(Err(MiniLmError::Stopped))
    }

    /// The vectors of passages, in their order.
    pub(crate) async fn passages(&self, texts: Vec<String>, output: Output) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let mut answers = Vec::with_capacity(texts.len());
        for text in texts {
            let place = Arc::clone(&self.places).acquire_owned().await;
            let place = place.map_err(|_| MiniLmError::Stopped)?;
            answers.push(submit(&self.passages, text, output, Some(place)));
        }
        let mut vectors = Vec::with_capacity(answers.len());
        for answer in answers {
            vectors.push(answer.await.unwrap_or(Err(MiniLmError::Stopped))?);
        }
        Ok(vectors)
    }
}

/// Queues a text. If no thread is left to process it, the receiver gets an error.
fn submit(
    queue: &Sender<Job>,
    text: String,
    output: Output,
    place: Option<OwnedSemaphorePermit>,
) -> oneshot::Receiver<Answer> {
    let (answer, receiver) = oneshot::channel();
    let _ = queue.send(Job { text, output, answer, _place: place });
    receiver
}

impl Drop for Workers {
    fn drop(&mut self) {
        // Threads end once nothing can be sent to them any more.
        self.queries = unbounded().0;
        self.passages = unbounded().0;
        for thread in self.threads.drain(..) {
            // A worker contains its panics, and if one died all the same there is nothing left to end.
            let _ = thread.join();
        }
    }
}

/// A thread that the matrix products see as a pool of one: they split their work over the pool they run in, and
/// splitting one text costs more than it gains while every core has a text of its own.
fn single_thread_pool(name: &str) -> Result<(ThreadPool, Option<JoinHandle<()>>), MiniLmError> {
    let mut handle = None;
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(|thread| {
            let builder = std::thread::Builder::new().name(name.to_owned());
            handle = Some(builder.spawn(|| thread.run())?);
            Ok(())
        })
        .build()?;
    Ok((pool, handle))
}

fn work<E: FnMut(&str, Output) -> Vec<f32>>(lane: &Lane, prepare: impl Fn() -> E) {
    let mut embed = prepare();
    while let Ok(Job { text, output, answer, _place }) = lane.next() {
        if answer.is_closed() {
            continue;
        }
        let vector = catch_unwind(AssertUnwindSafe(|| embed(&text, output)));
        if vector.is_err() {
            // Its working memory may be half written.
            embed = prepare();
        }
        // The caller may have gone meanwhile.
        let _ = answer.send(vector.map_err(|_| MiniLmError::Panicked));
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, mpsc};
    use std::task::{Context, Waker};

    use super::{MiniLmError, Output, Workers};

    const ONE: NonZeroUsize = NonZeroUsize::MIN;

    fn length_of(text: &str, _: Output) -> Vec<f32> {
        assert!(text != "bad", "asked to fail");
        vec![f32::from(u8::try_from(text.len()).expect("short texts"))]
    }

    /// Each text but a query blocks its thread until the test lets one through.
    fn gated() -> (Workers, mpsc::Sender<()>, Arc<AtomicUsize>) {
        let (open, gate) = mpsc::channel();
        let gate = Arc::new(Mutex::new(gate));
        let begun = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&begun);
        let workers = Workers::start(ONE, move || {
            let (gate, count) = (Arc::clone(&gate), Arc::clone(&count));
            move |text: &str, output| {
                if text != "query" {
                    count.fetch_add(1, Ordering::SeqCst);
                    gate.lock().expect("no panic under this lock").recv().expect("the test goes on");
                }
                length_of(text, output)
            }
        })
        .expect("threads start");
        (workers, open, begun)
    }

    #[tokio::test]
    async fn answers_keep_the_order_of_the_texts() {
        let workers = Workers::start(NonZeroUsize::new(3).expect("not zero"), || length_of).expect("threads");
        let texts: Vec<String> = (0..100).map(|length| "x".repeat(length)).collect();
        let vectors = workers.passages(texts, Output::Whole).await.expect("all are computed");
        let lengths: Vec<f32> = vectors.into_iter().flatten().collect();
        assert!(lengths.is_sorted());
        assert_eq!(lengths.len(), 100);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_thread_goes_on() {
        let workers = Workers::start(ONE, || length_of).expect("threads start");
        let failed = workers.passages(vec!["bad".to_owned(), "fine".to_owned()], Output::Whole).await;
        assert!(matches!(failed, Err(MiniLmError::Panicked)));
        assert!(matches!(workers.query("bad", Output::Whole).await, Err(MiniLmError::Panicked)));
        assert_eq!(workers.query("good", Output::Whole).await.expect("computed"), [4.0]);
        assert_eq!(workers.passages(vec!["ok".to_owned()], Output::Whole).await.expect("computed"), [[2.0]]);
    }

    #[tokio::test]
    async fn a_query_does_not_wait_behind_passages() {
        let (workers, open, _) = gated();
        let texts = vec!["long".to_owned(); 5];
        let mut passages = Box::pin(workers.passages(texts, Output::Whole));
        let mut context = Context::from_waker(Waker::noop());
        assert!(passages.as_mut().poll(&mut context).is_pending());
        assert_eq!(workers.query("query", Output::Whole).await.expect("computed"), [5.0]);
        for _ in 0..5 {
            open.send(()).expect("the worker waits");
        }
        assert_eq!(passages.await.expect("computed").len(), 5);
    }

    #[tokio::test]
    async fn dropped_work_is_not_done() {
        let (workers, open, begun) = gated();
        let mut passages = Box::pin(workers.passages(vec!["long".to_owned(); 50], Output::Whole));
        let mut context = Context::from_waker(Waker::noop());
        assert!(passages.as_mut().poll(&mut context).is_pending());
        drop(passages);
        open.send(()).expect("the worker waits or will");
        open.send(()).expect("the worker waits or will");
        assert_eq!(workers.passages(vec!["last".to_owned()], Output::Whole).await.expect("computed"), [[4.0]]);
        assert!(begun.load(Ordering::SeqCst) <= 2, "one was begun at most, then the last");
    }

    #[test]
    fn threads_end_with_the_workers() {
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let workers = Workers::start(ONE, move || {
            let held = Arc::clone(&held);
            move |text: &str, output| {
                let _ = &held;
                length_of(text, output)
            }
        })
        .expect("threads start");
        assert!(Arc::strong_count(&alive) > 1);
        drop(workers);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
