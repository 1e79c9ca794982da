//! Late interaction: the likeness of two texts by the vectors of their tokens, each against the nearest of the other
//! (`MaxSim` of Khattab and Zaharia, `ColBERT`, SIGIR 2020).

/// The unit vectors of a text, by one model.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVectors {
    /// That of all of it.
    pub whole: Vec<f32>,
    /// Those of its tokens, one after the other; empty if the model tells only the first.
    pub tokens: Vec<f32>,
}

impl TextVectors {
    /// A text of which a model gives one vector.
    #[must_use]
    pub const fn of_whole(whole: Vec<f32>) -> Self {
        Self { whole, tokens: Vec::new() }
    }

    fn tokens(&self) -> impl Iterator<Item = &[f32]> + Clone {
        self.tokens.chunks_exact(self.whole.len().max(1))
    }
}

/// How near a text is to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// Cosine of the two, -1 to 1.
    pub cosine: f32,
    /// By their tokens, where the model gives their vectors.
    pub tokens: Option<TokenLikeness>,
}

/// How near the tokens of a text are to those of a question; each value is a cosine, -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLikeness {
    /// Mean over the question's tokens of the nearest token of the text.
    pub mean: f32,
    /// The least of these: the token of the question that the text lacks most.
    pub least: f32,
    /// The nearest token to the question's first one, which mostly tells the kind of thing asked for.
    pub opening: f32,
    /// Mean over the tokens of the text of their nearness to the question's first one.
    pub opening_mean: f32,
}

impl Likeness {
    /// How near a text is to a question.
    #[must_use]
    pub fn of(question: &TextVectors, text: &TextVectors) -> Self {
        Self { cosine: dot(&question.whole, &text.whole), tokens: TokenLikeness::of(question, text) }
    }

    /// That of which only the cosine is known.
    #[must_use]
    pub const fn of_cosine(cosine: f32) -> Self {
        Self { cosine, tokens: None }
    }
}

impl TokenLikeness {
    fn of(question: &TextVectors, text: &TextVectors) -> Option<Self> {
        let nearest = |asked: &[f32]| text.tokens().map(|token| dot(asked, token)).reduce(f32::max);
        let nearest: Vec<f32> = question.tokens().filter_map(nearest).collect();
        let (opening, asked) = (*nearest.first()?, question.tokens().next()?);
        let to_opening: Vec<f32> = text.tokens().map(|token| dot(asked, token)).collect();
        let least = nearest.iter().copied().fold(f32::INFINITY, f32::min);
        Some(Self { mean: mean(&nearest), least, opening, opening_mean: mean(&to_opening) })
    }
}

fn dot(one: &[f32], two: &[f32]) -> f32 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

#[expect(clippy::cast_precision_loss, reason = "texts are short")]
fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tokens: &[[f32; 2]]) -> TextVectors {
        TextVectors { whole: vec![1.0, 0.0], tokens: tokens.concat() }
    }

    #[test]
    fn each_token_of_the_question_counts_by_its_nearest() {
        let question = text(&[[1.0, 0.0], [0.0, 1.0]]);
        let near = Likeness::of(&question, &text(&[[0.6, 0.8], [1.0, 0.0], [0.8, -0.6]]));
        let expected = TokenLikeness { mean: 0.9, least: 0.8, opening: 1.0, opening_mean: 0.8 };
        assert_eq!(near.cosine.to_bits(), 1.0_f32.to_bits());
        let tokens = near.tokens.expect("both have tokens");
        for (value, expected) in [
            (tokens.mean, expected.mean),
            (tokens.least, expected.least),
            (tokens.opening, expected.opening),
            (tokens.opening_mean, expected.opening_mean),
        ] {
            assert!((value - expected).abs() < 1e-6, "{tokens:?}");
        }
    }

    #[test]
    fn a_text_without_tokens_has_its_cosine_alone() {
        let question = text(&[[1.0, 0.0]]);
        for (one, two) in [
            (question.clone(), text(&[])),
            (text(&[]), question.clone()),
            (question, TextVectors::of_whole(vec![1.0, 0.0])),
        ] {
            assert_eq!(Likeness::of(&one, &two), Likeness::of_cosine(1.0));
        }
        assert_eq!(Likeness::of(&TextVectors::of_whole(vec![]), &TextVectors::of_whole(vec![])).tokens, None);
    }
}
