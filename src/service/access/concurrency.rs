//! How many requests of a key are served at once. Each process counts by itself.

use std::{
    collections::{HashMap, hash_map::Entry},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The requests under way of each key.
#[derive(Debug)]
pub(super) struct Concurrency {
    most: NonZeroUsize,
    under_way: Mutex<HashMap<String, usize>>,
}

/// A request of a key that is under way, until this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay {
    concurrency: Arc<Concurrency>,
    key_id: String,
}

impl Concurrency {
    /// A limit of so many requests at once for each key.
    pub(super) fn new(most: NonZeroUsize) -> Self {
        Self { most, under_way: Mutex::default() }
    }

    /// Begins a request of a key.
    ///
    /// # Errors
    /// The limit, if as many are under way.
    pub(super) fn begin(self: &Arc<Self>, key_id: &str) -> Result<UnderWay, NonZeroUsize> {
        let mut under_way = self.lock();
        let count = under_way.entry(key_id.to_owned()).or_default();
        if *count >= self.most.get() {
            return Err(self.most);
        }
        *count += 1;
        Ok(UnderWay { concurrency: Arc::clone(self), key_id: key_id.to_owned() })
    }

    /// No code panics under this lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = self.concurrency.lock().entry(std::mem::take(&mut self.key_id)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_so_many_requests_at_once_and_is_forgotten_afterwards() {
        let concurrency = Arc::new(Concurrency::new(NonZeroUsize::new(2).expect("two")));
        let first = concurrency.begin("a").expect("free");
        let second = concurrency.begin("a").expect("free");
        assert_eq!(concurrency.begin("a").expect_err("none is free").get(), 2);
        concurrency.begin("b").expect("another key has its own");
        drop(first);
        let third = concurrency.begin("a").expect("free again");
        drop((second, third));
        assert!(concurrency.lock().is_empty());
    }
}
