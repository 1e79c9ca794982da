//! Numbers in words.

use std::fmt::Display;

/// A number of things: one of them stands in the singular.
pub(super) fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "chunk")), ["0 chunks", "1 chunk", "2 chunks"]);
    }
}
