//! The text of an answer for chat clients, with citations at its markers and everything else said in sentences.

use std::{collections::BTreeSet, fmt::Write as _};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    domain::{
        answer_form::{AnswerForm, FormedAnswer},
        citation::{Citation, CitedAnswer, MarkerStyle, Restyled, Restyler, Urn},
        notices,
        origin::Origin,
        span::Span,
    },
    service::{
        ask::{AskOutcome, AskReport, GradedHit},
        retrieval::Hit,
    },
};

/// Text for the client, in the order of delivery.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    pub(super) text: String,
    /// The citations of the text.
    pub(super) annotations: Vec<Annotation>,
}

impl Delivered {
    pub(super) fn extend(&mut self, more: Self) {
        self.text.push_str(&more.text);
        self.annotations.extend(more.annotations);
    }

    /// The same in a form, behind text that is shown already.
    fn in_form(mut self, shown: &str, form: AnswerForm, linked: &BTreeSet<String>) -> Self {
        let formed = FormedAnswer::after(shown, &self.text, form, linked);
        let before = shown.chars().count();
        for annotation in &mut self.annotations {
            let [start, end] = [annotation.span.start, annotation.span.end].map(|at| at.saturating_sub(before));
            let span = formed.span(Span::new(start, end));
            annotation.span = Span::new(before + span.start, before + span.end);
        }
        formed.text().clone_into(&mut self.text);
        self
    }
}

/// A citation at a marker of the delivered text.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    /// Number of its source in the text.
    pub(super) number: usize,
    /// Where the marker stands in the whole text, in code points.
    pub(super) span: Span,
    /// Address of the page that shows the passage.
    pub(super) url: String,
    /// The document, with its page.
    pub(super) title: String,
    /// The words that support the claim.
    pub(super) quote: Option<String>,
    pub(super) urn: String,
    pub(super) support: f32,
}

/// Writes the answer, piece by piece or whole, in a form.
#[derive(Debug)]
pub(super) struct Writer {
    restyler: Restyler,
    form: AnswerForm,
    /// Text of the pieces.
    shown: String,
    /// Address of the service, without a slash at its end.
    base: String,
    /// Quotes for the footnotes: those of each source cited, in the order of their numbers.
    quotes: Vec<Vec<String>>,
}

impl Writer {
    pub(super) fn new(style: MarkerStyle, form: AnswerForm, base: String) -> Self {
        Self { restyler: Restyler::new(style), form, shown: String::new(), base, quotes: Vec::new() }
    }

    /// The form.
    pub(super) const fn form(&self) -> AnswerForm {
        self.form
    }

    /// The whole text of an ask.
    pub(super) fn whole(&mut self, report: &AskReport) -> Delivered {
        let mut delivered = self.plain(&opening(report));
        if let Some((answer, _)) = report.outcome.written() {
            let part = Span::new(0, answer.text().chars().count());
            delivered.extend(self.part(answer.text(), part, answer.citations(), &report.sources));
        }
        self.ended(delivered, report)
    }

    /// The words of an answer from `start`, which are left, and all that is said after it.
    pub(super) fn rest(&mut self, answer: &CitedAnswer, start: usize, report: &AskReport) -> Delivered {
        let part = Span::new(start, answer.text().chars().count());
        let delivered = self.part(answer.text(), part, answer.citations(), &report.sources);
        self.ended(delivered, report)
    }

    /// The words of a draft at `part`; `None` while those behind them may change how they begin in the form.
    pub(super) fn piece(
        &mut self,
        draft: &str,
        part: Span,
        citations: &[Citation],
        sources: &[GradedHit],
    ) -> Option<Delivered> {
        if !self.form.is_settled(&without_markers(draft, part.end, citations)) {
            return None;
        }
        let delivered = self.part(draft, part, citations, sources);
        self.shown.push_str(&delivered.text);
        Some(delivered)
    }

    /// The text with all that is said after it, in the form.
    fn ended(&mut self, mut delivered: Delivered, report: &AskReport) -> Delivered {
        delivered.extend(self.ending(report));
        delivered.in_form(&self.shown, self.form, &self.linked(&report.sources))
    }

    /// A text in the form, in which links may lead to the sources cited so far.
    pub(super) fn formed(&self, text: &str, report: &AskReport) -> String {
        FormedAnswer::new(text, self.form, &self.linked(&report.sources)).text().to_owned()
    }

    /// Addresses of the sources cited so far.
    fn linked(&self, sources: &[GradedHit]) -> BTreeSet<String> {
        let cited = self.restyler.cited().iter().filter_map(|index| sources.get(*index));
        cited.flat_map(|source| [url_of(&self.base, &source.hit), source.hit.passage.uri.clone()]).collect()
    }

    /// The words of an answer at `part`.
    fn part(&mut self, answer: &str, part: Span, citations: &[Citation], sources: &[GradedHit]) -> Delivered {
        let base = &self.base;
        let address = |index: usize| sources.get(index).map(|source| url_of(base, &source.hit)).unwrap_or_default();
        let Restyled { text, markers } = self.restyler.rewrite(answer, part, citations, address);
        let mut annotations = Vec::with_capacity(markers.len());
        for marker in markers {
            let Some(citation) = citations.get(marker.citation) else { continue };
            let Some(source) = sources.get(citation.source_index) else { continue };
            let quote = citation.quote.as_ref().map(|quote| quote.text.clone());
            if marker.number > self.quotes.len() {
                self.quotes.push(Vec::new());
            }
            if let (Some(quotes), Some(quote)) = (self.quotes.get_mut(marker.number - 1), &quote)
                && !quotes.contains(quote)
            {
                quotes.push(quote.clone());
            }
            annotations.push(Annotation {
                span: marker.span,
                number: marker.number,
                url: url_of(&self.base, &source.hit),
                title: title_of(&source.hit, source.hit.page_of(citation)),
                quote,
                urn: source.hit.urn().to_string(),
                support: citation.support,
            });
        }
        Delivered { text, annotations }
    }

    /// The sentences after the answer, and the definitions of footnotes.
    fn ending(&mut self, report: &AskReport) -> Delivered {
        let mut notices: Vec<String> = Vec::new();
        if let Some((answer, _)) = report.outcome.written() {
            notices.extend(notices::unanswered(answer.text(), report.missing.iter().map(String::as_str)));
        }
        notices.extend(report.corrections.iter().map(notices::read_as));
        notices.extend(self.footnotes(&report.sources));
        let has_text = !opening(report).is_empty() || report.outcome.written().is_some();
        let lead = if has_text && !notices.is_empty() { "\n\n" } else { "" };
        self.plain(&format!("{lead}{}", notices.join("\n\n")))
    }

    /// Says that the text so far was a draft that did not hold.
    pub(super) fn void(&mut self) -> Delivered {
        let delivered = self.plain("\n\n*The draft above did not hold as a whole. The checked answer:*\n\n");
        self.shown.push_str(&delivered.text);
        delivered
    }

    fn plain(&mut self, text: &str) -> Delivered {
        Delivered { text: self.restyler.add_plain(text).text, annotations: Vec::new() }
    }

    fn footnotes(&self, sources: &[GradedHit]) -> Vec<String> {
        if self.restyler.style() != MarkerStyle::Footnote {
            return Vec::new();
        }
        let cited = self.restyler.cited().iter().enumerate();
        let footnote = |(place, index): (usize, &usize)| {
            let source = sources.get(*index)?;
            let quotes = self.quotes.get(place).into_iter().flatten().map(|quote| one_line(quote));
            let quotes: String =
                quotes.filter(|quote| !quote.is_empty()).map(|quote| format!(" \"{quote}\"")).collect();
            Some(format!(
                "[^{}]: [{}]({}){quotes}",
                place + 1,
                link_text(&title_of(&source.hit, source.hit.passage.page)),
                url_of(&self.base, &source.hit)
            ))
        };
        cited.filter_map(footnote).collect()
    }
}

/// The words of a draft up to `end`, with spaces in place of its markers; one with a colon behind it stays, because the two may be
/// the definition of a link.
fn without_markers(draft: &str, end: usize, citations: &[Citation]) -> String {
    let words = |start: usize, end: usize| Span::new(start, end).slice(draft).unwrap_or_default();
    let mut without = String::new();
    let mut read = 0;
    for Citation { span, .. } in citations.iter().filter(|citation| citation.span.end <= end) {
        without.push_str(words(read, span.start));
        let is_definition = words(span.end, end).starts_with(':');
        without.push_str(if is_definition { words(span.start, span.end) } else { " " });
        read = span.end;
    }
    without.push_str(words(read, end));
    without
}

/// The sentences before an answer, or in its place.
fn opening(report: &AskReport) -> String {
    match &report.outcome {
        AskOutcome::Answered { .. } => String::new(),
        AskOutcome::Passages { .. } => format!("{}\n\n", notices::PASSAGES),
        AskOutcome::Abstained(_) => abstention(report),
        AskOutcome::NoQuestion { reply } => (*reply).to_owned(),
        AskOutcome::Unclear if report.missing.is_empty() => "Please say what you ask about.".to_owned(),
        AskOutcome::Unclear => format!("Please say what you ask about: {}", report.missing.join("; ")),
        AskOutcome::DryRun => "Nothing was written, as requested (dry_run).".to_owned(),
    }
}

/// Says that there is no answer, and where the nearest passages are. They prove nothing, so they are no citations.
fn abstention(report: &AskReport) -> String {
    let mut text = notices::NO_ANSWER.to_owned();
    if let Some(unknown) = notices::unknown(&report.unknown_words) {
        let _ = write!(text, " {unknown}.");
    }
    for (place, source) in report.sources.iter().take(notices::MOST_CLOSEST).enumerate() {
        text.push_str(if place == 0 { "\n\nClosest:\n" } else { "" });
        let beginning = notices::beginning(&source.hit.passage.text);
        let _ = write!(text, "\n- {}: \"{beginning}\"", title_of(&source.hit, source.hit.passage.page));
    }
    text
}

/// Address of the page that shows a passage.
pub(super) fn url_of(base: &str, hit: &Hit) -> String {
    page_of(base, &hit.urn())
}

/// Address of the page of a citation.
pub(super) fn page_of(base: &str, urn: &Urn) -> String {
    format!("{base}/c/{}", utf8_percent_encode(&urn.to_string(), NON_ALPHANUMERIC))
}

/// The document of a passage, with a page of it.
pub(super) fn title_of(hit: &Hit, page: Option<i32>) -> String {
    let passage = &hit.passage;
    let title = titled(&passage.title, &passage.source, page);
    match passage.origin {
        Origin::Document => title,
        // Nobody of the house wrote or chose it.
        Origin::Web => format!("Web: {title}"),
    }
}

/// A document, with a page of it: its title, or its source if it has none.
pub(super) fn titled(title: &str, source: &str, page: Option<i32>) -> String {
    let name = if title.trim().is_empty() { source } else { title };
    match page {
        Some(page) => format!("{name}, p. {page}"),
        None => name.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A title as the text of a Markdown link.
fn link_text(title: &str) -> String {
    one_line(title).replace('[', "\\[").replace(']', "\\]")
}
