//! A sample that is the same every time.

use domain::fingerprint::content_hash;

/// Keeps `limit` of the items, in their order: those whose name has the lowest SHA-256.
///
/// The choice depends on names alone, so that it is the same on every machine, and a larger sample holds
/// the smaller one.
pub(super) fn keep_sample<T>(items: &mut Vec<T>, limit: usize, name: impl Fn(&T) -> &str) {
    if items.len() <= limit {
        return;
    }
    let mut hashes: Vec<_> = items.iter().map(|item| content_hash(name(item).as_bytes())).collect();
    hashes.sort_unstable();
    match hashes.get(limit) {
        Some(first_left_out) => items.retain(|item| content_hash(name(item).as_bytes()) < *first_left_out),
        None => items.clear(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(limit: usize) -> Vec<String> {
        let mut items: Vec<String> = (0..100).map(|number| format!("q{number:02}")).collect();
        keep_sample(&mut items, limit, |item| item);
        items
    }

    #[test]
    fn larger_samples_hold_smaller_ones_in_order() {
        for limit in [0, 1, 10, 99, 100, 200] {
            let items = sample(limit);
            assert_eq!(items.len(), limit.min(100));
            assert!(items.is_sorted());
            assert!(items.iter().all(|item| sample(limit + 5).contains(item)));
        }
    }
}
