"""Values of arrays: text, indices, iteration, lists, numbers and operators, as NumPy's."""

import operator
import re
import subprocess
import sys

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


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod,
          operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


def same(got, want):
    """Type, dtype and every element, NaNs as well; of tuples, each."""
    if isinstance(want, tuple):
        return all(map(same, got, want))
    return type(got) is type(want) and got.dtype == want.dtype and np.array_equal(got, want, equal_nan=want.dtype.kind == "f")


@pytest.mark.parametrize("operation", BINARY, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_operators_are_numpys(operation, dtype):
    a, b = (np.arange(24).reshape(2, 3, 4) % 7 + 1).astype(dtype), (np.arange(24).reshape(2, 3, 4) % 5 + 1).astype(dtype)
    x, y = plait.array(a), plait.array(b)
    for other, mine in ((y, b), (b, b), (3, 3), (np.float32(2), np.float32(2)), (b[0, 0], b[0, 0]), (y[:, :1], b[:, :1])):
        assert same(operation(x, other), operation(a, mine))
        assert same(operation(other, x), operation(mine, a))
    assert same(operation(x.T, 2), operation(a.T, 2))
    scalar = plait.array(np.array(3, dtype))
    assert same(operation(scalar, 2), operation(np.array(3, dtype), 2))


@pytest.mark.parametrize("operation", BITS, ids=lambda each: each.__name__)
def test_operators_of_bits_are_numpys(operation):
    a, b = np.arange(6, dtype=np.int32), np.array([1, 0, 2, 3, 1, 2], np.int32)
    assert same(operation(plait.array(a), plait.array(b)), operation(a, b))
    assert same(operation(5, plait.array(b)), operation(5, b)) and same(operation(plait.array(a), 1), operation(a, 1))
    assert (plait.array(a > 2) & (plait.array(a) < 5)).tolist() == [False, False, False, True, True, False]
    with pytest.raises(TypeError, match="float32|not supported"):
        operation(plait.array(np.ones(2, np.float32)), 1)


def test_operators_of_one_array_and_products_are_numpys():
    y = plait.array(BASE - 2)
    for operation in (operator.neg, operator.pos, operator.abs):
        assert same(operation(y), operation(BASE - 2))
    assert same(~plait.array(np.arange(3)), ~np.arange(3)) and same(~plait.array(BASE > 1), ~(BASE > 1))
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = plait.array(a)
    assert same(x @ x.T, a @ a.T) and same(a @ x.T, a @ a.T) and same(x @ a.T, a @ a.T) and same(x @ x[0], a @ a[0])
    with pytest.raises(ValueError, match="matmul"):
        x @ x
    before, y = y, y
    y += 1
    assert type(y) is np.ndarray and before.tolist() == (BASE - 2).tolist()


def test_equality_does_not_lie_and_hashes_are_of_the_object():
    x, again = plait.array(np.array([1, 2, 1])), plait.array(np.array([1, 2, 1]))
    assert (x == 1).tolist() == [True, False, True] and (x != 1).tolist() == [False, True, False]
    assert (1 == x).tolist() == [True, False, True] and (x == again).all() and (x == None).tolist() == [False] * 3  # noqa: E711
    with pytest.raises(ValueError, match="truth value"):
        bool(x == again)
    assert hash(x) == hash(x) and len({x, again, x}) == 2 and {x: "x"}[x] == "x" and again not in {x: "x"}
    assert x in [x] and 2 in x and 3 not in x
    assert 0.25 in plait.array(BASE) and 99 not in plait.array(BASE) and 1 in plait.array(np.array(1))


NARROW = [plait.bf16, plait.f8e4m3, plait.f8e5m2]


@pytest.mark.parametrize("dtype", [plait.f16, plait.f32, plait.f64, *NARROW], ids=str)
def test_comparisons_and_membership_are_of_the_values_that_the_dtype_holds(dtype):
    f = plait.Fusion()
    f.output("y", f.input("x", [2, 2], plait.f64).cast(dtype))
    given = np.array([[0.1, 1], [-2, 3]])
    y = plait.compile(f, device="reference").run(given)["y"]
    assert (y == 0.1).tolist() == [[True, False], [False, False]] and (0.1 == y).any() and 0.1 in y and 0.1 in y[0] and 4 not in y
    assert (y != 1).tolist() == [[True, False], [True, True]] and (y == y).all() and (y == y.T).tolist() == np.eye(2, dtype=bool).tolist()
    assert (y < 1000).all() and (y <= 1).tolist() == [[True, True], [True, False]] and (2 > y).sum() == 3 and (y >= -2).all()
    assert (y == None).tolist() == [[False] * 2] * 2 and (y != None).all() and None not in y and "1" not in y  # noqa: E711
    assert (y == y.numpy()).all() and (y.numpy() == y).all() and [1, 1] in y and operator.indexOf(y[1], 3) == 1
    assert 10**400 not in y and float("nan") not in y and 1e300 not in y and -2 in y.T and np.float64(-2) in y and y[0, 1] in y


def test_membership_of_integers_is_exact():
    y = plait.array(np.array([[2**63 - 1, -1], [0, 5]]))
    assert 2**63 - 1 in y and 2**63 not in y and 2**63 - 2 not in y and 5.0 in y and 5.5 not in y and True not in y
    assert True in plait.array(np.array([False, True])) and 2**64 - 1 in plait.array(np.array([2**64 - 1], np.uint64))
    assert 1 not in plait.array(np.ones((2, 0))) and y in [y]


class Foreign:
    """An array of another library, with operators of its own."""

    def __init__(self, says=NotImplemented):
        self.says = says
        self.array = np.ones(3, np.float32)

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def _said(self, other):
        return self.says

    __add__ = __radd__ = __eq__ = __lt__ = __gt__ = __matmul__ = __rmatmul__ = __rdivmod__ = __iadd__ = _said
    __hash__ = None


@pytest.mark.parametrize("operation", [operator.add, operator.eq, operator.lt, operator.gt, operator.matmul, divmod, operator.iadd],
                         ids=lambda each: each.__name__)
def test_arrays_of_other_libraries_decide_what_operators_are(operation):
    x = plait.array(np.ones(3, np.float32))
    assert operation(x, Foreign("theirs")) == "theirs"
    for call in (lambda: operation(x, Foreign()), lambda: operation(Foreign(), x) if operation is not divmod else x - Foreign()):
        with pytest.raises(TypeError, match=r"the other operand is a .*\.Foreign: give the plait.Array .*from_dlpack\(y\)"):
            call()
    with pytest.raises(TypeError, match="Foreign"):
        Foreign() in x  # noqa: B015


def test_operators_beside_lists_and_in_place():
    a = np.arange(3, dtype=np.float32)
    x = plait.array(a)
    assert same([1, 2, 3] + x, [1, 2, 3] + a) and same(x + [1, 2, 3], a + [1, 2, 3]) and same(x * (1, 2, 3), a * (1, 2, 3))
    values = np.ones(3, np.float32)
    values += x
    assert type(values) is np.ndarray and values.tolist() == [1, 2, 3]
    values = [1, 2, 3]
    values += x
    assert same(values, [1, 2, 3] + a)


def test_extents_and_the_transpose():
    for base in (BASE, BASE[0], np.array(2.0), np.ones((2, 0, 3))):
        y = plait.array(base)
        assert (y.ndim, y.size, y.T.shape) == (base.ndim, base.size, base.T.shape) and y.T.tolist() == base.T.tolist()
    turned = plait.array(BASE).T
    assert np.shares_memory(turned.numpy(), BASE) and turned.T.strides == plait.array(BASE).strides


def test_operators_that_numpy_does_not_have_say_so():
    x, f = plait.array(BASE), plait.Fusion()
    tensor = f.input("x", [4], plait.f32)
    for call in (lambda: x + tensor, lambda: tensor + x, lambda: x == tensor, lambda: tensor == x, lambda: x @ tensor,
                 lambda: tensor in x, lambda: tensor in x[0, 0]):
        with pytest.raises(TypeError, match="make the array an input of the fusion"):
            call()
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(5)
    with pytest.raises(TypeError):
        x + "1"
    f.output("y", tensor.cast(plait.bf16))
    y = plait.compile(f, device="reference").run(np.ones(4, np.float32))["y"]
    for call in (lambda: y * 2, lambda: 2 * y, lambda: -y, lambda: x[0, 0] + y, lambda: divmod(y, 2)):
        with pytest.raises(TypeError, match=r"NumPy's, which has no bf16: take those of y.numpy\(\)"):
            call()
    assert 1 in y and (y.numpy() * 2).tolist() == [2] * 4 and y.T.dtype == plait.bf16 and y.size == 4


def test_operators_without_numpy_say_what_to_install():
    script = ("import sys; sys.modules['numpy'] = None\nimport array, plait\ny = plait.array(array.array('f', [1, 2]))\n"
              "assert 2 in y and y.T.tolist() == [1, 2] and len({y, y}) == 1\n"
              "for call in (lambda: y * 2, lambda: y == 2, lambda: -y, lambda: 2 - y):\n"
              "    try:\n        call()\n    except plait.MissingError as e:\n        print(e.what, e.remedy)\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    said = "operators of arrays are NumPy's, which is not installed install numpy, or give the array"
    assert [line[:len(said)] for line in done.stdout.splitlines()] == [said] * 4, done.stderr


def test_a_donated_array_has_no_operators():
    f = plait.Fusion()
    f.output("y", f.input("x", [4], plait.f32) + 1)
    x = plait.array(np.ones(4, np.float32))
    plait.compile(f, device="cpu").run(x, donate=True)
    for call in (lambda: x + 1, lambda: x == 1, lambda: x.T, lambda: 1 in x, lambda: -x):
        with pytest.raises(plait.UserError, match="donated"):
            call()


def test_one_element_is_formatted_as_a_number():
    loss = plait.array(np.array(2.0, np.float32))
    assert f"{loss:.3f} {loss} {loss:>6} {plait.array(np.array([[7]])):03d}" == "2.000 2    2.0 007"
    y = plait.array(np.ones(2, np.float32))
    assert f"{y}" == str(y) == "[1, 1]"
    with pytest.raises(TypeError, match=r"`.3f` formats one number, and the array has 2: .*tolist"):
        f"{y:.3f}"
    with pytest.raises(ValueError, match="format"):
        f"{loss:d}"


def test_what_arrays_do_not_have_says_what_to_write():
    y = plait.array(np.ones(2, np.float32))
    with pytest.raises(TypeError, match=r"written through NumPy, y.numpy\(\)\[index\] = value"):
        y[0] = 1
    for name, words in (("sum", r"y.numpy\(\).sum, "), ("cuda", r"y.numpy\(\), torch.from_dlpack\(y\)"), ("__cuda_array_interface__", "no `__cuda")):
        with pytest.raises(AttributeError, match=f"plait.Array has no `{name}`|{words}") as caught:
            getattr(y, name)
        assert re.search(words, str(caught.value)) and not hasattr(y, name)


def test_numpy_is_told_of_a_copy():
    f = plait.Fusion()
    f.output("y", f.input("x", [2], plait.f32).cast(plait.bf16))
    y = plait.compile(f, device="reference").run(np.ones(2, np.float32))["y"]
    with pytest.raises(ValueError, match="only a copy"):
        np.asarray(y, copy=False)
    assert np.array(y, copy=True).tolist() == [1, 1] and np.shares_memory(np.asarray(plait.array(BASE), copy=False), BASE)
    assert not np.shares_memory(np.array(plait.array(BASE), copy=True), BASE)
