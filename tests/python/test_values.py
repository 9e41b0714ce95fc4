"""Values of arrays: text, indices, iteration, lists and numbers, as NumPy's."""

import numpy as np
import plait
import pytest

BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 4


def given_type(given):
    return f"{plait.dtype(given.dtype).name.rstrip('_')}{list(given.shape)}"


@pytest.mark.parametrize("given, text", [
    (np.array([[1, 2.5], [-3, 10]], np.float32), "plait.Array([[  1, 2.5],\n             [ -3,  10]], f32[2, 2])"),
    (np.array(7), "plait.Array(7, i64[])"), (np.ones((2, 0)), "plait.Array([], f64[2, 0])"),
    (np.array([True, False]), "plait.Array([ true, false], bool[2])"),
    (np.array([0.1, np.nan, -np.inf], np.float32), "plait.Array([ 0.1,  nan, -inf], f32[3])"),
    (np.zeros((1, 2, 2), np.int8), "plait.Array([[[0, 0],\n              [0, 0]]], i8[1, 2, 2])"),
    (np.zeros((2, 1, 1), np.int8), "plait.Array([[[0]],\n\n             [[0]]], i8[2, 1, 1])"),
    (np.arange(1001), "plait.Array([   0,    1,    2, ...,  998,  999, 1000], i64[1001])"),
    (np.arange(6).reshape(2, 3).T, "plait.Array([[0, 3],\n             [1, 4],\n             [2, 5]], i64[3, 2])"),
])
def test_text(given, text):
    assert repr(plait.array(given)) == text
    values = text.removeprefix("plait.Array(").removesuffix(f", {given_type(given)})")
    assert str(plait.array(given)).split() == values.split()


def test_long_rows_are_broken_and_large_arrays_shortened():
    lines = repr(plait.array(np.arange(100))).split("\n")
    assert len(lines) > 3 and max(map(len, lines)) <= 100 and all(line.startswith(" " * 13) for line in lines[1:])
    assert repr(plait.array(np.arange(1000))).count(",") == 1000
    text = repr(plait.array(np.zeros((60, 60, 60), np.int8)))
    assert text.count("0,") + text.count("0]") < 6**3 + 10 and text.count("...") > 1
    # The extents may be of more elements than memory has.
    large = plait.array(np.broadcast_to(np.int8(1), (3 * 10**9,)))
    assert repr(large) == "plait.Array([1, 1, 1, ..., 1, 1, 1], i8[3000000000])"


@pytest.mark.parametrize("index", [
    0, -1, (0, 1), (1, slice(None, None, 2)), slice(1, None), (Ellipsis, 2), (None, 0), (slice(0, 0),), (0, Ellipsis, 1),
    Ellipsis, (slice(-2, None), 0, slice(1, 100)), (slice(None), None, 2, None), np.int64(1), (slice(5, 2), 0),
    (1, 2, 3, Ellipsis), (), (0, None),
])
@pytest.mark.parametrize("base", [BASE, BASE.transpose(2, 0, 1), BASE[:, ::2]], ids=["dense", "turned", "gaps"])
def test_a_part_is_what_numpy_takes(base, index):
    try:
        want = base[index]
    except IndexError:
        with pytest.raises(IndexError):
            plait.array(base)[index]
        return
    got = plait.array(base)[index]
    assert got.shape == want.shape and got.numpy().tolist() == want.tolist() == got.tolist()
    if want.size:
        assert np.shares_memory(np.asarray(got), base)


def test_all_indices_give_a_number():
    for base in (BASE, (BASE * 4).astype(np.uint8), BASE > 2, np.array([[[2**63]]], np.uint64), np.array([[[-2**63]]])):
        got, want = plait.array(base)[0, -1, 0], base[0, -1, 0].item()
        assert got == want and type(got) is type(want)


@pytest.mark.parametrize("index, error, words", [
    (2, IndexError, "index 2 is out of bounds for dim 0 of extent 2"), (-3, IndexError, "index -3"),
    ((0, 0, 4), IndexError, "dim 2 of extent 4"), ((0, 0, 0, 0), IndexError, "too many indices for an array of 3 dims"),
    ((Ellipsis, Ellipsis), IndexError, "one `...`"), (slice(None, None, -1), ValueError, "negative strides"),
    (slice(0, 1, 0), ValueError, "zero"), (2**70, IndexError, "index"), ("a", TypeError, "y.numpy"), ([0, 1], TypeError, "y.numpy"),
    (True, TypeError, "y.numpy"), (1.0, TypeError, "y.numpy"), (np.array([0, 1]), TypeError, "only integer"),
])
def test_indices_that_are_refused(index, error, words):
    with pytest.raises(error, match=words):
        plait.array(BASE)[index]


def test_iteration_and_length():
    y = plait.array(BASE)
    assert len(y) == 2 and [part.tolist() for part in y] == BASE.tolist() and list(plait.array(np.arange(3))) == [0, 1, 2]
    first, second = y
    assert second.shape == (3, 4) and 5 in plait.array(np.arange(6)) and 7 not in plait.array(np.arange(6))
    assert len(plait.array(np.ones((0, 3)))) == 0 and list(plait.array(np.ones((0, 3)))) == []
    for call in (len, iter, list):
        with pytest.raises(TypeError, match=r"item\(\) is its number"):
            call(plait.array(np.array(1.5)))


def test_an_array_of_one_element_is_a_number():
    for given in (np.array(1.5), np.array([[1.5]])):
        y = plait.array(given)
        assert float(y) == y.item() == 1.5 and int(y) == 1 and bool(y) and type(y.item()) is float
    assert not plait.array(np.zeros(1)) and plait.array(np.array(1.5)).tolist() == 1.5
    for call in (bool, float, int, plait.Array.item):
        for given in (np.ones(2), np.ones(0)):
            with pytest.raises(ValueError, match="element"):
                call(plait.array(given))


def test_numpy_takes_arrays_that_lend_no_buffer():
    f = plait.Fusion()
    f.output("y", f.input("x", [3], plait.f32).cast(plait.bf16))
    y = plait.compile(f).run(np.array([1, 2.5, 0.1], np.float32))["y"]
    assert repr(y) == "plait.Array([  1, 2.5, 0.1], bf16[3])" and y[1] == 2.5
    assert np.asarray(y).dtype == np.float32 and np.array(y, np.float64).tolist() == y.tolist() == [1, 2.5, 0.10009765625]
    assert (np.ones(3) + y).tolist() == [2, 3.5, 1.10009765625]
