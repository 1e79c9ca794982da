//! Work that is done together: calls that arrive while a former one is under way share the next.
//!
//! A lone call waits for nothing, and a hundred at once cost little more than two.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// Most calls that share one round of work.
const MOST: usize = 64;

/// Calls with the same key share their work.
pub(crate) struct Together<K, I, O> {
    waiting: Arc<Mutex<Waiting<K, I, O>>>,
}

/// The calls that wait for the round under way to end, by key; a key without a round is not there.
type Waiting<K, I, O> = HashMap<K, Vec<Call<I, O>>>;

struct Call<I, O> {
    input: I,
    output: oneshot::Sender<O>,
}

impl<K, I, O> Clone for Together<K, I, O> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting) }
    }
}

impl<K, I, O> Default for Together<K, I, O> {
    fn default() -> Self {
        Self { waiting: Arc::default() }
    }
}

impl<K, I, O> Together<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    /// Has work done on this input together with those of other calls, and returns its own output. `work` returns one output
    /// for each input; it is that of whichever call came first. It goes on if this call is dropped, since others may share
    /// it. Returns `None` only if it panicked.
    pub(crate) async fn call<W>(&self, key: K, input: I, work: impl Fn(Vec<I>) -> W + Send + 'static) -> Option<O>
    where
        W: Future<Output = Vec<O>> + Send,
    {
        let (output, outcome) = oneshot::channel();
        let call = Call { input, output };
        let is_first = match self.lock().entry(key.clone()) {
            Entry::Occupied(mut others) => {
                others.get_mut().push(call);
                false
            }
            Entry::Vacant(none) => {
                none.insert(vec![call]);
                true
            }
        };
        if is_first {
            let mut round = Round { together: self.clone(), key };
            tokio::spawn(async move {
                // Calls that are about to be made at this moment share the first round.
                tokio::task::yield_now().await;
                while let Some(calls) = round.next() {
                    let (inputs, outputs): (Vec<I>, Vec<_>) =
                        calls.into_iter().map(|call| (call.input, call.output)).unzip();
                    for (done, output) in work(inputs).await.into_iter().zip(outputs) {
                        // A caller that has gone needs none.
                        let _ = output.send(done);
                    }
                }
            });
        }
        outcome.await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<K, I, O>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rounds of one key, as long as calls wait.
struct Round<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    together: Together<K, I, O>,
    key: K,
}

impl<K, I, O> Round<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    /// The calls of the next round; without any the next call is a first one again.
    fn next(&mut self) -> Option<Vec<Call<I, O>>> {
        let mut waiting = self.together.lock();
        let calls = waiting.get_mut(&self.key)?;
        if calls.is_empty() {
            waiting.remove(&self.key);
            return None;
        }
        let rest = calls.split_off(calls.len().min(MOST));
        Some(std::mem::replace(calls, rest))
    }
}

impl<K, I, O> Drop for Round<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    fn drop(&mut self) {
        // Whoever waits for work that panicked is told, and the next call begins anew.
        if std::thread::panicking() {
            self.together.lock().remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn calls_that_arrive_during_work_share_the_next_round() {
        let together = Together::<&str, u32, (u32, usize)>::default();
        let (gate, rounds) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let call = |key, input| {
            let (gate, rounds) = (Arc::clone(&gate), Arc::clone(&rounds));
            together.call(key, input, move |inputs: Vec<u32>| {
                let (gate, rounds) = (Arc::clone(&gate), Arc::clone(&rounds));
                async move {
                    gate.acquire().await.expect("open").forget();
                    rounds.fetch_add(1, Ordering::SeqCst);
                    let count = inputs.len();
                    inputs.into_iter().map(|input| (input * 10, count)).collect()
                }
            })
        };
        let open = async {
            // By then all have arrived, and the first of each key has begun.
            tokio::task::yield_now().await;
            gate.add_permits(3);
        };
        let calls = join_all([("a", 1), ("a", 2), ("a", 3), ("b", 4)].map(|(key, input)| call(key, input)));
        let (outputs, ()) = tokio::join!(calls, open);
        let outputs: Vec<_> = outputs.into_iter().map(|output| output.expect("no panic")).collect();
        assert_eq!(outputs.iter().map(|(output, _)| *output).collect::<Vec<_>>(), [10, 20, 30, 40]);
        let rounds = rounds.load(Ordering::SeqCst);
        assert!(rounds <= 3, "{rounds} rounds: {outputs:?}");
        assert_eq!(outputs[3].1, 1, "another key is apart");
    }

    #[tokio::test]
    async fn a_caller_that_leaves_leaves_the_work_to_others() {
        let together = Together::<(), u32, u32>::default();
        let gate = Arc::new(Semaphore::new(0));
        let call = |input| {
            let gate = Arc::clone(&gate);
            together.call((), input, move |inputs: Vec<u32>| {
                let gate = Arc::clone(&gate);
                async move {
                    gate.acquire().await.expect("open").forget();
                    inputs
                }
            })
        };
        let mut leaving = Box::pin(call(1));
        assert!(futures::poll!(&mut leaving).is_pending());
        let mut staying = Box::pin(call(2));
        assert!(futures::poll!(&mut staying).is_pending());
        drop(leaving);
        gate.add_permits(2);
        assert_eq!(staying.await, Some(2));
        gate.add_permits(1);
        assert_eq!(call(3).await, Some(3), "the next begins anew");
    }

    #[tokio::test]
    async fn work_that_panics_holds_up_nobody() {
        let together = Together::<(), bool, ()>::default();
        let call = |panics| {
            together.call((), panics, |inputs: Vec<bool>| async move {
                assert!(!inputs.contains(&true), "on purpose");
                vec![(); inputs.len()]
            })
        };
        assert_eq!(call(true).await, None);
        assert_eq!(call(false).await, Some(()));
    }
}
