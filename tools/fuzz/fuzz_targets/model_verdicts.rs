//! Reads arbitrary text as a model's verdicts.
//!
//! Checks what must hold whatever the text: nothing panics, there is one place for each item, and a single verdict with a
//! denial in front of it is never an assent.
#![no_main]

use domain::model_verdicts::{Stance, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for count in [0, 1, 3] {
        assert_eq!(read(text, count).len(), count);
    }
    let denied = format!("1: not {}", text.lines().next().unwrap_or_default());
    for read in read(&denied, 1).into_iter().flatten() {
        assert_ne!(read.stance, Stance::Assent, "{denied}");
    }
});
