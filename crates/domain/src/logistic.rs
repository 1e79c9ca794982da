//! Logistic regression, the form of every calibrated judge.

/// A logistic model over `N` features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic<const N: usize> {
    /// The log odds where every feature is 0.
    pub bias: f32,
    /// Amount that each feature, times its value, adds to the log odds.
    pub weights: [f32; N],
}

impl<const N: usize> Logistic<N> {
    /// The same model with its odds times this.
    #[must_use]
    pub fn scaled(&self, odds: f32) -> Self {
        Self { bias: self.bias + odds.ln(), ..*self }
    }

    /// The probability that the model gives to these features, 0 to 1.
    #[must_use]
    pub fn probability(&self, features: &[f32; N]) -> f32 {
        let sum: f32 = self.weights.iter().zip(features).map(|(weight, value)| weight * value).sum();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }
}
