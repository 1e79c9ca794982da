//! The results of an evaluation, for people and for machines.

mod attacks;
mod table;

use serde::Serialize;

use self::table::Table;
use crate::{
    attack::AttackReport,
    evaluation::NotIndexed,
    measures::{
        answers::{AnswerFigures, CURVE_POINTS, OffCorpusFigures},
        claims::ClaimFigures,
        conversations::ConversationFigures,
        metrics::mean,
        retrieval::RetrievalFigures,
    },
};

/// All results of an evaluation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Version of the service.
    pub version: &'static str,
    /// Sets in the order they were named.
    pub sets: Vec<SetReport>,
    /// Sets of labelled claims, in the order they were named.
    pub claims: Vec<ClaimsReport>,
    /// Attacks of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacks: Option<AttackReport>,
}

/// The results for the labelled claims of one set.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimsReport {
    /// Name of the set.
    pub name: String,
    /// Figures of each part of it.
    pub sources: Vec<ClaimFigures>,
}

/// The results for one set.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetReport {
    /// Name of the set.
    pub name: String,
    /// Documents indexed.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Seconds it took to index them.
    pub ingest_s: f64,
    /// Documents that could not be indexed, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_indexed: Option<NotIndexed>,
    /// Retrieval, by mode.
    pub retrieval: Vec<ModeReport>,
    /// Answers.
    pub answers: Option<AnswerFigures>,
    /// Questions of another set.
    pub off_corpus: Option<OffCorpusReport>,
    /// Follow-up questions of conversations.
    pub conversations: Option<ConversationFigures>,
}

/// Retrieval in one mode.
#[derive(Clone, Debug, Serialize)]
pub struct ModeReport {
    /// `lexical`, `dense`, `fused` or `reranked`.
    pub mode: &'static str,
    /// Its figures.
    #[serde(flatten)]
    pub figures: RetrievalFigures,
}

/// Questions of another set.
#[derive(Clone, Debug, Serialize)]
pub struct OffCorpusReport {
    /// Name of that set.
    pub from: String,
    /// Figures of those questions.
    #[serde(flatten)]
    pub figures: OffCorpusFigures,
}

impl SetReport {
    fn figures(&self, mode: &str) -> Option<&RetrievalFigures> {
        self.retrieval.iter().find(|report| report.mode == mode).map(|report| &report.figures)
    }
}

impl Report {
    /// Aligned columns.
    #[must_use]
    pub fn text(&self) -> String {
        self.page(Table::text)
    }

    /// Markdown tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.page(Table::markdown)
    }

    /// Everything as JSON.
    ///
    /// # Errors
    /// If a figure cannot be written as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }

    fn page(&self, form: fn(&Table) -> String) -> String {
        let tables = [
            self.not_indexed(),
            self.retrieval(),
            self.durations(),
            self.answers(),
            self.curve(),
            self.abstentions(),
            conversations(&self.sets),
            self.claims(),
            attacks::documents(self.attacks.as_ref()),
            attacks::answers(self.attacks.as_ref()),
            attacks::boundaries(self.attacks.as_ref()),
        ];
        tables.iter().filter(|table| !table.is_empty()).map(form).collect::<Vec<_>>().join("\n")
    }

    /// Sets of which documents are missing.
    fn not_indexed(&self) -> Table {
        let mut table = Table::new(["documents not indexed", "number", "the first"]);
        for (set, failed) in self.sets.iter().filter_map(|set| Some((set, set.not_indexed.as_ref()?))) {
            table.push(vec![set.name.clone(), failed.documents.to_string(), failed.first.clone()]);
        }
        table
    }

    /// One line per set, and their mean where there are several.
    fn retrieval(&self) -> Table {
        let mut modes: Vec<&str> = Vec::new();
        for mode in self.sets.iter().flat_map(|set| &set.retrieval).map(|report| report.mode) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let headings: Vec<String> = modes
            .iter()
            .flat_map(|mode| RETRIEVAL_MEASURES.iter().map(move |(measure, _)| format!("{mode} {measure}")))
            .collect();
        let first = ["retrieval", "documents", "chunks", "queries"];
        let mut table = Table::new(first.into_iter().chain(headings.iter().map(String::as_str)));
        let measured: Vec<&SetReport> = self.sets.iter().filter(|set| !set.retrieval.is_empty()).collect();
        for set in &measured {
            let queries = set.retrieval.first().map_or(0, |report| report.figures.queries);
            let counts = [set.documents.to_string(), set.chunks.to_string(), queries.to_string()];
            table.push(line(&set.name, counts, &modes, |mode, measure| Some(measure(set.figures(mode)?))));
        }
        if measured.len() > 1 {
            let counts = [none(), none(), none()];
            table.push(line("mean", counts, &modes, |mode, measure| {
                mean(measured.iter().filter_map(|set| set.figures(mode)).map(measure))
            }));
        }
        table
    }

    /// Median duration of a search, by mode.
    fn durations(&self) -> Table {
        let mut table = Table::new(["ms per search (p50)", "mode", "ms"]);
        for set in &self.sets {
            for ModeReport { mode, figures } in &set.retrieval {
                table.push(vec![set.name.clone(), (*mode).to_owned(), tenths(Some(figures.median_ms))]);
            }
        }
        table
    }

    /// One column per set: there are more measures than sets.
    fn answers(&self) -> Table {
        let sets: Vec<(&str, AnswerFigures)> =
            self.sets.iter().filter_map(|set| Some((set.name.as_str(), set.answers?))).collect();
        let mut table = Table::new(std::iter::once("answers").chain(sets.iter().map(|(name, _)| *name)));
        if sets.is_empty() {
            return table;
        }
        for (measure, value) in ANSWER_MEASURES {
            table.push(std::iter::once((*measure).to_owned()).chain(sets.iter().map(|(_, set)| value(set))).collect());
        }
        table
    }

    /// How right the answers with the best evidence are: one column per share of the questions that get one.
    fn curve(&self) -> Table {
        let headings = (1..=CURVE_POINTS).map(|place| format!("{:.1}", ratio_of_curve(place)));
        let headings: Vec<String> = std::iter::once("accuracy at coverage".to_owned()).chain(headings).collect();
        let mut table = Table::new(headings.iter().map(String::as_str));
        for (set, figures) in self.sets.iter().filter_map(|set| Some((set, set.answers?))) {
            let points = figures.accuracy_at_coverage.map(share);
            table.push(std::iter::once(set.name.clone()).chain(points).collect());
        }
        table
    }

    /// One line for each part of each set of claims.
    fn claims(&self) -> Table {
        let headings = [
            "claims of",
            "part",
            "claims",
            "supported",
            "AUC",
            "balanced accuracy",
            "contradicted precision",
            "contradicted recall",
        ];
        let mut table = Table::new(headings);
        for (set, figures) in self.claims.iter().flat_map(|set| set.sources.iter().map(move |part| (set, part))) {
            let ClaimFigures { source, claims, supported, .. } = figures;
            let counts = [set.name.clone(), source.clone(), claims.to_string(), supported.to_string()];
            let shares =
                [figures.auc, figures.balanced_accuracy, figures.contradicted_precision, figures.contradicted_recall];
            table.push(counts.into_iter().chain(shares.map(share)).collect());
        }
        table
    }

    fn abstentions(&self) -> Table {
        let mut table = Table::new(["documents of", "questions of", "questions", "abstained", "own above these (AUC)"]);
        for (set, off_corpus) in self.sets.iter().filter_map(|set| Some((set, set.off_corpus.as_ref()?))) {
            let OffCorpusReport { from, figures } = off_corpus;
            let counts = [set.name.clone(), from.clone(), figures.questions.to_string()];
            table.push(counts.into_iter().chain([share(figures.abstained), share(figures.auc)]).collect());
        }
        table
    }
}

/// One line per set.
fn conversations(sets: &[SetReport]) -> Table {
    let headings =
        ["conversations of", "follow-ups", "nDCG@10 alone", "in conversation", "R@10 alone", "in conversation"];
    let mut table = Table::new(headings);
    for (set, figures) in sets.iter().filter_map(|set| Some((set, set.conversations?))) {
        let ConversationFigures { follow_ups, alone, in_conversation } = figures;
        let shares = [alone.ndcg_at_10, in_conversation.ndcg_at_10, alone.recall_at_10, in_conversation.recall_at_10];
        let counts = [set.name.clone(), follow_ups.to_string()];
        table.push(counts.into_iter().chain(shares.map(|value| share(Some(value)))).collect());
    }
    table
}

type ReadRetrieval = fn(&RetrievalFigures) -> f64;

/// Measures of retrieval, in the order they are printed.
const RETRIEVAL_MEASURES: [(&str, ReadRetrieval); 3] = [
    ("nDCG@10", |figures| figures.ndcg_at_10),
    ("R@10", |figures| figures.recall_at_10),
    ("R@100", |figures| figures.recall_at_100),
];

/// A line of the retrieval table: name, counts, every measure of every mode.
fn line(
    name: &str,
    counts: [String; 3],
    modes: &[&str],
    value: impl Fn(&str, ReadRetrieval) -> Option<f64>,
) -> Vec<String> {
    let figures = modes.iter().flat_map(|mode| RETRIEVAL_MEASURES.map(|(_, measure)| share(value(mode, measure))));
    std::iter::once(name.to_owned()).chain(counts).chain(figures).collect()
}

type ReadMeasure = fn(&AnswerFigures) -> String;

/// Measures of answers, in the order they are printed.
const ANSWER_MEASURES: &[(&str, ReadMeasure)] = &[
    ("answerable questions", |set| set.answerable.to_string()),
    ("first source holds a right answer", |set| share(set.first_source_holds_answer)),
    ("one of the first five does", |set| share(set.first_five_hold_answer)),
    ("a document that answers it is among the first eight passages", |set| share(set.gold_found)),
    ("answered from such a document", |set| share(set.answered_from_gold)),
    ("the latter as a share of the former", |set| share(set.answered_from_gold_of_found)),
    ("answered", |set| share(set.answered)),
    ("given passages", |set| share(set.given_passages)),
    ("answered and right", |set| share(set.answer_holds_answer)),
    ("right, of those answered", |set| share(set.given_answer_holds_answer)),
    ("claims per answer", |set| set.claims_per_answer.map_or_else(none, |claims| format!("{claims:.2}"))),
    ("claims that their citations support (ALCE recall)", |set| share(set.claim_citation_recall)),
    ("citations that a claim needs (ALCE precision)", |set| share(set.claim_citation_precision)),
    ("cited documents that answer the question", |set| share(set.citation_precision)),
    ("documents that answer it and are cited", |set| share(set.citation_recall)),
    ("support", |set| share(set.support)),
    ("unanswerable questions", |set| set.unanswerable.to_string()),
    ("abstention precision", |set| share(set.abstention_precision)),
    ("abstention recall", |set| share(set.abstention_recall)),
    ("answerable above unanswerable (AUC)", |set| share(set.near_miss_auc)),
    ("grader accuracy", |set| share(set.grader_accuracy)),
    ("passage with the answer above all others (grader)", |set| share(set.grader_gold_above_hardest)),
    ("calibration error of the grader", |set| share(set.grader_calibration_error)),
    ("passages left to a grading model", |set| share(set.grader_doubtful)),
    ("rejected", |set| set.rejected.to_string()),
    ("timed out", |set| set.timed_out.to_string()),
    ("ms per ask (mean)", |set| tenths(set.mean_ms)),
    ("LLM calls per ask", |set| set.llm_calls_per_ask.map_or_else(none, |calls| format!("{calls:.2}"))),
    ("USD per ask", |set| set.cost_usd_per_ask.map_or_else(none, |cost| format!("{cost:.5}"))),
];

#[expect(clippy::cast_precision_loss, reason = "ten at most")]
fn ratio_of_curve(place: usize) -> f64 {
    place as f64 / CURVE_POINTS as f64
}

/// A share with three digits, as the literature prints them.
fn share(value: Option<f64>) -> String {
    value.map_or_else(none, |value| format!("{value:.3}"))
}

fn tenths(value: Option<f64>) -> String {
    value.map_or_else(none, |value| format!("{value:.1}"))
}

fn none() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let figures =
            RetrievalFigures { queries: 2, ndcg_at_10: 0.5, recall_at_10: 0.25, recall_at_100: 1.0, median_ms: 3.26 };
        let off_corpus = OffCorpusFigures { questions: 4, abstained: Some(0.75), auc: Some(0.875) };
        let set = SetReport {
            name: "tiny".to_owned(),
            documents: 3,
            chunks: 6,
            retrieval: vec![ModeReport { mode: "lexical", figures }],
            off_corpus: Some(OffCorpusReport { from: "other".to_owned(), figures: off_corpus }),
            ..SetReport::default()
        };
        let part = ClaimFigures {
            source: "letters".to_owned(),
            claims: 5,
            supported: 2,
            auc: Some(0.875),
            balanced_accuracy: Some(0.75),
            contradicted_precision: None,
            contradicted_recall: Some(0.0),
        };
        let claims = ClaimsReport { name: "stated".to_owned(), sources: vec![part] };
        Report { version: "1", sets: vec![set], claims: vec![claims], attacks: None }
    }

    #[test]
    fn tables_hold_what_was_measured() {
        let text = report().text();
        assert!(
            text.contains("tiny               3       6        2            0.500         0.250          1.000\n"),
            "{text}"
        );
        let markdown = report().markdown();
        assert!(markdown.contains("| tiny | other | 4 | 0.750 | 0.875 |"), "{markdown}");
        assert!(markdown.contains("| stated | letters | 5 | 2 | 0.875 | 0.750 | – | 0.000 |"), "{markdown}");
        assert!(!markdown.contains("| support |"), "nothing was asked of the set itself: {markdown}");
    }

    #[test]
    fn json_is_flat_per_mode() {
        let json: serde_json::Value = serde_json::from_str(&report().json().expect("JSON")).expect("JSON");
        assert_eq!(json["sets"][0]["retrieval"][0]["ndcg_at_10"], 0.5);
        assert_eq!(json["sets"][0]["retrieval"][0]["mode"], "lexical");
        assert_eq!(json["sets"][0]["off_corpus"]["abstained"], 0.75);
        assert_eq!(json["sets"][0]["answers"], serde_json::Value::Null);
    }
}
