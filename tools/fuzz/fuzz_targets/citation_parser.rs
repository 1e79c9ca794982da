//! Parses and judges arbitrary text as an answer over arbitrary sources, at every level and attempt.
//!
//! Checks what must hold whatever the text: nothing panics, every span lies in the answer, every marker's
//! span slices back to the marker, every quote is an exact slice of its source, equal input gives equal verdicts.
#![no_main]

use domain::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use libfuzzer_sys::fuzz_target;

const LEVELS: [Level; 4] = [Level::Off, Level::Structural, Level::Cited, Level::Supported];

fuzz_target!(|text: &str| {
    // The part after the last NUL serves as a source, so that the fuzzer can make the two agree.
    let (answer, source) = text.rsplit_once('\0').unwrap_or((text, "Employees get 25 days of leave. Ask Marie Curie."));
    let sources = [PreparedSource::new(source), PreparedSource::new(answer)];
    let draft = Draft::new(answer, &sources);
    let length = answer.chars().count();
    for level in LEVELS {
        for attempt in [Attempt::First, Attempt::Retry] {
            let verdict = validate(&draft, level, attempt);
            assert_eq!(verdict, validate(&draft, level, attempt));
            let faults = match &verdict {
                Verdict::Accept(accepted) => {
                    assert_eq!(accepted.text(), answer);
                    accepted.warnings()
                }
                Verdict::Retry(prompt) => {
                    assert_eq!(attempt, Attempt::First);
                    prompt.errors()
                }
                Verdict::Reject(errors) => {
                    assert_eq!(attempt, Attempt::Retry);
                    errors
                }
            };
            for span in faults.iter().filter_map(|fault| fault.span) {
                assert!(span.start <= span.end && span.end <= length);
            }
        }
    }
    for citation in draft.citations() {
        assert_eq!(citation.span.slice(answer), Some(format!("[^{}]", citation.marker).as_str()));
        assert!(citation.claim.start <= citation.claim.end && citation.claim.end <= length);
        assert!((0.0..=1.0).contains(&citation.support));
        if let Some(quote) = &citation.quote {
            let words: String = sources[citation.source_index].text().chars().skip(quote.start).take(quote.end - quote.start).collect();
            assert_eq!(words, quote.text);
        }
    }
});
