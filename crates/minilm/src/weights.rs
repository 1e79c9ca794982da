//! The asset: names, shapes and types of the tensors in `model.safetensors`.

use rten_gemm::{GemmExecutor, PackedBMatrix};
use rten_tensor::NdTensorView;
use safetensors::{Dtype, SafeTensors};

use super::MiniLmError;
use super::kernels::{Affine, Norm};

/// Integer matrix products: unsigned activations by signed weights.
pub(super) type ByteGemm = GemmExecutor<u8, i8, i32>;

/// A dense layer, its weights laid out for the processor at hand.
pub(super) struct Dense {
    pub weight: PackedBMatrix<i8>,
    total: Vec<i32>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    pub(crate) fn affine(&self) -> Affine<'_> {
        Affine { total: &self.total, scale: &self.scale, bias: &self.bias }
    }
}

/// Owned weights of a layer norm.
pub(super) struct NormWeights {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl NormWeights {
    pub(crate) fn as_norm(&self) -> Norm<'_> {
        Norm { weight: &self.weight, bias: &self.bias }
    }
}

/// The word table, used in place: one signed byte row and one scale per wordpiece.
pub(super) struct Words {
    pub weight: &'static [i8],
    pub scale: Vec<f32>,
}

/// Reads tensors by name, checking type and shape, and lays weights out for the processor.
pub(super) struct Reader {
    tensors: SafeTensors<'static>,
    gemm: ByteGemm,
}

impl Reader {
    pub(crate) fn new(bytes: &'static [u8]) -> Result<Self, MiniLmError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| MiniLmError::Asset(error.to_string()))?;
        Ok(Self { tensors, gemm: ByteGemm::new() })
    }

    fn raw(&self, name: &str, kind: Dtype, shape: &[usize]) -> Result<&'static [u8], MiniLmError> {
        let tensor = self.tensors.tensor(name).map_err(|error| MiniLmError::Asset(format!("{name}: {error}")))?;
        if tensor.dtype() != kind || tensor.shape() != shape {
            let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
            return Err(MiniLmError::Asset(format!("{name}: {found}, expected {kind:?} {shape:?}")));
        }
        Ok(tensor.data())
    }

    fn bytes(&self, name: &str, shape: &[usize]) -> Result<&'static [i8], MiniLmError> {
        Ok(bytemuck::cast_slice(self.raw(name, Dtype::I8, shape)?))
    }

    /// Floats, copied: the asset need not be aligned in the binary.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, MiniLmError> {
        let (values, _) = self.raw(name, Dtype::F32, shape)?.as_chunks::<4>();
        Ok(values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }

    pub(crate) fn words(&self, count: usize, width: usize) -> Result<Words, MiniLmError> {
        Ok(Words { weight: self.bytes("words.weight", &[count, width])?, scale: self.floats("words.scale", &[count])? })
    }

    pub(crate) fn norm(&self, name: &str, width: usize) -> Result<NormWeights, MiniLmError> {
        Ok(NormWeights {
            weight: self.floats(&format!("{name}.weight"), &[width])?,
            bias: self.floats(&format!("{name}.bias"), &[width])?,
        })
    }

    pub(crate) fn dense(&self, name: &str, inputs: usize, outputs: usize) -> Result<Dense, MiniLmError> {
        let weight = self.bytes(&format!("{name}.weight"), &[inputs, outputs])?;
        let mut total = vec![0; outputs];
        for row in weight.chunks_exact(outputs) {
            for (total, &weight) in total.iter_mut().zip(row) {
                *total += i32::from(weight);
            }
        }
        Ok(Dense {
            total,
            weight: self.gemm.prepack_b(NdTensorView::from_data([inputs, outputs], weight)),
            scale: self.floats(&format!("{name}.scale"), &[outputs])?,
            bias: self.floats(&format!("{name}.bias"), &[outputs])?,
        })
    }
}
