"""Outputs in arrays that the caller gives: which are written where they lie, which are copied, which are refused."""

import gc

import numpy as np
import plait
import pytest

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def two():
    f = plait.Fusion("f")
    x = f.input("x", ["m", "n"], plait.f32)
    f.output("y", -x)
    f.output("s", x.sum(1))
    return f


def one():
    f = plait.Fusion("f")
    f.output("y", f.input("x", ["m", "n"], plait.f32) * 2)
    return f


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_the_ways_of_giving_them(device):
    p = plait.compile(two(), device=device)
    for give in (lambda y, s: {"y": y, "s": s}, lambda y, s: {"%y": y, "s": s}, lambda y, s: [y, s], lambda y, s: (y, s),
                 lambda y, s: {"y": y, "s": None}, lambda y, s: [None, s], lambda y, s: {}, lambda y, s: None):
        y, s = np.full((3, 4), 9, np.float32), np.full(3, 9, np.float32)
        out = give(y, s)
        made = p.run(X, out=out)
        assert list(made) == ["y", "s"]
        given = {**out} if isinstance(out, dict) else dict(zip("ys", out or []))
        for name, array, want in (("y", y, -X), ("s", s, X.sum(1))):
            is_given = given.get(name, given.get("%" + name)) is not None
            np.testing.assert_array_equal(made[name].numpy(), want)
            np.testing.assert_array_equal(array, want if is_given else 9)
            assert np.shares_memory(made[name].numpy(), array) == is_given
        assert p.report["bytes_copied"] == 0
    q, y = plait.compile(one(), device=device), np.zeros((3, 4), np.float32)
    q.run(X, out=y)
    np.testing.assert_array_equal(y, 2 * X)
    q.run_local(0, X + 1, out=[y])
    np.testing.assert_array_equal(y, 2 * X + 2)


def test_an_array_that_a_run_gave_is_taken_again():
    p = plait.compile(one(), device="cpu")
    y = p.run(X)["y"]
    at = y.numpy().ctypes.data
    again = p.run(X + 1, out=y)["y"]
    assert again.numpy().ctypes.data == at
    np.testing.assert_array_equal(y.numpy(), 2 * X + 2)


def test_strided_ones_are_copied():
    p = plait.compile(one(), device="cpu")
    for room, view in ((np.full((4, 3), 9, np.float32), lambda a: a.T), (np.full((6, 9), 9, np.float32), lambda a: a[::2, 1::2])):
        y = view(room)
        made = p.run(X, out=y)["y"]
        np.testing.assert_array_equal(y, 2 * X)
        np.testing.assert_array_equal(made.numpy(), y)
        assert p.report["bytes_copied"] == 48 and (room == 9).sum() == room.size - 12
    odd = np.zeros(49, np.uint8)[1:].view(np.float32).reshape(3, 4)  # not at a multiple of an element
    p.run(X, out=odd)
    np.testing.assert_array_equal(odd, 2 * X)
    assert p.report["bytes_copied"] == 48


def test_the_memory_of_an_input():
    p = plait.compile(two(), device="cpu")
    x = X.copy()
    s = p.run(x, out={"y": x})["s"]
    np.testing.assert_array_equal(x, -X)
    np.testing.assert_array_equal(s.numpy(), X.sum(1))
    room = np.zeros((4, 4), np.float32)
    room[:3] = X
    p.run(room[:3], out={"y": room[1:]})
    np.testing.assert_array_equal(room[1:], -X)


def test_sizes_of_zero_and_bools():
    p = plait.compile(two(), device="cpu")
    for shape in ((0, 4), (3, 0), (0, 0)):
        s = np.full(shape[0], 9, np.float32)
        made = p.run(np.zeros(shape, np.float32), out=[np.zeros(shape, np.float32), s])
        assert made["y"].shape == shape and (s == 0).all()
    f = plait.Fusion("f")
    f.output("y", f.input("x", ["n"], plait.f32) > 1)
    y = np.zeros(3, bool)
    plait.compile(f, device="cpu").run(np.arange(3, dtype=np.float32), out=y)
    assert y.tolist() == [False, False, True]


def test_what_does_not_fit_is_refused_and_stays_as_it_was():
    p = plait.compile(two(), device="cpu")
    y = np.full((3, 4), 9, np.float32)
    fixed = y.copy()
    fixed.flags.writeable = False
    for out, words in [({"y": fixed}, "read-only"), ({"z": y}, "no output `z`"), ({"y": y[:2]}, r"has shape \[2, 4\], the output \[3, 4\]"),
                       ({"y": y[0]}, "expected 2 dims, got 1"), ({"y": y.astype(np.float64)}, "dtype f64 does not fit"),
                       ({"y": y, "s": y[0, :3]}, "shares memory with that of output %s"), ([y], "1 array to write into, and the fusion has 2"),
                       (y, "1 array to write into, and the fusion has 2"), ({"y": y, "%y": y}, "given twice"), ({"y": "text"}, "is no array"),
                       ({"y": np.lib.stride_tricks.as_strided(y, (3, 4), (0, 4))}, "share memory"), ({"y": y[:, ::-1]}, "stride"),
                       ([y, y, y], "3 arrays to write into"), ({"y": X.astype(">f4")}, "no dtype of plait")]:
        with pytest.raises(plait.UserError, match=words) as caught:
            p.run(X, out=out)
        assert caught.value.where and caught.value.remedy and (y == 9).all()
    p.run(X, out=[y, None])
    np.testing.assert_array_equal(y, -X)


def test_after_an_error_of_the_run_the_program_goes_on():
    f = plait.Fusion("f")
    t, i = f.input("t", ["v", 4], plait.f32), f.input("i", ["n"], plait.i64)
    f.output("y", t.index_select(i, dim=0))
    p, y = plait.compile(f, device="cpu"), np.zeros((2, 4), np.float32)
    with pytest.raises(plait.BoundsError):
        p.run(X, np.array([0, 3]), out=y)
    p.run(X, np.array([2, 0]), out=y)
    np.testing.assert_array_equal(y, X[[2, 0]])
    assert (p.run(X, np.array([1, 1]))["y"].numpy() == X[1]).all() and (y == X[[2, 0]]).all()


def test_nothing_is_kept_of_them():
    p, freed = plait.compile(one(), device="cpu"), []

    class Array(np.ndarray):
        def __del__(self):
            freed.append(1)

    y = np.zeros((3, 4), np.float32).view(Array)
    made = p.run(X, out=y)
    del y
    gc.collect()
    assert not freed and (made["y"].numpy() == 2 * X).all()
    del made
    gc.collect()
    assert freed


def test_ranks_of_this_process():
    f = plait.Fusion("f", mesh=plait.Mesh(tp="t"))
    x = f.input("x", ["m", 4], plait.f32)
    x.shard(0, "tp")
    f.output("y", x + 1)
    f.output("s", x.sum(0))
    p = plait.compile(f, device="cpu", ranks=2)
    y, s = np.zeros((3, 4), np.float32), np.zeros(4, np.float32)
    p.run(X, out=[y, s])
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(s, X.sum(0))
    x = X.copy()
    p.run(x, out={"y": x})
    np.testing.assert_array_equal(x, X + 1)


def test_an_input_named_out_comes_in_a_dict():
    f = plait.Fusion("f")
    f.output("y", -f.input("out", [2], plait.f32))
    y = np.zeros(2, np.float32)
    plait.compile(f, device="cpu").run({"out": np.ones(2, np.float32)}, out=y)
    assert y.tolist() == [-1, -1]


def adam():
    f = plait.Fusion("adam")
    p, g, m = (f.input(name, ["n"], plait.f32) for name in "pgm")
    m2 = m * 0.9 + g * 0.1
    f.output("q", p - m2 * 0.5)
    f.output("m2", m2)
    f.alias("q", "p")
    f.alias("m2", "m")
    return f


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_outputs_in_place_of_inputs(device):
    f = adam()
    assert "(%q aliases %p, %m2 aliases %m)" in str(f) and plait.parse(str(f)) == f and f.copy() == f
    program = plait.compile(f, device=device)
    p, g, m = np.ones(1000, np.float32), np.full(1000, 2, np.float32), np.zeros(1000, np.float32)
    want_p, want_m = p.copy(), m.copy()
    for _ in range(3):
        made = program.run(p, g, m)
        want_m = np.float32(0.9) * want_m + np.float32(0.1) * g
        want_p -= want_m * np.float32(0.5)
        np.testing.assert_allclose(p, want_p, rtol=1e-6)
        np.testing.assert_allclose(m, want_m, rtol=1e-6)
        assert np.shares_memory(made["q"].numpy(), p) and (g == 2).all()
    assert program.report["bytes_copied"] == (0 if device == "cpu" else 8000)
    if device == "cpu":
        assert "%q lies in the memory of %p" in program.explain("segments") and " in %p" in program.dump("program")
    else:
        assert "%q is copied to %p after the run: only kernels of CPUs" in program.explain("segments")
    wide = np.ones(2000, np.float32)
    program.run(wide[::2], g, m)
    assert (wide[1::2] == 1).all() and (wide[::2] != 1).all()
    fixed = p.copy()
    fixed.flags.writeable = False
    with pytest.raises(plait.UserError, match="read-only, and output %q ends in it"):
        program.run(fixed, g, m)
    with pytest.raises(plait.UserError, match="given other memory"):
        program.run(p, g, m, out={"q": np.ones(1000, np.float32)})
    for output, source in (("q", "g"), ("q", "x"), ("g", "p"), ("z", "p")):
        broken = adam()
        if (output, source) == ("q", "g"):
            broken.alias(output, source)  # says where it is to end instead
            continue
        with pytest.raises(plait.UserError) as caught:
            broken.alias(output, source)
        assert caught.value.remedy


def test_a_cache_is_updated_in_place():
    f = plait.Fusion("cache")
    k, new, at = f.input("k", ["b", "s", 16], plait.f32), f.input("new", ["b", 1, 16], plait.f32), f.input("at", [], plait.i64)
    f.output("k2", k.slice_update(new, 1, at=at))
    f.alias("k2", "k")
    program = plait.compile(f, device="cpu")
    cache = np.zeros((2, 8, 16), np.float32)
    for step in range(8):
        program.run(cache, np.full((2, 1, 16), step + 1, np.float32), np.array(step))
        assert (cache[:, step] == step + 1).all() and not cache[:, step + 1:].any()
    with pytest.raises(plait.BoundsError):
        program.run(cache, np.zeros((2, 1, 16), np.float32), np.array(8))
    assert program.report["bytes_copied"] == 0
