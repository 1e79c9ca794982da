//! Term ids: a stem, hashed together with its collection, as an index of a `sparsevec`.
//!
//! Ids are salted by collection on purpose. The GIN index over all chunks then keeps one posting
//! list per (collection, stem): a query never walks another tenant's postings, and a query over
//! several collections is the union of their salted terms, each with its own document frequency.
//! (A collection here, and in BM25, is a set of chunks that is searched: one index of what users call a collection.)
//! A shared vocabulary table was rejected: it costs a look-up per new term and a lock per batch.
//!
//! Ids are stored, so the function must not change between platforms or releases. The standard
//! library's hashers promise no such thing; this is FNV-1a with a finaliser, fixed here and held by
//! a test of known values. Two stems of one collection share an id with a probability of one in a
//! thousand per stem at a vocabulary of a million: their scores blur, nothing breaks.

/// Index of a term in a `sparsevec`, from 1 to [`MAX_TERM_ID`] (pgvector counts from 1).
pub type TermId = i32;

/// Largest term id: the largest number of dimensions of a pgvector `sparsevec`.
pub const MAX_TERM_ID: TermId = 1_000_000_000;

/// Where an FNV-1a hash begins.
pub(crate) const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The salt that separates one collection's term ids from another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermSalt(u64);

impl TermSalt {
    /// Derives the salt from bytes that name the collection for good, such as those of its UUID
    /// (never its display name, which may change).
    #[must_use]
    pub fn new(collection: &[u8]) -> Self {
        Self(finalise(fnv1a(FNV_OFFSET_BASIS, octets(collection))))
    }

    /// The id of `stem` in this collection, in `1..=MAX_TERM_ID`.
    #[must_use]
    pub fn term_id(self, stem: &str) -> TermId {
        let hash = finalise(fnv1a(self.0, octets(stem.as_bytes())));
        // Multiply and shift maps 64 bits to the range without the bias or cost of a division.
        let scaled = (u128::from(hash) * u128::from(MAX_TERM_ID.unsigned_abs())) >> u64::BITS;
        TermId::try_from(scaled).map_or(MAX_TERM_ID, |index| index + 1)
    }
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo), continued from `state`; over the octets of a text, or over its code points
/// where the result is not stored.
pub(crate) fn fnv1a(state: u64, units: impl Iterator<Item = u64>) -> u64 {
    units.fold(state, |hash, unit| (hash ^ unit).wrapping_mul(FNV_PRIME))
}

fn octets(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.iter().copied().map(u64::from)
}

/// The 64-bit finaliser of `MurmurHash3` (Appleby): spreads the weak high bits of FNV-1a.
fn finalise(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Stored ids depend on these values: a change here needs every collection to be indexed again.
    #[test]
    fn ids_are_fixed_for_good() {
        let salt = TermSalt::new(b"collection");
        assert_eq!(fnv1a(FNV_OFFSET_BASIS, octets(b"foobar")), 0x8594_4171_f739_67e8);
        assert_eq!(
            [salt.term_id("leav"), salt.term_id(""), salt.term_id("été")],
            [12_769_130, 875_069_991, 126_519_367]
        );
    }

    #[test]
    fn collections_do_not_share_ids() {
        let (one, two) = (TermSalt::new(&[1; 16]), TermSalt::new(&[2; 16]));
        let shared = (0..10_000)
            .map(|number| format!("word{number}"))
            .filter(|word| one.term_id(word) == two.term_id(word))
            .count();
        assert_eq!(shared, 0);
    }

    #[test]
    fn ids_spread_evenly() {
        let salt = TermSalt::new(b"x");
        let ids: Vec<TermId> = (0..100_000).map(|number| salt.term_id(&number.to_string())).collect();
        let distinct = ids.iter().collect::<HashSet<_>>().len();
        assert!(distinct >= 99_980, "{distinct}");
        let low = ids.iter().filter(|id| **id <= MAX_TERM_ID / 2).count();
        assert!((49_000..51_000).contains(&low), "{low}");
    }

    proptest! {
        #[test]
        fn ids_are_in_range(salt in any::<[u8; 16]>(), stem in ".*") {
            let id = TermSalt::new(&salt).term_id(&stem);
            prop_assert!((1..=MAX_TERM_ID).contains(&id));
        }
    }
}
