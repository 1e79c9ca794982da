//! The arithmetic between the matrix products, one vectorised pass each.
//!
//! Activations are rounded to unsigned bytes row by row (scale and zero point follow the row's own range), so that
//! an outlier in one token costs the other tokens no precision. Each operation here takes the 32-bit sums of the
//! product before it and leaves rows that are ready for the product after it.

#![expect(
    clippy::inline_always,
    reason = "rten-simd asks for it: vectors are fast only inside the dispatched function"
)]

use rten_simd::ops::{BitOps, FloatOps, NarrowSaturate, NumOps, ToFloat};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::Gelu;

/// Rows of activations as unsigned bytes: `value = (byte - zero_point) * scale`.
pub(super) struct ByteRows {
    /// `rows * width` bytes.
    pub values: Vec<u8>,
    /// One scale per row.
    pub scales: Vec<f32>,
    /// The byte that stands for zero, one per row.
    pub zero_points: Vec<u8>,
}

impl ByteRows {
    pub(crate) fn new(rows: usize, width: usize) -> Self {
        Self { values: vec![0; rows * width], scales: vec![0.0; rows], zero_points: vec![0; rows] }
    }
}

/// A range of rows of [`ByteRows`], to be filled.
pub(super) struct ByteRowsMut<'a> {
    pub values: &'a mut [u8],
    pub scales: &'a mut [f32],
    pub zero_points: &'a mut [u8],
}

/// Converts a row of 32-bit sums to numbers, per output column: `(sum - zero_point * total) * row_scale * scale +
/// bias`.
#[derive(Clone, Copy)]
pub(super) struct Affine<'a> {
    /// Sum of the column's weights.
    pub total: &'a [i32],
    pub scale: &'a [f32],
    pub bias: &'a [f32],
}

/// The sums of a product, with the scales and zero points of the rows that went into it.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub values: &'a [i32],
    pub scales: &'a [f32],
    pub zero_points: &'a [u8],
    pub affine: Affine<'a>,
}

impl<'a> Sums<'a> {
    fn rows(self) -> impl Iterator<Item = Row<'a>> {
        let quantisers = self.scales.iter().zip(self.zero_points);
        self.values
            .chunks_exact(self.affine.scale.len())
            .zip(quantisers)
            .map(move |(sums, (&scale, &zero_point))| Row { sums, scale, zero_point, affine: self.affine })
    }
}

struct Row<'a> {
    sums: &'a [i32],
    scale: f32,
    zero_point: u8,
    affine: Affine<'a>,
}

/// Weights of a layer norm.
#[derive(Clone, Copy)]
pub(super) struct Norm<'a> {
    pub weight: &'a [f32],
    pub bias: &'a [f32],
}

const NORM_EPSILON: f32 = 1e-12;

/// Converts sums to numbers.
pub(super) struct Dequantise<'a> {
    pub sums: Sums<'a>,
    pub out: &'a mut [f32],
}

impl SimdOp for Dequantise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let width = self.sums.affine.scale.len();
        for (row, out) in self.sums.rows().zip(self.out.chunks_exact_mut(width)) {
            affine_row(
                isa,
                &row,
                out,
                #[inline(always)]
                |_, y| y,
            );
        }
    }
}

/// Converts sums to numbers, applies GELU, and converts to bytes.
pub(super) struct DequantiseGelu<'a> {
    pub sums: Sums<'a>,
    /// Buffer for one row.
    pub row: &'a mut [f32],
    pub out: ByteRowsMut<'a>,
}

impl SimdOp for DequantiseGelu<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let mut out = self.out;
        for (index, row) in self.sums.rows().enumerate() {
            affine_row(
                isa,
                &row,
                self.row,
                #[inline(always)]
                |_, y| Gelu {}.eval(isa, y),
            );
            quantise_row(isa, self.row, index, &mut out);
        }
    }
}

/// Converts sums to numbers, adds them to the residual stream and normalises it; kept as numbers and as bytes.
pub(super) struct DequantiseAddNorm<'a> {
    pub sums: Sums<'a>,
    pub norm: Norm<'a>,
    pub stream: &'a mut [f32],
    pub out: ByteRowsMut<'a>,
}

impl SimdOp for DequantiseAddNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let width = self.sums.affine.scale.len();
        let mut out = self.out;
        let streams = self.stream.chunks_exact_mut(width);
        for (index, (row, stream)) in self.sums.rows().zip(streams).enumerate() {
            affine_row(
                isa,
                &row,
                stream,
                #[inline(always)]
                |old, y| isa.f32().add(old, y),
            );
            norm_row(isa, stream, self.norm);
            quantise_row(isa, stream, index, &mut out);
        }
    }
}

/// Normalises the residual stream in place and converts it to bytes.
pub(super) struct AddNorm<'a> {
    pub norm: Norm<'a>,
    pub stream: &'a mut [f32],
    pub out: ByteRowsMut<'a>,
}

impl SimdOp for AddNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let mut out = self.out;
        let rows = self.stream.chunks_exact_mut(self.norm.weight.len());
        for (index, row) in rows.enumerate() {
            norm_row(isa, row, self.norm);
            quantise_row(isa, row, index, &mut out);
        }
    }
}

/// Converts numbers to bytes.
pub(super) struct Quantise<'a> {
    pub values: &'a [f32],
    pub width: usize,
    pub out: ByteRowsMut<'a>,
}

impl SimdOp for Quantise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let mut out = self.out;
        for (index, row) in self.values.chunks_exact(self.width).enumerate() {
            quantise_row(isa, row, index, &mut out);
        }
    }
}

/// `out = then(out, (sums - zero_point * total) * row_scale * scale + bias)`.
#[inline(always)]
fn affine_row<I: Isa>(isa: I, row: &Row<'_>, out: &mut [f32], then: impl Fn(I::F32, I::F32) -> I::F32) {
    let (ops, ints) = (isa.f32(), isa.i32());
    let lanes = ops.len();
    let row_scale = ops.splat(row.scale);
    let zero_point = ints.splat(i32::from(row.zero_point));
    let affine = row.affine;
    let columns = affine.scale.chunks_exact(lanes).zip(affine.bias.chunks_exact(lanes));
    let columns = affine.total.chunks_exact(lanes).zip(columns);
    let sums = row.sums.chunks_exact(lanes).zip(out.chunks_exact_mut(lanes));
    for ((sum, out), (total, (scale, bias))) in sums.zip(columns) {
        let shift = ints.mul(ints.load(total), zero_point);
        let sum = ints.to_float(ints.sub(ints.load(sum), shift));
        let scale = ops.mul(ops.load(scale), row_scale);
        let y = ops.mul_add(sum, scale, ops.load(bias));
        ops.store(then(ops.load(out), y), out);
    }
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "a row is 384 wide")]
fn norm_row<I: Isa>(isa: I, row: &mut [f32], norm: Norm<'_>) {
    let ops = isa.f32();
    let lanes = ops.len();
    let width = row.len() as f32;
    let mut total = ops.zero();
    for x in row.chunks_exact(lanes) {
        total = ops.add(total, ops.load(x));
    }
    let mean = ops.splat(ops.sum(total) / width);
    let mut squares = ops.zero();
    for x in row.chunks_exact(lanes) {
        let off = ops.sub(ops.load(x), mean);
        squares = ops.mul_add(off, off, squares);
    }
    let scale = ops.splat((ops.sum(squares) / width + NORM_EPSILON).sqrt().recip());
    let columns = norm.weight.chunks_exact(lanes).zip(norm.bias.chunks_exact(lanes));
    for (x, (weight, bias)) in row.chunks_exact_mut(lanes).zip(columns) {
        let unit = ops.mul(ops.sub(ops.load(x), mean), scale);
        ops.store(ops.mul_add(unit, ops.load(weight), ops.load(bias)), x);
    }
}

/// Rounds one row to bytes. The range always holds zero, so that zero is exact.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte before the cast")]
fn quantise_row<I: Isa>(isa: I, row: &[f32], index: usize, out: &mut ByteRowsMut<'_>) {
    let (ops, ints) = (isa.f32(), isa.i32());
    let lanes = ops.len();
    let (mut low, mut high) = (ops.zero(), ops.zero());
    for x in row.chunks_exact(lanes) {
        let x = ops.load(x);
        low = ops.min(low, x);
        high = ops.max(high, x);
    }
    let low = low.to_array().into_iter().fold(0.0, f32::min);
    let high = high.to_array().into_iter().fold(0.0, f32::max);
    let top = f32::from(u8::MAX);
    let range = if high > low { high - low } else { 1.0 };
    let zero_point = (-low * top / range).round_ties_even().clamp(0.0, top) as u8;
    out.scales[index] = range / top;
    out.zero_points[index] = zero_point;

    let inverse = ops.splat(top / range);
    let zero_point = ints.splat(i32::from(zero_point));
    let bytes = &mut out.values[index * row.len()..][..row.len()];
    for (x, bytes) in row.chunks_exact(4 * lanes).zip(bytes.chunks_exact_mut(4 * lanes)) {
        let quantised = ops.load_many::<4>(x).map(
            #[inline(always)]
            |x| ints.add(ops.to_int_round(ops.mul(x, inverse)), zero_point),
        );
        let low = ints.narrow_saturate(quantised[0], quantised[1]);
        let high = ints.narrow_saturate(quantised[2], quantised[3]);
        isa.u8().store(isa.i16().narrow_saturate(low, high), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 384;
    const ROWS: usize = 3;

    fn waves(count: usize, scale: f32) -> Vec<f32> {
        (0_u16..).take(count).map(|i| (f32::from(i) * 0.37).sin() * scale + 0.1).collect()
    }

    fn close(a: f32, b: f32) {
        assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
    }

    /// Checks that bytes represent the numbers they were made from, within half a step.
    fn check_bytes(bytes: &ByteRows, numbers: &[f32]) {
        for (index, &number) in numbers.iter().enumerate() {
            let row = index / WIDTH;
            let byte = i16::from(bytes.values[index]) - i16::from(bytes.zero_points[row]);
            let off = (f32::from(byte) * bytes.scales[row] - number).abs();
            assert!(off <= bytes.scales[row] * 0.501, "{off} at {index}");
        }
    }

    fn bytes_mut(rows: &mut ByteRows) -> ByteRowsMut<'_> {
        ByteRowsMut { values: &mut rows.values, scales: &mut rows.scales, zero_points: &mut rows.zero_points }
    }

    fn norm_plainly(row: &[f32], norm: Norm<'_>) -> Vec<f32> {
        let mean = row.iter().sum::<f32>() / 384.0;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 384.0;
        let columns = norm.weight.iter().zip(norm.bias);
        row.iter().zip(columns).map(|(x, (weight, bias))| (x - mean) / variance.sqrt() * weight + bias).collect()
    }

    #[test]
    fn bytes_stand_for_their_numbers() {
        let mut numbers = waves(ROWS * WIDTH, 2.0);
        numbers[WIDTH..2 * WIDTH].fill(0.0);
        numbers[2 * WIDTH + 5] = 90.0;
        let mut bytes = ByteRows::new(ROWS, WIDTH);
        Quantise { values: &numbers, width: WIDTH, out: bytes_mut(&mut bytes) }.dispatch();
        check_bytes(&bytes, &numbers);
    }

    #[test]
    fn each_pass_does_what_its_plain_version_does() {
        let values: Vec<i32> = (0..1152).map(|i| (i * 7919) % 40_000 - 20_000).collect();
        let total: Vec<i32> = (0..384).map(|i| (i * 31) % 900 - 450).collect();
        let (scale, bias, weight) = (waves(WIDTH, 0.001), waves(WIDTH, 0.5), waves(WIDTH, 1.0));
        let affine = Affine { total: &total, scale: &scale, bias: &bias };
        let (scales, zero_points) = ([0.5, 0.25, 1.0], [0, 12, 255]);
        let sums = Sums { values: &values, scales: &scales, zero_points: &zero_points, affine };
        let norm = Norm { weight: &weight, bias: &bias };

        #[expect(clippy::cast_precision_loss, reason = "small sums")]
        let plain = |index: usize| {
            let (row, column) = (index / WIDTH, index % WIDTH);
            let sum = values[index] - i32::from(zero_points[row]) * total[column];
            sum as f32 * scales[row] * scale[column] + bias[column]
        };
        let numbers: Vec<f32> = (0..values.len()).map(plain).collect();

        let mut out = vec![0.0; values.len()];
        Dequantise { sums, out: &mut out }.dispatch();
        out.iter().zip(&numbers).for_each(|(&a, &b)| close(a, b));

        let mut bytes = ByteRows::new(ROWS, WIDTH);
        DequantiseGelu { sums, row: &mut vec![0.0; WIDTH], out: bytes_mut(&mut bytes) }.dispatch();
        let tanh = |x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh());
        for (index, &number) in numbers.iter().enumerate() {
            let row = index / WIDTH;
            let byte = i16::from(bytes.values[index]) - i16::from(bytes.zero_points[row]);
            let off = (f32::from(byte) * bytes.scales[row] - tanh(number)).abs();
            assert!(off <= bytes.scales[row] * 0.501 + 1e-3, "{off} at {index}");
        }

        let old = waves(values.len(), 3.0);
        let mut stream = old.clone();
        DequantiseAddNorm { sums, norm, stream: &mut stream, out: bytes_mut(&mut bytes) }.dispatch();
        let added: Vec<f32> = old.iter().zip(&numbers).map(|(old, new)| old + new).collect();
        let normed: Vec<f32> = added.chunks_exact(WIDTH).flat_map(|row| norm_plainly(row, norm)).collect();
        stream.iter().zip(&normed).for_each(|(&a, &b)| close(a, b));
        check_bytes(&bytes, &stream);

        let mut stream = added;
        AddNorm { norm, stream: &mut stream, out: bytes_mut(&mut bytes) }.dispatch();
        stream.iter().zip(&normed).for_each(|(&a, &b)| close(a, b));
        check_bytes(&bytes, &stream);
    }
}
