"""plait.Size: what shapes of a graph hold of extents with names, and what can be computed with it."""

import copy
import math
import pickle

import numpy as np
import plait
import pytest


@pytest.fixture
def f():
    return plait.Fusion("f")


@pytest.fixture
def x(f):
    return f.input("x", ["n", 6, "m"], plait.f32)


def test_sizes_are_their_text(f, x):
    n = x.shape[0]
    assert x.shape == ("n", 6, "m") and [type(each) for each in x.shape] == [plait.Size, int, plait.Size]
    assert n == "n" and "n" == n and n != "m" and hash(n) == hash("n") and {n: 1}["n"] == 1
    assert f"{n} rows" == "n rows" and "%s rows" % n == "n rows" and str(n) == "n" and plait.Size("n") == n
    for same in (pickle.loads(pickle.dumps(n)), copy.deepcopy(n)):
        assert same == n and type(same) is plait.Size
    assert f.input("z", x.shape, plait.f32).shape == x.shape


def test_arithmetic_makes_sizes_and_numbers(x):
    n, _, m = x.shape
    for made, text in [
            (n + 1, "n + 1"), (1 + n, "n + 1"), (n * 2, "2*n"), (2 * n, "2*n"), (n - 1, "n - 1"), (7 - n, "-n + 7"),
            (n // 2, "floordiv(n, 2)"), (7 // n, "floordiv(7, n)"), (n % 4, "mod(n, 4)"), (-n, "-n"), (+n, "n"),
            (n + m, "m + n"), (n * "m", "m*n"), ("m" * n, "m*n"), ((n + 1) * (m - 2), "m*n + m - 2*n - 2"), ("k" + n, "k + n"),
            ("k" % n, "mod(k, n)"), (n * np.int64(3), "3*n"), (np.int64(3) * n, "3*n"), ((4 * n) // 4, "n"),
            (n * 3 - 2 * n, "n"), (math.prod(x.shape), "6*m*n"), (sum(x.shape), "m + n + 6")]:
        assert made == text and type(made) is plait.Size, (made, text)
    for made, number in [(n - n, 0), (n + 3 - n, 3), (n * 0, 0), (n * 2 % 2, 0), (plait.Size("6") // 4, 1)]:
        assert made == number and type(made) is int, (made, number)


def test_sizes_are_taken_where_extents_are(f, x):
    n, _, m = x.shape
    assert x.reshape([n * m, 6]).shape == (n * m, 6) and x.reshape([-1, m]).shape == (6 * n, m)
    assert f.input("w", [2 * n + 1, n // 2], plait.f32).shape == (2 * n + 1, n // 2)
    assert plait.ops.slice(x, 0, 0, n - 1).shape[0] == "max(0, n - 1)" and plait.ops.full(f, [n % 3], 1.0, plait.f32).rank == 1


def test_a_program_computes_them():
    @plait.jit(shapes={"x": ["n", "m"]})
    def f(x):
        n, m = x.shape
        mean = x.sum(0) / n
        return mean, plait.ops.slice(x.reshape([n * m]), 0, 0, m * (n - 1)), n - x.sum(), plait.ops.max(x, n)

    for rows in (1, 3, 4):
        x = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        mean, most, less, larger = f(x)
        np.testing.assert_allclose(mean.numpy(), x.mean(0), rtol=1e-6)
        np.testing.assert_array_equal(most.numpy(), x.reshape(-1)[: 2 * (rows - 1)])
        assert float(less) == rows - x.sum()
        np.testing.assert_array_equal(larger.numpy(), np.maximum(x, rows))
    assert len(f.programs()) == 1


def test_beside_a_tensor_it_has_the_tensors_dtype(f, x):
    n = x.shape[0]
    for dtype, result in [(plait.f32, "f32"), (plait.bf16, "bf16"), (plait.i8, "i8"), (plait.u8, "i64"), (plait.bool_, "i64")]:
        made = f.input(f"x_{result}_{dtype.name}", ["n"], dtype) * n
        assert made.type == f"{result}[n]", dtype
    assert (x == n).type == (n == x).type == (n < x).type == "bool[n, 6, m]" and (n / x).type == x.type
    count = len(f.tensors)
    with pytest.raises(plait.UserError, match="integers and bool only"):
        x & n
    assert len(f.tensors) == count, "nothing stays of what is refused"


def test_what_needs_the_number_says_so(x):
    n = x.shape[0]
    for call in (lambda: n / 2, lambda: 2 / n, lambda: n * 2.5, lambda: 2.5 + n, lambda: n < 3, lambda: n >= "m", lambda: 3 > n,
                 lambda: int(n), lambda: float(n), lambda: range(n), lambda: [0] * n, lambda: n**2, lambda: 2**n,
                 lambda: n & 1, lambda: round(n), lambda: abs(n), lambda: divmod(n, 2), lambda: n * np.float32(2),
                 lambda: sorted(["k", n]), lambda: math.floor(n)):
        with pytest.raises(TypeError, match=r"^`n` is a size, a number only when a program runs: .* // .*plait.ops.size\('n'"):
            call()
    for call in (lambda: "rows: " + n, lambda: n + "a b"):
        with pytest.raises(TypeError, match="is no size to compute with beside `n` .*f-strings"):
            call()
    for call in (lambda: n + None, lambda: [1] + n, lambda: np.ones(3) * n):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: n // 0, lambda: n % -2):
        with pytest.raises(ValueError, match="sizes are divided by 1 and more"):
            call()
