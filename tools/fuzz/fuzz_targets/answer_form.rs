//! Shows arbitrary text as an answer in every form and notation.
//!
//! Checks what must hold whatever the text: nothing panics, blocks and sentences hold all words in order, nothing that a
//! program would load, run or follow is left in a safe form, and what a client is told about places is in the text.
#![no_main]

use std::collections::BTreeSet;

use domain::{
    answer_form::{AnswerForm, FormedAnswer},
    citation::{Draft, MarkerStyle, PreparedSource, Restyler},
    markdown::blocks,
    notices,
    prompt::fence,
    sentence::sentences,
    span::Span,
};
use libfuzzer_sys::fuzz_target;
use pulldown_cmark::{Event, Options, Parser, Tag};

const CITED: &str = "https://cited.example/a";

fn is_active(event: &Event<'_>) -> bool {
    match event {
        Event::Start(Tag::Image { .. }) | Event::Html(_) | Event::InlineHtml(_) => true,
        Event::Start(Tag::Link { dest_url, .. }) => dest_url.as_ref() != CITED,
        _ => false,
    }
}

fn check_order(text: &str, ranges: impl IntoIterator<Item = std::ops::Range<usize>>) {
    let mut end = 0;
    for range in ranges {
        assert!(
            text.get(end..range.start).is_some_and(|gap| gap.trim().is_empty()) && text.get(range.clone()).is_some()
        );
        end = range.end;
    }
    assert!(text.get(end..).is_some_and(|rest| rest.trim().is_empty()));
}

fuzz_target!(|answer: &str| {
    check_order(answer, blocks(answer).into_iter().map(|block| block.range));
    check_order(answer, sentences(answer).into_iter().map(|sentence| sentence.range));
    let linked = BTreeSet::from([CITED.to_owned()]);
    let length = answer.chars().count();
    let options = Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    for form in [AnswerForm::SafeMarkdown, AnswerForm::Plain] {
        let formed = FormedAnswer::new(answer, form, &linked);
        let active = Parser::new_ext(formed.text(), options).find(is_active);
        assert!(active.is_none(), "{active:?} in {:?}", formed.text());
        let most = formed.text().chars().count();
        let mut before = 0;
        for at in 0..=length {
            let (place, _) = formed.span(Span::new(at, at)).into();
            assert!(before <= place && place <= most);
            before = place;
        }
    }
    let sources = [PreparedSource::new("Leave lasts 26 weeks."), PreparedSource::new("Ann grants it.")];
    let draft = Draft::new(answer, &sources);
    for style in [MarkerStyle::Bracket, MarkerStyle::Footnote, MarkerStyle::Link, MarkerStyle::None] {
        let mut restyler = Restyler::new(style);
        let restyled = restyler.rewrite(answer, Span::new(0, length), draft.citations(), |_| CITED.to_owned());
        assert_eq!(restyled.markers.len(), draft.citations().len());
        for marker in &restyled.markers {
            assert!(marker.span.slice(&restyled.text).is_some() && marker.number <= restyler.cited().len());
        }
    }
    notices::beginning(answer);
    let safe = fence::neutralise(answer);
    assert_eq!(fence::neutralise(&safe), safe);
    assert!(!fence::attribute(answer).contains(['"', '<', '>', '\n']));
});
