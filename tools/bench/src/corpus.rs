//! Paragraphs and questions with the statistics of prose and the words of nobody.
//!
//! Content words are made of syllables and drawn by a Zipf-Mandelbrot law, so that the commonest stands
//! in a fifth of all paragraphs and most are rare; function words are English, so that stop words cost
//! what they cost. Each paragraph has one of some hundred subjects, whose words it repeats: neighbours in
//! the vector space exist, and a question has several passages that hold part of it.

use std::collections::HashSet;

use serde::Serialize;

use crate::random::Random;

const VOCABULARY: usize = 30_000;
/// Flattens the head of the Zipf law: content words have no "the".
const ZIPF_OFFSET: f64 = 20.0;
const SUBJECT_WORDS: usize = 40;
/// Paragraphs that share a subject.
const PARAGRAPHS_PER_SUBJECT: usize = 50;
/// Ranks that a subject's own words come from: neither common nor unheard of.
const SUBJECT_RANKS: std::ops::Range<usize> = 200..8_000;
/// Share of a paragraph's content words that come from its subject.
const SUBJECT_SHARE: f64 = 0.35;
/// Questions for each paragraph.
const QUESTIONS: usize = 4;
/// Content words of a question.
const WORDS_ASKED: usize = 5;
/// Words of a paragraph, about.
const PARAGRAPH_WORDS: usize = 100;

const FUNCTION_WORDS: [&str; 24] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not",
    "are", "this", "from", "or", "have", "an", "they",
];
const ONSETS: [&str; 20] =
    ["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "br", "cl", "gr", "pl", "st", "tr"];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: [&str; 10] = ["", "", "n", "r", "l", "t", "nd", "m", "rk", "st"];

/// A document of one paragraph, as the service takes it.
#[derive(Clone, Debug, Serialize)]
pub struct Paragraph {
    pub source: String,
    pub title: String,
    pub text: String,
    pub media_type: &'static str,
}

/// Everything that is ingested and asked.
#[derive(Debug)]
pub struct Corpus {
    pub paragraphs: Vec<Paragraph>,
    /// Some per paragraph, all different; neighbours come from different paragraphs.
    pub questions: Vec<String>,
    /// Chunks that hold a word of a question, summed over its words, on average over the questions:
    /// what a lexical search without bounds would have to score.
    pub mean_postings: f64,
}

impl Corpus {
    /// Makes `count` paragraphs and questions for them.
    pub fn generate(count: usize, seed: u64) -> Self {
        let mut writing = Writing::new(count, seed);
        let mut frequencies = vec![0_u32; VOCABULARY];
        let mut asked: [Vec<Vec<usize>>; QUESTIONS] = Default::default();
        let mut paragraphs = Vec::with_capacity(count);
        for Written { words, asked: of_paragraph, paragraph } in writing.by_ref() {
            for word in &words {
                frequencies[*word] += 1;
            }
            asked.iter_mut().zip(of_paragraph).for_each(|(round, words)| round.push(words));
            paragraphs.push(paragraph);
        }
        let asked = asked.concat();
        let postings: u64 = asked.iter().flatten().map(|word| u64::from(frequencies[*word])).sum();
        let mut texts = HashSet::new();
        let questions =
            asked.iter().map(|words| writing.question(words)).filter(|text| texts.insert(text.clone())).collect();
        #[expect(clippy::cast_precision_loss, reason = "an average for a table")]
        let mean_postings = postings as f64 / asked.len() as f64;
        Self { paragraphs, questions, mean_postings }
    }
}

/// The paragraphs of a corpus one after the other, for one that does not fit into memory.
pub struct Writing {
    words: Words,
    subjects: Vec<Vec<usize>>,
    random: Random,
    number: usize,
    count: usize,
}

/// A paragraph, and what it was made of.
pub struct Written {
    pub paragraph: Paragraph,
    words: HashSet<usize>,
    /// The words of its questions.
    pub asked: [Vec<usize>; QUESTIONS],
}

impl Writing {
    /// A corpus of `count` paragraphs.
    pub fn new(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let words = Words::generate(&mut random);
        let subjects = (0..count.div_ceil(PARAGRAPHS_PER_SUBJECT))
            .map(|_| (0..SUBJECT_WORDS).map(|_| SUBJECT_RANKS.start + random.below(SUBJECT_RANKS.len())).collect())
            .collect();
        Self { words, subjects, random, number: 0, count }
    }

    /// The question that asks for these words.
    pub fn question(&self, asked: &[usize]) -> String {
        self.words.question(asked)
    }
}

impl Iterator for Writing {
    type Item = Written;

    fn next(&mut self) -> Option<Written> {
        let number = self.number;
        if number == self.count {
            return None;
        }
        self.number += 1;
        let subject = &self.subjects[number % self.subjects.len()];
        let mut writer = Writer { words: &self.words, subject, random: &mut self.random, used: Vec::new() };
        let text = writer.paragraph();
        let asked = std::array::from_fn(|_| writer.question_words());
        let words = writer.used.iter().copied().collect();
        let title = format!("{} {} {number}", capitalised(self.words.word(subject[0])), self.words.word(subject[1]));
        let source = format!("paragraph-{number:06}.txt");
        Some(Written { paragraph: Paragraph { source, title, text, media_type: "text/plain" }, words, asked })
    }
}

/// The vocabulary, most frequent first.
struct Words {
    list: Vec<String>,
    /// Sum of the weights up to each word.
    cumulated: Vec<f64>,
}

impl Words {
    fn generate(random: &mut Random) -> Self {
        let mut seen = HashSet::new();
        let mut list = Vec::with_capacity(VOCABULARY);
        while list.len() < VOCABULARY {
            let syllables = 2 + random.below(3);
            let word: String = (0..syllables)
                .flat_map(|_| [*random.choose(&ONSETS), *random.choose(&NUCLEI), *random.choose(&CODAS)])
                .collect();
            if seen.insert(word.clone()) {
                list.push(word);
            }
        }
        let mut sum = 0.0;
        let cumulated = (0..u32::try_from(VOCABULARY).expect("small"))
            .map(|rank| {
                sum += 1.0 / (f64::from(rank) + ZIPF_OFFSET);
                sum
            })
            .collect();
        Self { list, cumulated }
    }

    fn word(&self, rank: usize) -> &str {
        &self.list[rank]
    }

    fn draw(&self, random: &mut Random) -> usize {
        let most = self.cumulated[VOCABULARY - 1];
        let wanted = random.fraction() * most;
        self.cumulated.partition_point(|sum| *sum < wanted).min(VOCABULARY - 1)
    }

    /// A question that no stop word list leaves anything of but the words asked for.
    fn question(&self, asked: &[usize]) -> String {
        let mut words = asked.iter().map(|word| self.word(*word));
        let mut next = || words.next().unwrap_or_default();
        format!("What is the {} {} of the {} {} and the {}?", next(), next(), next(), next(), next())
    }
}

/// Writes one paragraph.
struct Writer<'a> {
    words: &'a Words,
    subject: &'a [usize],
    random: &'a mut Random,
    /// Content words in reading order.
    used: Vec<usize>,
}

impl Writer<'_> {
    fn paragraph(&mut self) -> String {
        let mut text = String::with_capacity(PARAGRAPH_WORDS * 8);
        let mut count = 0;
        while count < PARAGRAPH_WORDS {
            let length = 9 + self.random.below(10);
            self.sentence(&mut text, length);
            count += length;
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn sentence(&mut self, text: &mut String, length: usize) {
        for place in 0..length {
            // Prose is little less than half function words.
            let word = if self.random.fraction() < 0.45 && place + 1 < length {
                (*self.random.choose(&FUNCTION_WORDS)).to_owned()
            } else {
                self.content_word()
            };
            text.push_str(&if place == 0 { capitalised(&word) } else { word });
            text.push_str(if place + 1 == length { ". " } else { " " });
        }
    }

    fn content_word(&mut self) -> String {
        let rank = if self.random.fraction() < SUBJECT_SHARE {
            // The first words of a subject are repeated more than the last.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below 40")]
            let place = (self.random.fraction() * self.random.fraction() * 40.0) as usize;
            self.subject[place.min(SUBJECT_WORDS - 1)]
        } else {
            self.words.draw(self.random)
        };
        self.used.push(rank);
        self.words.word(rank).to_owned()
    }

    /// Words that stand close together in the paragraph, its subject's among them.
    fn question_words(&mut self) -> Vec<usize> {
        let span = 8.min(self.used.len());
        let start = self.random.below(self.used.len() - span + 1);
        let mut chosen: Vec<usize> = Vec::new();
        for word in &self.used[start..] {
            if chosen.len() < WORDS_ASKED && !chosen.contains(word) {
                chosen.push(*word);
            }
        }
        chosen
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
