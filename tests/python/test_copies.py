"""copy.copy, copy.deepcopy and pickle of arrays: memory of their own."""

import copy
import pickle

import numpy as np
import plait
import pytest


def cast(given, dtype):
    f = plait.Fusion()
    f.output("y", f.input("x", list(given.shape), plait.dtype(given.dtype)).cast(dtype))
    return plait.compile(f, device="reference").run(given)["y"]


def pickles(y, protocol):
    return pickle.loads(pickle.dumps(y, protocol))


HOW = [copy.copy, copy.deepcopy, *(lambda y, p=p: pickles(y, p) for p in (0, 2, pickle.HIGHEST_PROTOCOL))]
HOW_NAMES = ["copy", "deepcopy", "pickle0", "pickle2", "pickle"]


@pytest.mark.parametrize("how", HOW, ids=HOW_NAMES)
@pytest.mark.parametrize("given", [
    np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(6)[::2], np.arange(6.0).reshape(2, 3).T, np.array(True),
    np.ones((2, 0, 3), np.float16), np.broadcast_to(np.int8(3), (2, 2)), np.array([np.nan, -0.0, np.inf]), np.uint64([2**64 - 1]),
], ids=str)
def test_a_copy_has_the_same_elements_and_memory_of_its_own(how, given):
    y = plait.array(given)
    got = how(y)
    assert type(got) is plait.Array and (got.dtype, got.shape) == (y.dtype, y.shape)
    assert np.ascontiguousarray(given).tobytes() == got.numpy().tobytes()
    assert not given.size or not np.shares_memory(got.numpy(), given)
    got.numpy()[...] = 0  # a copy may be written, also of what may not be


@pytest.mark.parametrize("how", HOW, ids=HOW_NAMES)
@pytest.mark.parametrize("dtype", [plait.bf16, plait.f8e4m3, plait.f8e5m2], ids=str)
def test_dtypes_that_numpy_lacks(how, dtype):
    y = cast(np.array([[1, 2.5], [-3, 0.1], [0, 100]], np.float32), dtype)
    for part in (y, y.T, y[1:, 0]):
        got = how(part)
        assert (got.dtype, got.shape, got.tolist()) == (dtype, part.shape, part.tolist())
    before, got = y.tolist(), how(y)
    x = np.zeros(y.shape, np.float32)
    f = plait.Fusion()
    f.output("y", f.input("x", [3, 2], plait.f32).cast(dtype))
    plait.compile(f, device="reference").run(x, out=y)
    assert y.tolist() == x.tolist() and got.tolist() == before


def test_containers_of_arrays():
    y = plait.array(np.arange(3))
    state = {"a": y, "b": [y, (y, 1)]}
    for got in (copy.deepcopy(state), pickles(state, 5)):
        assert got["a"].tolist() == [0, 1, 2] and got["b"][0] is got["a"] and got["b"][1][0] is got["a"] is not y


def test_what_cannot_be_copied_says_so():
    f = plait.Fusion()
    f.output("y", f.input("x", [4], plait.f32) + 1)
    x = plait.array(np.ones(4, np.float32))
    plait.compile(f, device="cpu").run(x, donate=True)
    for how in HOW:
        with pytest.raises(plait.UserError, match="donated"):
            how(x)


@pytest.mark.parametrize("arguments", [("f32", (3,), b"1234"), ("f32", (-1, -1), b"1234"), ("f32", (2**40, 2**40), b""), ("f33", (1,), b"1234")])
def test_pickles_that_are_damaged_are_refused(arguments):
    with pytest.raises(ValueError):
        plait._plait._array_of_bytes(*arguments)
