//! The whole embedder against the float32 model and the published tokenizer, whose answers `tools/minilm` recorded.

use std::num::NonZeroUsize;

use serde::Deserialize;

use super::model::{Model, Output, Scratch};
use super::product::Product;
use super::tokenizer::Tokenizer;
use super::weights::Reader;
use super::{MiniLm, VOCABULARY, WEIGHTS};

const SENTENCES: &str = include_str!("../../../tests/fixtures/minilm/sentences.json");
const TOKENS: &str = include_str!("../../../tests/fixtures/minilm/tokens.json");

#[derive(Deserialize)]
struct Sentence {
    text: String,
    vector: Vec<f32>,
}

#[derive(Deserialize)]
struct Tokens {
    text: String,
    ids: Vec<u32>,
}

fn sentences() -> Vec<Sentence> {
    serde_json::from_str(SENTENCES).expect("the fixture parses")
}

fn embedder(threads: usize) -> MiniLm {
    MiniLm::start(NonZeroUsize::new(threads).expect("not zero")).expect("the asset fits")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[tokio::test]
async fn vectors_agree_with_the_float_model() {
    let model = embedder(2);
    let sentences = sentences();
    let texts = sentences.iter().map(|sentence| sentence.text.clone()).collect();
    let vectors = model.embed_passages(texts).await.expect("all are computed");
    for (sentence, vector) in sentences.iter().zip(&vectors) {
        assert_eq!(vector.len(), MiniLm::DIMENSION);
        let length = cosine(vector, vector) * vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5, "{length} {}", sentence.text);
        let likeness = cosine(vector, &sentence.vector);
        assert!(likeness >= 0.99, "{likeness} {}", sentence.text);
    }
}

#[test]
fn a_processor_that_saturates_gives_the_same_vectors() {
    let tokenizer = Tokenizer::read(VOCABULARY).expect("the asset fits");
    let reader = Reader::new(WEIGHTS).expect("the asset fits");
    let model = Model::read(&reader).expect("the asset fits");
    let mut plain = Scratch::new();
    let mut in_parts = Scratch::with_product(Product::saturating());
    for sentence in sentences() {
        let ids = tokenizer.encode(&sentence.text, MiniLm::WINDOW);
        assert_eq!(model.embed(&ids, Output::Tokens, &mut plain), model.embed(&ids, Output::Tokens, &mut in_parts));
    }
}

#[tokio::test]
async fn the_vectors_of_wordpieces_come_with_that_of_the_text() {
    let model = MiniLm::start(NonZeroUsize::MIN).expect("the model starts");
    let texts = ["", "Tea", "Unicorns drink tea."].map(str::to_owned).to_vec();
    let vectors = model.embed_passages_tokens(texts.clone()).await.expect("all are computed");
    for (text, vectors) in texts.iter().zip(&vectors) {
        assert_eq!(vectors.whole, model.embed_query(text).await.expect("computed"));
        assert_eq!(vectors.tokens.len(), model.count_tokens(text) * MiniLm::DIMENSION);
        for token in vectors.tokens.chunks_exact(MiniLm::DIMENSION) {
            let length = token.iter().map(|value| value * value).sum::<f32>();
            assert!((length - 1.0).abs() < 1e-4, "{text}: {length}");
        }
    }
    assert_eq!(vectors.last(), Some(&model.embed_query_tokens("Unicorns drink tea.").await.expect("computed")));
}

#[tokio::test]
async fn neighbours_and_threads_do_not_change_a_vector() {
    let model = embedder(3);
    let texts: Vec<String> = sentences().into_iter().map(|sentence| sentence.text).collect();
    let together = model.embed_passages(texts.clone()).await.expect("all are computed");
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&model.embed_query(text).await.expect("computed"), vector);
    }
}

#[test]
fn ids_are_those_of_the_published_tokenizer() {
    let tokenizer = Tokenizer::read(VOCABULARY).expect("the asset fits");
    let expected: Vec<Tokens> = serde_json::from_str(TOKENS).expect("the fixture parses");
    for Tokens { text, ids } in expected {
        assert_eq!(tokenizer.encode(&text, usize::MAX), ids, "{text:?}");
        assert_eq!(tokenizer.count(&text), ids.len() - 2, "{text:?}");
        for window in 3..ids.len() {
            let mut cut = ids[..window - 1].to_vec();
            cut.push(ids[ids.len() - 1]);
            assert_eq!(tokenizer.encode(&text, window), cut, "{text:?} in {window}");
        }
    }
}

#[tokio::test]
async fn texts_of_any_length_are_embedded() {
    let model = embedder(2);
    let lengths = [0, 1, 5, 6, 7, 61, 62, 63, 126, 127, 190, 253, 254, 255, 300];
    let texts = lengths.iter().map(|&words| "word ".repeat(words)).collect();
    let vectors = model.embed_passages(texts).await.expect("all are computed");
    assert!(vectors.iter().flatten().all(|x| x.is_finite()));
    assert_ne!(vectors[11], vectors[12], "254 words fit the window");
    assert_eq!(vectors[12], vectors[14], "the rest is cut off");
}
