//! Where the pages of a text begin.

use serde::{Deserialize, Serialize};

/// The pages of a text; none where its format has none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageMap {
    /// Byte offset at which each page begins, never falling.
    starts: Vec<usize>,
}

impl PageMap {
    /// Begins the next page at a byte offset, not before the page before it.
    pub fn begin(&mut self, byte: usize) {
        let last = self.starts.last().copied().unwrap_or(0);
        self.starts.push(byte.max(last));
    }

    /// How many pages there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The page, from 1, that a byte offset stands on: the last that begins at or before it.
    ///
    /// White space between two pages belongs to the later one, whose first word comes after it.
    #[must_use]
    pub fn page_at(&self, byte: usize) -> Option<u32> {
        u32::try_from(self.starts.partition_point(|start| *start <= byte)).ok().filter(|page| *page > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_from_one_and_may_be_empty() {
        let mut pages = PageMap::default();
        assert_eq!(pages.page_at(0), None);
        for start in [0, 10, 10, 5] {
            pages.begin(start);
        }
        assert_eq!(pages.count(), 4);
        assert_eq!([0, 9, 10, 99].map(|byte| pages.page_at(byte)), [Some(1), Some(1), Some(4), Some(4)]);
    }
}
