"""Parts of a graph's tensor by indices, T, mT and astype, against NumPy's."""

import numpy as np
import plait
import pytest

X = np.arange(5 * 6 * 4, dtype=np.float32).reshape(5, 6, 4)
KEYS = [np.s_[0], np.s_[-1], np.s_[4, 5, 3], np.s_[...], np.s_[:], np.s_[None], np.s_[..., None, 0], np.s_[:, 1:3, ::2],
        np.s_[1:-1], np.s_[-2:], np.s_[-9:9], np.s_[3:1], np.s_[::-1], np.s_[::-2], np.s_[::3], np.s_[:, 4:1:-2],
        np.s_[:, ::-1, ::-3], np.s_[0, ..., -1], np.s_[None, :, None, 2], np.s_[:, 1:4:-1], np.s_[:, -1:-9:-2],
        np.s_[np.int64(2), :, np.int32(-2)], np.s_[()], np.s_[2:100, -100:2]]


@pytest.mark.parametrize("shape", [[5, 6, 4], ["n", 6, 4]], ids=["numbers", "names"])
def test_parts_are_numpys(shape):
    f = plait.Fusion("f")
    x = f.input("x", shape, plait.f32)
    for i, key in enumerate(KEYS):
        f.output(f"y{i}", plait.ops.set(x[key]))
    got = plait.compile(f, device="cpu").run(X)
    for i, key in enumerate(KEYS):
        np.testing.assert_array_equal(got[f"y{i}"].numpy(), X[key], err_msg=str(key))


def test_ops_of_a_part():
    f = plait.Fusion("f")
    x = f.input("x", ["n", 6, 4], plait.f32)
    assert x[:] is x and x[...] is x and x[:, :] is x and x[()] is x and len(f.tensors) == 1
    x[1:, None, 2]
    assert [str(line).split(" = ", 1)[1] for line in str(f).splitlines() if " = " in line] == [
        "slice(%x, dim = 0, start = 1, stop = n, step = 1)", "slice(%slice, dim = 1, start = 2, stop = 3, step = 1)",
        "squeeze(%slice_1, dims = [1])", "unsqueeze(%squeeze, dims = [1])"]


def test_sizes_as_indices():
    f = plait.Fusion("f")
    x = f.input("x", ["n", 2], plait.f32)
    n = x.shape[0]
    f.output("last", plait.ops.set(x[n - 1]))
    f.output("half", plait.ops.set(x[n // 2 :]))
    f.output("inner", plait.ops.set(x[1 : n - 1]))
    program = plait.compile(f, device="cpu")
    for rows in (1, 2, 5):
        values = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        got = program.run(values)
        for name, want in [("last", values[-1]), ("half", values[rows // 2 :]), ("inner", values[1 : rows - 1])]:
            np.testing.assert_array_equal(got[name].numpy(), want)


def test_a_run_sees_what_lies_outside():
    for key in (3, -4):
        f = plait.Fusion("f")
        f.output("y", f.input("x", ["n", 2], plait.f32)[key] * 2)
        program = plait.compile(f, device="cpu")
        assert program.run(np.ones((4, 2), np.float32))["y"].tolist() == [2, 2]
        with pytest.raises(plait.BoundsError):
            program.run(np.ones((3, 2), np.float32))


def test_what_is_refused():
    f = plait.Fusion("f")
    x, k = f.input("x", ["n", 6], plait.f32), f.input("k", [2], plait.i64)
    for key, error, words in [
            (np.s_[:, 6], IndexError, r"index 6 is out of bounds for dim 1 of %x: f32\[n, 6\]"),
            (np.s_[:, -7], IndexError, "index -7 is out of bounds"), (np.s_[0, 0, 0], IndexError, "too many indices: .* 2 dims"),
            (np.s_[..., ...], IndexError, "one `...`"), (k, TypeError, "plait.ops.index_select and gather"),
            ([0, 1], TypeError, "indices of %x: .* are integers, sizes, slices"), (True, TypeError, "are integers"),
            (1.5, TypeError, "are integers"), ("n", TypeError, "are integers"), (np.ones(2), TypeError, "are integers"),
            (np.s_[::0], ValueError, "step of a slice is not 0"), (np.s_[k:], TypeError, "plait.ops.slice_at takes those"),
            (np.s_[1.5:], TypeError, "ends of a slice"), (np.s_[::2.5], TypeError, "integer"),
            (np.s_[3:0:-1], TypeError, r"below 0 and ends needs numbers, and dim 0 of %x: .* is n: take x\[start:stop\]")]:
        with pytest.raises(error, match=words):
            x[key]
    assert len(f.tensors) == 2, "nothing stays of what is refused"
    with pytest.raises(TypeError, match="plait.ops.split"):
        list(x)


def test_transposes_and_dtypes():
    f = plait.Fusion("f")
    x = f.input("x", ["n", 6, 4], plait.f32)
    v, s = f.input("v", [3], plait.f32), f.input("s", [], plait.f32)
    assert (x.T.type, x.mT.type) == ("f32[4, 6, n]", "f32[n, 4, 6]") and v.T is v and s.T is s
    assert (x @ x.mT).type == "f32[n, 6, 6]"
    for few in (v, s):
        with pytest.raises(TypeError, match="has no matrices to transpose: mT takes 2 dims or more"):
            few.mT
    for dtype in ("bf16", plait.bf16):
        assert x.astype(dtype).type == "bf16[n, 6, 4]"
    assert x.astype(np.int32).type == x.astype(dtype=np.dtype("int32")).type == "i32[n, 6, 4]"
    with pytest.raises(plait.UserError, match="`f33` is no dtype"):
        x.astype("f33")
    f.output("y", plait.ops.set(x.T))
    np.testing.assert_array_equal(plait.compile(f, device="cpu").run(X, np.ones(3, np.float32), np.float32(0))["y"].numpy(), X.T)
