"""Models of ONNX and of StableHLO's text in Python."""

import pathlib
import struct

import numpy as np
import plait
import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "unit" / "import" / "stablehlo" / "examples"


def field(number, value):
    """A field of a message: an integer, or bytes."""

    def varint(n):
        out = bytearray()
        while n >= 128:
            out.append(n & 127 | 128)
            n >>= 7
        return bytes(out) + bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value(name, *dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, output):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op)


def onnx_model(op="Relu"):
    weight = field(1, 2) + field(1, 3) + field(2, 1) + field(8, "fc.weight") + field(9, struct.pack("<6f", *range(6)))
    nodes = field(1, node("MatMul", ["x", "fc.weight"], "h")) + field(1, node(op, ["h"], "y"))
    graph = nodes + field(2, "net") + field(5, weight) + field(11, value("x", "batch", 2)) + field(12, value("y", "batch", 3))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def test_onnx_runs_with_its_weights(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(onnx_model())
    x = np.array([[1, -1], [2, 0.5]], np.float32)
    for model in (path, str(path), onnx_model()):
        made = plait.import_onnx(model)
        assert made.fusion.name == "net" and made.format == "ONNX, opset 17"
        assert made.names == {"x": "x", "fc_weight": "fc.weight", "y": "y"}
        y = plait.compile(made.fusion, device="reference").run(made.weights, x=x)["y"]
        np.testing.assert_allclose(y.numpy(), np.maximum(x @ np.arange(6, dtype=np.float32).reshape(2, 3), 0))
    fusion, weights, *_ = plait.import_onnx(path, sizes={"batch": 4}, name="four")
    assert "fusion @four" in str(fusion) and "f32[4, 2]" in str(fusion) and list(weights) == ["fc_weight"]


def test_constants():
    made = plait.import_onnx(onnx_model(), constants={"x": np.ones((1, 2), np.float32)})
    assert [t.name for t in made.fusion.inputs if t.name not in made.weights] == []
    with pytest.raises(plait.UserError, match="is f64, and the model has f32"):
        plait.import_onnx(onnx_model(), constants={"x": np.ones((1, 2))})


def test_what_cannot_be_imported():
    with pytest.raises(plait.UserError, match="op NonZero") as error:
        plait.import_onnx(onnx_model("NonZero"))
    assert error.value.where == "<model>" and "importing.md" in error.value.remedy
    with pytest.raises(plait.UserError, match="no ONNX model"):
        plait.import_onnx(b"no model")
    with pytest.raises(FileNotFoundError):
        plait.import_onnx("nowhere.onnx")
    with pytest.raises(plait.UserError, match="expected `func.func`"):
        plait.import_stablehlo("no module")


def test_stablehlo_is_read_from_text_and_files():
    path = EXAMPLES / "layer_norm.mlir"

    class Lowered:
        def as_text(self):
            return path.read_text()

    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=s).astype(np.float32) for s in ((3, 8), (8,), (8,)))
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b
    for text in (path, path.read_text(), Lowered()):
        made = plait.import_stablehlo(text)
        got = plait.compile(made.fusion, device="reference").run(x, w, b)["result"]
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-5)


def test_jax_lowers_what_is_imported():
    jax = pytest.importorskip("jax")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = plait.import_stablehlo(jax.jit(lambda a: jax.nn.softmax(a, -1)).lower(x))
    got = plait.compile(made.fusion, device="reference").run(x)["result"]
    np.testing.assert_allclose(got.numpy(), np.asarray(jax.nn.softmax(x, -1)), rtol=1e-6)
