//! Products of byte activations and int8 weights.

use rten_gemm::{GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::kernels::Sums;
use super::weights::{ByteGemm, Dense};

/// Rows that go into a product.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub values: &'a [u8],
    pub scales: &'a [f32],
    pub zero_points: &'a [u8],
}

/// The integer matrix product of this processor.
pub(super) struct Product {
    gemm: ByteGemm,
    saturates: bool,
    half: Vec<u8>,
}

impl Product {
    pub(crate) fn new() -> Self {
        let gemm = ByteGemm::new();
        Self { saturates: gemm.may_saturate(), gemm, half: Vec::new() }
    }

    /// As on a processor that saturates.
    #[cfg(test)]
    pub(crate) fn saturating() -> Self {
        Self { saturates: true, ..Self::new() }
    }

    /// Byte rows times a dense layer, exact on every processor.
    ///
    /// The zero points are taken out afterwards, with the sums' scales: rten-gemm 0.27 would apply those of the first
    /// eight rows to all the others.
    pub(crate) fn multiply<'a>(&mut self, rows: Rows<'a>, dense: &'a Dense, room: &'a mut [i32]) -> Sums<'a> {
        let sums = &mut room[..rows.scales.len() * dense.weight.cols()];
        if self.saturates {
            self.multiply_halves(rows.values, dense, sums);
        } else {
            self.add_product(0, rows.values, dense, sums);
        }
        Sums { values: sums, scales: rows.scales, zero_points: rows.zero_points, affine: dense.affine() }
    }

    /// x86 without VNNI adds two products in 16 bits, which 2 * 255 * 127 does not fit but 2 * 128 * 127 does. Seven
    /// bits for the weights or the activations lose too much (cosine below 0.99), so the bytes go in two parts.
    fn multiply_halves(&mut self, values: &[u8], dense: &Dense, sums: &mut [i32]) {
        let mut half = std::mem::take(&mut self.half);
        half.clear();
        half.extend(values.iter().map(|value| value / 2));
        self.add_product(0, &half, dense, sums);
        half.clear();
        half.extend(values.iter().map(|value| value - value / 2));
        self.add_product(1, &half, dense, sums);
        self.half = half;
    }

    /// `sums = keep * sums + values * weights`.
    fn add_product(&self, keep: i32, values: &[u8], dense: &Dense, sums: &mut [i32]) {
        let inputs = dense.weight.rows();
        let values = NdTensorView::from_data([values.len() / inputs, inputs], values);
        let weight = GemmInputB::Packed(&dense.weight);
        let options = GemmOptions { beta: keep, ..GemmOptions::default() };
        self.gemm
            .gemm(sums, GemmInputA::Unpacked(values), weight, options)
            .expect("shapes were checked when the model was read");
    }
}
