//! A prepared evaluation set in memory, with exhaustive hybrid search, for the calibration tools.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

pub mod falsify;
pub mod restate;

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use domain::answering::{AnswerSource, SentenceCandidate};
use domain::corrective::Grade;
use domain::evidence::passage::PassageEvidence;
use domain::evidence::{Question, QuestionTerms};
use domain::fusion::{DenseWeight, FUSION_DEPTH, Fused, Scored, fuse_weighted};
use domain::grading::calibrated;
use domain::grading::features::{Passage, evidence_of};
use domain::late_interaction::Likeness;
use domain::lexical::analyzer::Analyzer;
use domain::lexical::bm25::{AskedCollection, QueryProfile, QueryStems, TermCounts, document_weights, evidence_score};
use domain::lexical::term_id::TermSalt;
use domain::reranking;
use minilm::MiniLm;
use serde_json::Value;

const DIMENSIONS: usize = 384;

/// The chunks of a set, searched as the service searches them, but exhaustively.
pub struct Collection {
    /// Document of each chunk.
    pub documents: Vec<String>,
    pub titles: Vec<String>,
    pub texts: Vec<String>,
    pub vectors: Vec<Vec<f32>>,
    analyzer: &'static Analyzer,
    salt: TermSalt,
    postings: HashMap<i32, Vec<(usize, f32)>>,
}

/// A chunk found by a search.
pub struct Hit {
    pub index: usize,
    pub dense: Option<f32>,
    pub lexical: f32,
}

impl Collection {
    /// Reads what `embed` wrote; with `size` only that many documents, chosen by `seed`.
    pub fn read(folder: &str, size: Option<usize>, seed: u64) -> Self {
        let rows = read_json_lines(&format!("{folder}/chunks.jsonl"));
        let vectors = read_vectors(&format!("{folder}/chunks.f32"));
        let chosen = size.map(|size| {
            let mut documents: Vec<String> = rows.iter().map(|row| field(row, "document")).collect();
            documents.dedup();
            let mut numbered: Vec<(u64, String)> = (0..).zip(documents).collect();
            numbered.sort_by_key(|(number, _)| scramble(number + (seed << 32)));
            numbered.into_iter().take(size).map(|(_, document)| document).collect::<HashSet<String>>()
        });
        let is_chosen = |row: &Value| chosen.as_ref().is_none_or(|chosen| chosen.contains(&field(row, "document")));
        Self::of(rows.iter().zip(vectors).filter(|(row, _)| is_chosen(row)), "document")
    }

    /// The documents of a set as it is published, each one chunk, without vectors.
    pub fn unpack(folder: &str) -> Self {
        Self::of(read_corpus(Path::new(folder)).iter().map(|row| (row, Vec::new())), "_id")
    }

    fn of<'r>(rows: impl Iterator<Item = (&'r Value, Vec<f32>)>, id: &str) -> Self {
        let mut collection = Self {
            documents: Vec::new(),
            titles: Vec::new(),
            texts: Vec::new(),
            vectors: Vec::new(),
            analyzer: Analyzer::english(),
            salt: TermSalt::new(b"calibration"),
            postings: HashMap::new(),
        };
        for (row, vector) in rows {
            collection.documents.push(field(row, id));
            collection.titles.push(field(row, "title"));
            collection.texts.push(field(row, "text"));
            collection.vectors.push(vector);
        }
        collection.index();
        collection
    }

    fn index(&mut self) {
        let counts: Vec<TermCounts> = self
            .titles
            .iter()
            .zip(&self.texts)
            .map(|(title, text)| TermCounts::of_text(self.analyzer, self.salt, &format!("{title}\n{text}")))
            .collect();
        for (number, counts) in counts.iter().enumerate() {
            for (term, weight) in document_weights(counts) {
                self.postings.entry(term).or_default().push((number, weight));
            }
        }
    }

    fn frequency_of(&self, term: i32) -> u64 {
        self.postings.get(&term).map_or(0, |postings| postings.len() as u64)
    }

    /// Chunks that hold a stem.
    pub fn frequency(&self, stem: &str) -> u64 {
        self.frequency_of(self.salt.term_id(stem))
    }

    pub fn parsed(&self, question: &str) -> Question {
        Question::new(self.analyzer, question, self.texts.len() as u64, |stem| self.frequency(stem))
    }

    pub fn terms(&self, query: &str) -> QuestionTerms {
        QuestionTerms::new(self.analyzer, query, self.texts.len() as u64, |stem| self.frequency(stem))
    }

    fn profile(&self, query: &str) -> QueryProfile {
        let stems = QueryStems::of_text(self.analyzer, query);
        let known: HashMap<i32, u64> = stems.ids(self.salt).map(|term| (term, self.frequency_of(term))).collect();
        QueryProfile::new(&[AskedCollection {
            stems: &stems,
            salt: self.salt,
            chunks: self.texts.len() as u64,
            document_frequencies: &known,
        }])
    }

    /// The best by BM25.
    pub fn lexical(&self, query: &str) -> Vec<Scored<usize>> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for (term, query_weight) in self.profile(query).weights() {
            for (chunk, weight) in &self.postings[&term] {
                *scores.entry(*chunk).or_default() += f64::from(query_weight * weight);
            }
        }
        best(scores.into_iter())
    }

    /// The `top_k` best by BM25.
    pub fn search_words(&self, query: &str, top_k: usize) -> Vec<usize> {
        self.lexical(query).into_iter().take(top_k).map(|scored| scored.key).collect()
    }

    /// Evidence of the best of a lexical list, see [`evidence_score`].
    pub fn evidence(&self, query: &str, lexical: &[Scored<usize>]) -> f64 {
        evidence_score(lexical.first().map_or(0.0, |scored| scored.score), &self.profile(query))
    }

    /// The best by cosine.
    pub fn dense(&self, query: &[f32]) -> Vec<Scored<usize>> {
        best(self.vectors.iter().map(|vector| f64::from(cosine(query, vector))).enumerate())
    }

    /// Both lists in one, half and half: the fused score that the reranker learns with.
    pub fn fused(&self, query: &str, vector: &[f32]) -> Vec<Fused<usize>> {
        fuse_weighted(&self.dense(vector), &self.lexical(query), DenseWeight::default())
    }

    /// Features of the passages that are reranked.
    pub fn reranker_features(&self, query: &str, first: &[Fused<usize>]) -> Vec<reranking::features::Features> {
        let passages: Vec<_> = first
            .iter()
            .map(|item| reranking::features::Passage {
                title: &self.titles[item.key],
                text: &self.texts[item.key],
                is_section: false,
                fused: item.fused,
            })
            .collect();
        reranking::features::of_passages(self.analyzer, &self.terms(query), &passages)
    }

    /// The first passages of hybrid search, reranked.
    pub fn search(&self, query: &str, vector: &[f32], top_k: usize) -> Vec<Hit> {
        let (dense, lexical) = (self.dense(vector), self.lexical(query));
        let weight = DenseWeight::of_spreads(&dense, &lexical, self.evidence(query, &lexical));
        let mut fused = fuse_weighted(&dense, &lexical, weight);
        fused.truncate(FUSION_DEPTH.max(top_k));
        let first = &fused[..fused.len().min(FUSION_DEPTH)];
        let scores = reranking::score(&self.reranker_features(query, first), weight);
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_by(|one, two| scores[*two].total_cmp(&scores[*one]));
        #[expect(clippy::cast_possible_truncation, reason = "as the service narrows them")]
        let hit = |item: &Fused<usize>| Hit {
            index: item.key,
            dense: Some(item.dense.map_or(0.0, |score| score as f32)),
            lexical: item.lexical.map_or(0.0, |score| score as f32),
        };
        order.iter().take(top_k).map(|place| hit(&first[*place])).collect()
    }

    /// Passages of hits, as the grader gets them.
    pub fn passages(&self, hits: &[Hit]) -> Vec<Passage<'_>> {
        hits.iter()
            .map(|hit| Passage {
                title: &self.titles[hit.index],
                text: &self.texts[hit.index],
                dense: hit.dense,
                lexical: hit.lexical,
                among: None,
            })
            .collect()
    }
}

fn best(scores: impl Iterator<Item = (usize, f64)>) -> Vec<Scored<usize>> {
    let mut scored: Vec<Scored<usize>> = scores.map(|(key, score)| Scored { key, score }).collect();
    scored.sort_by(|one, two| two.score.total_cmp(&one.score).then(one.key.cmp(&two.key)));
    scored.truncate(FUSION_DEPTH);
    scored
}

pub fn field(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

pub fn cosine(one: &[f32], two: &[f32]) -> f32 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

pub fn read_json_lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    json_lines(&text)
}

/// The documents of a set as it is published.
pub fn read_corpus(folder: &Path) -> Vec<Value> {
    let path = folder.join("corpus.jsonl.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut corpus = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut corpus).expect("a gzip file");
    json_lines(&corpus)
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

pub fn read_vectors(path: &str) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let floats: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    floats.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect()
}

/// At most `most` of a set's questions that can be asked without their page, spread evenly, with their vectors.
pub fn read_questions(folder: &str, most: usize) -> Vec<(Value, Vec<f32>)> {
    let rows = read_json_lines(&format!("{folder}/qa.jsonl"));
    let all: Vec<(Value, Vec<f32>)> = rows
        .into_iter()
        .zip(read_vectors(&format!("{folder}/questions.f32")))
        .filter(|(row, _)| row["selfcontained"] != Value::Bool(false))
        .collect();
    let step = all.len().div_ceil(most.min(all.len()));
    all.into_iter().step_by(step).collect()
}

fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The question in words of which the collection knows fewer: every other term is written backwards. Readers seldom use
/// the words of the document, and evaluation sets do not show it: their questions were written beside their documents.
pub fn reworded(question: &str) -> String {
    let mut places = Vec::new();
    Analyzer::english().for_each_term(question, |_, range| places.push(range));
    places.dedup();
    let mut written = String::with_capacity(question.len());
    let mut last = 0;
    for place in places.into_iter().skip(1).step_by(2) {
        let word = &question[place.clone()];
        if word.chars().all(char::is_alphabetic) {
            written.push_str(&question[last..place.start]);
            let mut letters = word.chars().rev().flat_map(char::to_lowercase);
            if word.starts_with(char::is_uppercase) {
                written.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            }
            written.extend(letters);
            last = place.end;
        }
    }
    written.push_str(&question[last..]);
    written
}

/// The passages retrieved for a question, as the grader gets them.
pub struct Round<'c> {
    pub question: Question,
    pub hits: Vec<Hit>,
    pub passages: Vec<Passage<'c>>,
    pub evidence: Vec<PassageEvidence>,
}

/// Sources of an answer: passages with their grades, what they hold of the question, and their documents.
#[derive(Default)]
pub struct Sources<'c> {
    pub sources: Vec<AnswerSource<'c>>,
    pub evidence: Vec<PassageEvidence>,
    pub documents: Vec<&'c str>,
}

impl<'c> Round<'c> {
    /// The passages that are quoted: those whose grade is admitted.
    pub fn sources(&self, collection: &'c Collection, is_admitted: impl Fn(Grade) -> bool) -> Sources<'c> {
        let verdicts = calibrated::grade(&self.question, &self.passages, &self.evidence).verdicts;
        let mut admitted = Sources::default();
        for (place, verdict) in verdicts.iter().enumerate().filter(|(_, verdict)| is_admitted(verdict.grade)) {
            let (passage, index) = (&self.passages[place], self.hits[place].index);
            let probability = verdict.probability.unwrap_or(0.5);
            let source = AnswerSource::alone(passage.text);
            let similarity = self.hits[place].dense;
            admitted.sources.push(AnswerSource { probability, similarity, title: passage.title, ..source });
            admitted.evidence.push(self.evidence[place].clone());
            admitted.documents.push(&collection.documents[index]);
        }
        admitted
    }
}

/// How near each sentence is to a question, as the service finds it with the built-in model.
pub async fn likenesses(model: &MiniLm, question: &str, sentences: &[SentenceCandidate]) -> Vec<Likeness> {
    let asked = model.embed_query_tokens(question).await.expect("vectors");
    let texts = sentences.iter().map(|sentence| sentence.embedded().to_owned()).collect();
    let vectors = model.embed_passages_tokens(texts).await.expect("vectors");
    vectors.iter().map(|vectors| Likeness::of(&asked, vectors)).collect()
}

impl Collection {
    pub fn round(&self, question: &str, vector: &[f32], top_k: usize) -> Round<'_> {
        let parsed = self.parsed(question);
        let hits = self.search(question, vector, top_k);
        let passages = self.passages(&hits);
        let evidence = evidence_of(self.analyzer, &parsed, &passages);
        Round { question: parsed, hits, passages, evidence }
    }

    /// The relation of a question to this collection. `is_own`: it comes from the same set.
    pub fn case(&self, question: &Value, is_own: bool) -> &'static str {
        let holds = |id: &str| self.documents.iter().any(|own| own == id);
        let source = question["source_doc"].as_str().unwrap_or_default();
        match (is_own, question["answerable"] == Value::Bool(true)) {
            (false, _) => "foreign",
            (true, true) if strings(&question["gold_docs"]).into_iter().any(holds) => "answerable",
            (true, false) if holds(source) => "unanswerable",
            (true, _) => "absent",
        }
    }
}

pub fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Share of the words of a gold sentence that a right answer holds.
const MOST_WORDS: f32 = 0.8;

/// Whether a text holds a gold answer, all spans of one that has several, or most words of a gold sentence where the set has those.
#[expect(clippy::cast_precision_loss, reason = "sentences are short")]
pub fn is_right(row: &Value, answer: &str) -> bool {
    let said = format!(" {} ", plain(answer));
    let words: HashSet<&str> = said.split(' ').collect();
    let golds =
        |member: &str| strings(&row[member]).into_iter().map(plain).filter(|gold| !gold.is_empty()).collect::<Vec<_>>();
    let sentences = golds("gold_sentences");
    if sentences.is_empty() {
        let is_said = |gold: &String| said.contains(&format!(" {gold} "));
        let spans = golds("spans");
        return golds("answers").iter().any(is_said) || spans.len() > 1 && spans.iter().all(is_said);
    }
    let holds_most = |gold: &String| {
        let gold: HashSet<&str> = gold.split(' ').collect();
        gold.intersection(&words).count() as f32 >= MOST_WORDS * gold.len() as f32
    };
    sentences.iter().any(holds_most)
}

/// A text in lower case without punctuation and markers.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(',', "");
    let words = text.split_whitespace().filter(|word| !word.starts_with("[^"));
    let bare = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '%').to_owned();
    words.map(bare).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
