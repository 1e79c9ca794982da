//! The forward pass: wordpiece ids to one vector.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;
use rten_vecmath::Softmax;

use super::MiniLmError;
use super::kernels::{AddNorm, ByteRows, ByteRowsMut, Dequantise, DequantiseAddNorm, DequantiseGelu, Quantise};
use super::product::{Product, Rows};
use super::weights::{Dense, NormWeights, Reader, Words};

pub(super) const WIDTH: usize = 384;
pub(super) const WINDOW: usize = 256;
const WORDS: usize = 30_522;
const INNER: usize = 4 * WIDTH;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;
const TRIPLE: usize = 3 * WIDTH;

/// Rows that pass through a layer together: few enough for their sums to stay in the second-level cache.
const BLOCK: usize = 64;

struct Layer {
    query_key_value: Dense,
    attention_output: Dense,
    attention_norm: NormWeights,
    expand: Dense,
    contract: Dense,
    output_norm: NormWeights,
}

/// The vectors that are computed of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// One for all of it.
    Whole,
    /// That, and one for each wordpiece.
    Tokens,
}

/// The weights; shared by all threads.
pub(super) struct Model {
    words: Words,
    positions: Vec<f32>,
    embedding_norm: NormWeights,
    layers: Vec<Layer>,
}

/// Working memory of one thread.
pub(super) struct Scratch {
    floats: GemmExecutor,
    product: Product,
    sums: Vec<i32>,
    stream: Vec<f32>,
    heads: Vec<f32>,
    mixed: Vec<f32>,
    scores: Vec<f32>,
    head: Vec<f32>,
    row: Vec<f32>,
    bytes: ByteRows,
    inner: ByteRows,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::with_product(Product::new())
    }

    pub(crate) fn with_product(product: Product) -> Self {
        Self {
            floats: GemmExecutor::new(),
            product,
            sums: vec![0; BLOCK * INNER],
            stream: vec![0.0; WINDOW * WIDTH],
            heads: vec![0.0; WINDOW * TRIPLE],
            mixed: vec![0.0; WINDOW * WIDTH],
            scores: vec![0.0; WINDOW * WINDOW],
            head: vec![0.0; WINDOW * HEAD],
            row: vec![0.0; INNER],
            bytes: ByteRows::new(WINDOW, WIDTH),
            inner: ByteRows::new(BLOCK, INNER),
        }
    }
}

impl Model {
    pub(crate) fn read(reader: &Reader) -> Result<Self, MiniLmError> {
        let layer = |index: usize| -> Result<Layer, MiniLmError> {
            let dense = |name: &str, inputs, outputs| reader.dense(&format!("layer.{index}.{name}"), inputs, outputs);
            let norm = |name: &str| reader.norm(&format!("layer.{index}.{name}"), WIDTH);
            Ok(Layer {
                query_key_value: dense("query_key_value", WIDTH, TRIPLE)?,
                attention_output: dense("attention_output", WIDTH, WIDTH)?,
                attention_norm: norm("attention_norm")?,
                expand: dense("expand", WIDTH, INNER)?,
                contract: dense("contract", INNER, WIDTH)?,
                output_norm: norm("output_norm")?,
            })
        };
        let layers = (0..LAYERS).map(layer).collect::<Result<_, _>>()?;
        Ok(Self {
            layers,
            words: reader.words(WORDS, WIDTH)?,
            positions: reader.floats("positions", &[WINDOW, WIDTH])?,
            embedding_norm: reader.norm("embedding_norm", WIDTH)?,
        })
    }

    /// The unit vector of a text, given its ids with `[CLS]` and `[SEP]`: at least two, at most [`WINDOW`]. With
    /// [`Output::Tokens`] the unit vectors of the ids between these two follow it, one after the other.
    pub(crate) fn embed(&self, ids: &[u32], output: Output, scratch: &mut Scratch) -> Vec<f32> {
        let length = ids.len();
        assert!((2..=WINDOW).contains(&length), "{length} ids");
        self.look_up(ids, scratch);
        for layer in &self.layers {
            attend(layer, length, scratch);
            feed_forward(layer, length, scratch);
        }
        let rows = &scratch.stream[..length * WIDTH];
        let mut vectors = mean_of_rows(rows);
        if output == Output::Tokens {
            for row in rows[WIDTH..(length - 1) * WIDTH].chunks_exact(WIDTH) {
                let norm = length_of(row);
                vectors.extend(row.iter().map(|value| value / norm));
            }
        }
        vectors
    }

    fn look_up(&self, ids: &[u32], scratch: &mut Scratch) {
        let rows = scratch.stream.chunks_exact_mut(WIDTH);
        for ((&id, row), position) in ids.iter().zip(rows).zip(self.positions.chunks_exact(WIDTH)) {
            let word = &self.words.weight[id as usize * WIDTH..][..WIDTH];
            let scale = self.words.scale[id as usize];
            for ((out, &weight), &place) in row.iter_mut().zip(word).zip(position) {
                *out = f32::from(weight) * scale + place;
            }
        }
        let all = 0..ids.len();
        AddNorm {
            norm: self.embedding_norm.as_norm(),
            stream: &mut scratch.stream[..ids.len() * WIDTH],
            out: rows_mut(&mut scratch.bytes, all, WIDTH),
        }
        .dispatch();
    }
}

/// Attention: each token collects information from the others.
fn attend(layer: &Layer, length: usize, scratch: &mut Scratch) {
    for block in blocks(length) {
        let rows = rows(&scratch.bytes, block.clone(), WIDTH);
        Dequantise {
            sums: scratch.product.multiply(rows, &layer.query_key_value, &mut scratch.sums),
            out: &mut scratch.heads[block.start * TRIPLE..block.end * TRIPLE],
        }
        .dispatch();
    }
    for head in 0..HEADS {
        mix_head(head, length, scratch);
    }
    for block in blocks(length) {
        let span = block.start * WIDTH..block.end * WIDTH;
        Quantise {
            values: &scratch.mixed[span.clone()],
            width: WIDTH,
            out: rows_mut(&mut scratch.inner, 0..block.len(), WIDTH),
        }
        .dispatch();
        let rows = rows(&scratch.inner, 0..block.len(), WIDTH);
        DequantiseAddNorm {
            sums: scratch.product.multiply(rows, &layer.attention_output, &mut scratch.sums),
            norm: layer.attention_norm.as_norm(),
            stream: &mut scratch.stream[span],
            out: rows_mut(&mut scratch.bytes, block, WIDTH),
        }
        .dispatch();
    }
}

/// The two dense layers of every token by itself.
fn feed_forward(layer: &Layer, length: usize, scratch: &mut Scratch) {
    for block in blocks(length) {
        let input = rows(&scratch.bytes, block.clone(), WIDTH);
        DequantiseGelu {
            sums: scratch.product.multiply(input, &layer.expand, &mut scratch.sums),
            row: &mut scratch.row,
            out: rows_mut(&mut scratch.inner, 0..block.len(), INNER),
        }
        .dispatch();
        let inner = rows(&scratch.inner, 0..block.len(), INNER);
        DequantiseAddNorm {
            sums: scratch.product.multiply(inner, &layer.contract, &mut scratch.sums),
            norm: layer.output_norm.as_norm(),
            stream: &mut scratch.stream[block.start * WIDTH..block.end * WIDTH],
            out: rows_mut(&mut scratch.bytes, block, WIDTH),
        }
        .dispatch();
    }
}

/// Scaled dot-product attention of one head, in float32: a tenth of the multiplications, and
/// the part that rounding would hurt most.
fn mix_head(head: usize, length: usize, scratch: &mut Scratch) {
    let part = |which: usize, shape, strides| {
        let start = which * WIDTH + head * HEAD;
        NdTensorView::from_slice_with_strides(shape, &scratch.heads[start..], strides)
            .expect("the head lies inside the row")
    };
    let query = part(0, [length, HEAD], [TRIPLE, 1]);
    let key = part(1, [HEAD, length], [1, TRIPLE]);
    let value = part(2, [length, HEAD], [TRIPLE, 1]);
    let scores = &mut scratch.scores[..length * length];
    #[expect(clippy::cast_precision_loss, reason = "32")]
    let scaled = GemmOptions { alpha: (HEAD as f32).sqrt().recip(), ..GemmOptions::default() };
    scratch
        .floats
        .gemm(scores, GemmInputA::Unpacked(query), GemmInputB::Unpacked(key), scaled)
        .expect("query and key have the same width");
    for row in scores.chunks_exact_mut(length) {
        Softmax::new_mut(row).dispatch();
    }
    let scores = NdTensorView::from_data([length, length], &*scores);
    let mixed = &mut scratch.head[..length * HEAD];
    scratch
        .floats
        .gemm(mixed, GemmInputA::Unpacked(scores), GemmInputB::Unpacked(value), GemmOptions::default())
        .expect("there are as many scores as values");
    let rows = scratch.mixed.chunks_exact_mut(WIDTH).zip(mixed.chunks_exact(HEAD));
    for (row, mixed) in rows {
        row[head * HEAD..][..HEAD].copy_from_slice(mixed);
    }
}

/// Mean over the tokens, scaled to length one.
fn mean_of_rows(rows: &[f32]) -> Vec<f32> {
    let mut mean = vec![0.0_f32; WIDTH];
    for row in rows.chunks_exact(WIDTH) {
        for (sum, &value) in mean.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let norm = length_of(&mean);
    for value in &mut mean {
        *value /= norm;
    }
    mean
}

fn length_of(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}

fn blocks(length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..length).step_by(BLOCK).map(move |start| start..(start + BLOCK).min(length))
}

fn rows(rows: &ByteRows, range: std::ops::Range<usize>, width: usize) -> Rows<'_> {
    Rows {
        values: &rows.values[range.start * width..range.end * width],
        scales: &rows.scales[range.clone()],
        zero_points: &rows.zero_points[range],
    }
}

fn rows_mut(rows: &mut ByteRows, range: std::ops::Range<usize>, width: usize) -> ByteRowsMut<'_> {
    ByteRowsMut {
        values: &mut rows.values[range.start * width..range.end * width],
        scales: &mut rows.scales[range.clone()],
        zero_points: &mut rows.zero_points[range],
    }
}
