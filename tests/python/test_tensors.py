"""Tensors of a graph in Python: operators, comparisons, methods, and what they refuse since they hold no numbers."""

import operator

import numpy as np
import plait
import pytest


@pytest.fixture
def f():
    return plait.Fusion("f")


@pytest.fixture
def x(f):
    return f.input("x", [4], plait.f32)


@pytest.fixture
def i(f):
    return f.input("i", [4], plait.i32)


FLOATS, WHOLE = np.array([-2.5, -1, 0.5, 3], np.float32), np.array([-5, 0, 3, 12], np.int32)


def test_every_operator_computes_what_numpys_does(f, x, i):
    floats = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.eq,
              operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
    whole = [*floats, operator.and_, operator.or_, operator.xor]
    want, count = {}, 0

    def result(made, expected):
        nonlocal count
        count += 1
        want[f.output(f"y{count}", made).name] = expected

    for tensor, values, number, functions in ((x, FLOATS, 2.0, floats), (i, WHOLE, 3, whole)):
        for function in functions:
            result(function(tensor, number), function(values, values.dtype.type(number)))
            if function not in (operator.truediv, operator.floordiv, operator.mod):
                result(function(number, tensor), function(values.dtype.type(number), values))
    one = f.input("one", [4], plait.f32)
    result(5.0 / one, np.float32(5) / np.float32([1, 2, 4, 8]))
    result(7.0 // one, np.float32([7, 3, 1, 0]))
    result(7.0 % one, np.float32([0, 1, 3, 7]))
    result(x**2, FLOATS**2)
    result(2**one, np.float32([2, 4, 16, 256]))
    result(i << 2, WHOLE << 2)
    result(i >> 1, WHOLE >> 1)
    few = f.input("few", [4], plait.i32)
    result(1 << few, np.int32([1, 2, 4, 8]))
    result(64 >> few, np.int32([64, 32, 16, 8]))
    result(-x, -FLOATS)
    result(abs(i), abs(WHOLE))
    result(~i, ~WHOLE)
    result(~(x > 0) & (x != -1), ~(FLOATS > 0) & (FLOATS != -1))
    result(x.reshape([2, 2]) @ one.reshape([2, 2]), FLOATS.reshape(2, 2) @ np.float32([[1, 2], [4, 8]]))
    assert +x is x
    got = plait.compile(f).run(x=FLOATS, i=WHOLE, one=np.float32([1, 2, 4, 8]), few=np.arange(4, dtype=np.int32))
    assert len(got) == count > 45
    for name, values in want.items():
        assert got[name].numpy().dtype.kind == values.dtype.kind, f.find(name)
        np.testing.assert_allclose(got[name].numpy(), values, rtol=1e-6, err_msg=repr(f.find(name)))


def test_numbers_of_numpy_stand_on_either_side(f, x):
    for number in (np.float32(2), np.float64(2), np.int64(2), np.uint8(2), np.ones(()), plait.array(np.ones(()))):
        for made, op in ((x + number, "add"), (number - x, "sub"), (number < x, "gt"), (x == number, "eq")):
            assert isinstance(made, plait.Tensor) and f" = {op}(" in repr(made)


def test_arrays_are_refused_beside_a_tensor(f, x):
    for array in (np.ones(4), np.ones((1, 1)), plait.array(np.ones(4))):
        for call in (lambda: array + x, lambda: x + array, lambda: x == array, lambda: array == x, lambda: x @ array,
                     lambda: array @ x, lambda: x < array):
            with pytest.raises(TypeError, match=r"%x: f32\[4\] is a tensor of a graph|unsupported operand"):
                call()
    with pytest.raises(TypeError, match="make the array an input"):
        np.ones(4) + x
    with pytest.raises(TypeError, match="arrays are what run"):
        np.asarray(x)
    with pytest.raises(TypeError, match=r"numpy.exp computes with arrays, and %x: f32\[4\] is a tensor of a graph: plait.ops.exp adds it"):
        np.exp(x)
    assert len(f.tensors) == 1


def test_functions_of_numpy_name_those_of_plait(f, x):
    for call, words in [
            (lambda: np.add(x, x), "numpy.add .*: plait.ops.add adds it to the graph"),
            (lambda: np.maximum(x, 2.0), "numpy.maximum .*: plait.ops.max adds"), (lambda: np.arctan2(x, x), "plait.ops.atan2"),
            (lambda: np.exp(x, out=np.ones(4)), "plait.ops.exp"), (lambda: np.add.reduce(x), "plait.ops.add"),
            (lambda: np.gcd(x, 2), "numpy.gcd .*: plait.ops has the functions of graphs")]:
        with pytest.raises(TypeError, match=words):
            call()
    assert len(f.tensors) == 1


def test_unknown_names_get_a_guess(x):
    for holder, of, names in [
            (plait.ops, "plait.ops", {"layernorm": "layer_norm", "maximum": "max", "minimum": "min", "concatenate": "cat",
                                      "permute_dims": "permute", "astype": "cast", "average": "mean", "clip": "clamp",
                                      "arange": "iota", "softmx": "softmax", "LogSoftmax": "log_softmax"}),
            (x, "plait.Tensor", {"view": "reshape", "ndim": "rank", "size": "shape", "clamp_min": "max", "sotfmax": "softmax"})]:
        for name, meant in names.items():
            with pytest.raises(AttributeError, match=f"^{of} has no `{name}`; did you mean `{meant}`[?]$"):
                getattr(holder, name)
        with pytest.raises(AttributeError, match="has no `qqqqq`$"):
            holder.qqqqq
    assert not hasattr(x, "__dlpack__") and not hasattr(plait.ops, "__path__")
    from plait._names import SYNONYMS
    known = set(plait.ops.__all__)
    assert {meant for meant in SYNONYMS.values()} <= known and not set(SYNONYMS) & known


def test_a_condition_is_not_known_yet(x):
    for call in (lambda: bool(x > 0), lambda: 1 if x > 0 else 2, lambda: not x, lambda: 0 < x < 1, lambda: x in [x + 1],
                 lambda: x and 1, lambda: max(x, x + 1)):
        with pytest.raises(TypeError, match=r"true or false only when a program runs: take plait.ops.where"):
            call()


def test_a_number_is_not_known_yet(x):
    for call in (lambda: float(x), lambda: int(x)):
        with pytest.raises(TypeError, match=r"%x: .* is a tensor of a graph and has no number: plait.ops.cast"):
            call()


def test_tensors_are_known_by_identity(f, x):
    y = x + 1
    assert f.find("x") is x and f.inputs[0] is x and y.fusion == f
    assert {x: 1, y: 2}[f.find("x")] == 1 and len({x, y, f.find(y.name)}) == 2 and x in [x, y]
    assert isinstance(x == y, plait.Tensor) and isinstance(x == x, plait.Tensor)
    assert (x == None) is False and (x != None) is True and (x == "x") is False  # noqa: E711: what is no operand
    name = y.name
    del y
    assert f.find(name).name == name and hash(f.find(name)) == hash(f.find(name))


def test_lengths_and_iteration(f, x):
    assert len(x) == 4 and len(f.input("wide", [0, 3], plait.f32)) == 0
    with pytest.raises(TypeError, match="shape.0. is its size"):
        len(f.input("n", ["n", 4], plait.f32))
    with pytest.raises(TypeError, match="no dims"):
        len(f.input("s", [], plait.f32))
    with pytest.raises(TypeError, match="plait.ops.split"):
        list(x)
    with pytest.raises(TypeError, match="plait.ops.any"):
        3 in x  # noqa: B015
    with pytest.raises(TypeError, match="plait.ops.split"):
        a, b = x


def test_methods_are_the_functions():
    f, g = plait.Fusion("f"), plait.Fusion("f")
    for fusion in (f, g):
        x = fusion.input("x", ["n", 6], plait.f32)
        if fusion is f:
            y = x.sum(0, keepdim=True).reshape([-1]).exp().clamp(0, 9).cast("bf16").softmax(dim=-1)
            z = x.transpose(0, 1).matmul(x).var_mean([1])[0].max(1.0)
        else:
            ops = plait.ops
            y = ops.softmax(ops.cast(ops.clamp(ops.exp(ops.reshape(ops.sum(x, [0], True), [-1])), 0, 9), "bf16"), -1)
            z = ops.max(ops.var_mean(ops.matmul(ops.transpose(x, 0, 1), x), [1])[0], 1.0)
        fusion.output("y", y)
        fusion.output("z", z)
    assert str(f) == str(g)
    with pytest.raises(plait.UserError, match="there is no dim 7"):
        x.sum(7)
    for attribute in ("name", "dtype", "shape", "rank", "type", "layout", "reason", "fusion"):
        assert not callable(getattr(x, attribute)), attribute
