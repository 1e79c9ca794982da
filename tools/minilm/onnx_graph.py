"""The float32 model as an ONNX graph: the reference that vectors and speed are compared against."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from source import HEADS, HIDDEN, LAYER_NORM_EPSILON, LAYERS

HEAD = HIDDEN // HEADS


class Graph:
    """Collects nodes and constants; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes) -> str:
        name = f"n{len(self.nodes)}_{kind}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def dense(self, x: str, tensors: dict, name: str) -> str:
        weight = self.constant(tensors[f"{name}.weight"].T)
        bias = self.constant(tensors[f"{name}.bias"])
        return self.op("Add", self.op("MatMul", x, weight), bias)

    def layer_norm(self, x: str, tensors: dict, name: str) -> str:
        weight = self.constant(tensors[f"{name}.weight"])
        bias = self.constant(tensors[f"{name}.bias"])
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=LAYER_NORM_EPSILON)

    def gelu(self, x: str) -> str:
        scalar = lambda value: self.constant(np.array(value, np.float32))
        erf = self.op("Erf", self.op("Div", x, scalar(2**0.5)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, scalar(1.0))), scalar(0.5))

    def heads(self, x: str, order: list[int]) -> str:
        shape = self.constant(np.array([0, 0, HEADS, HEAD], np.int64))
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order)


def build(tensors: dict[str, np.ndarray]) -> onnx.ModelProto:
    """`input_ids [batch, length]` to `embedding [batch, 384]`; all rows must have the same length."""
    g = Graph()
    words = g.op("Gather", g.constant(tensors["embeddings.word_embeddings.weight"]), "input_ids")
    length = g.op("Shape", "input_ids", start=1, end=2)
    positions = g.op(
        "Slice",
        g.constant(tensors["embeddings.position_embeddings.weight"]),
        g.constant(np.array([0], np.int64)),
        length,
        g.constant(np.array([0], np.int64)),
    )
    kind = g.constant(tensors["embeddings.token_type_embeddings.weight"][0])
    x = g.op("Add", g.op("Add", words, kind), positions)
    x = g.layer_norm(x, tensors, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        query = g.heads(g.dense(x, tensors, prefix + "attention.self.query"), [0, 2, 1, 3])
        key = g.heads(g.dense(x, tensors, prefix + "attention.self.key"), [0, 2, 3, 1])
        value = g.heads(g.dense(x, tensors, prefix + "attention.self.value"), [0, 2, 1, 3])
        root = g.constant(np.array(HEAD**0.5, np.float32))
        scores = g.op("Softmax", g.op("Div", g.op("MatMul", query, key), root), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", scores, value), perm=[0, 2, 1, 3])
        mixed = g.op("Reshape", mixed, g.constant(np.array([0, 0, HIDDEN], np.int64)))
        mixed = g.dense(mixed, tensors, prefix + "attention.output.dense")
        x = g.layer_norm(g.op("Add", mixed, x), tensors, prefix + "attention.output.LayerNorm")
        inner = g.gelu(g.dense(x, tensors, prefix + "intermediate.dense"))
        outer = g.dense(inner, tensors, prefix + "output.dense")
        x = g.layer_norm(g.op("Add", outer, x), tensors, prefix + "output.LayerNorm")
    mean = g.op("ReduceMean", x, axes=[1], keepdims=0)
    norm = g.op("ReduceL2", mean, axes=[1], keepdims=1)
    g.nodes.append(helper.make_node("Div", [mean, norm], ["embedding"], name="embedding"))
    graph = helper.make_graph(
        g.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model
