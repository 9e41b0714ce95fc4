"""Inputs whose memory a call gives up: what outputs take, what is left of the arrays, what is refused."""

import numpy as np
import plait
import pytest

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def doubled():
    f = plait.Fusion("f")
    f.output("y", f.input("x", ["m", "n"], plait.f32) * 2)
    return f


def late():
    """%y has as many bytes as %x and %z, which are read before it is written; no kernel makes it in place of them."""
    f = plait.Fusion("f")
    x, z = f.input("x", [64, 32], plait.f32), f.input("z", [32, 64], plait.f32)
    f.output("y", (x @ z).sum(1).expand([32, 64]).exp())
    return f


def given_up(array):
    for read in (lambda: array.numpy(), lambda: array.tolist(), lambda: array[0], lambda: np.asarray(array), lambda: array.to_doubles(),
                 lambda: array.__dlpack__(), lambda: array.__dlpack_device__(), lambda: array.device, lambda: plait.array(array)):
        with pytest.raises((plait.UserError, BufferError), match="donated to a run"):
            read()
    return "donated" in repr(array) and "donated" in str(array) and "donated" in array._repr_html_()


@pytest.mark.parametrize("ways", [True, "x", "%x", ["x"], ("x",), {"x"}])
def test_an_output_takes_the_memory(ways):
    p = plait.compile(doubled(), device="cpu")
    x = p.run(X)["y"]
    at = x.numpy().ctypes.data
    y = p.run(x, donate=ways)["y"]
    assert y.numpy().ctypes.data == at and p.report["bytes_donated"] == 48 and p.report["bytes_copied"] == 0
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    assert given_up(x) and x.shape == (3, 4) and x.dtype == plait.f32 and len(x) == 3
    with pytest.raises(plait.UserError, match="donated to a run") as caught:
        p.run(x)
    assert "input %x" in caught.value.where


def test_no_memory_is_taken_for_it():
    p = plait.compile(doubled(), device="cpu")

    def taken(x, **how):
        before = p.memory
        y = p.run(x, **how)["y"]
        after = p.memory
        return y, after["hits"] + after["misses"] - before["hits"] - before["misses"], after["in_use_bytes"] - before["in_use_bytes"]

    x, plain, more = taken(np.ones((512, 512), np.float32))
    assert more >= 1 << 20
    for _ in range(5):
        x, donated, more = taken(x, donate=True)
        assert donated == plain - 1 and more == 0
    assert x.numpy()[0, 0] == 64
    y, again, more = taken(x)
    assert again == plain and more >= 1 << 20 and p.report["bytes_donated"] == 0
    assert y.numpy()[0, 0] == 128 and x.numpy()[0, 0] == 64


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("poison", [False, True])
def test_memory_of_what_is_read_before_the_output_is_written(device, poison):
    p = plait.compile(late(), device=device, options={"poison": poison})
    random = np.random.default_rng(1)
    x, z = (random.integers(-1, 2, shape).astype(np.float32) / 64 for shape in ((64, 32), (32, 64)))
    want = p.run(x, z)["y"].numpy().copy()
    for names in (["z"], ["x", "z"], ["x"]):
        a, b = plait.array(x.copy()), plait.array(z.copy())
        y = p.run(a, b, donate=names)["y"]
        assert p.report["bytes_donated"] == 32 * 64 * 4
        np.testing.assert_array_equal(y.numpy(), want)
        assert given_up(a) == ("x" in names) if "x" in names else a.tolist() == x.tolist()
        assert given_up(b) == ("z" in names) if "z" in names else b.tolist() == z.tolist()


def test_where_nothing_fits_it_is_given_up_all_the_same():
    f = plait.Fusion("f")
    f.output("s", f.input("x", ["m", "n"], plait.f32).sum(1))
    p = plait.compile(f, device="cpu")
    x = plait.array(X.copy())
    np.testing.assert_array_equal(p.run(x, donate=True)["s"].numpy(), X.sum(1))
    assert given_up(x) and p.report["bytes_donated"] == 0


def test_an_output_that_kernels_cannot_write_in_place():
    f = plait.Fusion("f")
    x = f.input("x", [64, 64], plait.f32)
    f.output("y", x.permute([1, 0]) + x)
    p = plait.compile(f, device="cpu")
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    for _ in range(2):
        np.testing.assert_array_equal(p.run(x.copy(), donate=True)["y"].numpy(), x.T + x)
        assert p.report["bytes_copied"] == 0
    np.testing.assert_array_equal(p.run(x)["y"].numpy(), x.T + x)


def test_steps_of_an_optimizer():
    f = plait.Fusion("f")
    p, g, m = (f.input(name, ["n"], plait.f32) for name in "pgm")
    momentum = m * 0.5 + g
    f.output("p2", p - momentum)
    f.output("m2", momentum)
    step = plait.compile(f, device="cpu")
    weights, moments = plait.array(np.ones(1000, np.float32)), plait.array(np.zeros(1000, np.float32))
    at = {weights.numpy().ctypes.data, moments.numpy().ctypes.data}
    for _ in range(3):
        made = step.run(weights, np.ones(1000, np.float32), moments, donate=["p", "m"])
        weights, moments = made["p2"], made["m2"]
        assert step.report["bytes_donated"] == 8000
    assert {weights.numpy().ctypes.data, moments.numpy().ctypes.data} == at
    assert weights.numpy()[0] == 1 - 1 - 1.5 - 1.75 and moments.numpy()[999] == 1.75


def test_arrays_of_others_and_views_that_are_left():
    p = plait.compile(doubled(), device="cpu")
    x = X.copy()
    y = p.run(x, donate=["x"])["y"]
    assert y.numpy().ctypes.data == x.ctypes.data
    del x
    np.testing.assert_array_equal(y.numpy(), 2 * X)
    view, part = y.numpy(), y[1]  # of the same memory: undefined from here on, and there
    p.run(y, donate=True)
    assert given_up(y) and view.shape == (3, 4) and part.shape == (4,)
    assert view.sum() == view.sum() and len(part.tolist()) == 4
    strided = np.zeros((3, 8), np.float32)[:, ::2]
    assert p.run(strided, donate=True)["y"].numpy().sum() == 0
    across = np.asfortranarray(X)
    np.testing.assert_array_equal(p.run(across, donate=True)["y"].numpy(), 2 * X)


def test_what_is_refused_leaves_the_arrays_as_they_are():
    f = plait.Fusion("f")
    a, b = f.input("a", ["n"], plait.f32), f.input("b", ["n"], plait.f32)
    f.output("y", a + b)
    p = plait.compile(f, device="cpu")
    x, y = plait.array(np.ones(4, np.float32)), np.ones(4, np.float32)
    fixed = y.copy()
    fixed.flags.writeable = False
    for inputs, more, words in [
            ((x, y), {"donate": "c"}, "no input `c`"), ((x, x), {"donate": "a"}, "shares memory with input %b"),
            ((x, x[1:]), {"donate": "a"}, r"found|expected|shares memory|has"), ((x, y), {"donate": ["a", "%a"]}, "named twice"),
            ((x, fixed), {"donate": True}, "read-only"), ((x, y), {"donate": 3}, "names no inputs"),
            ((x, y), {"donate": [3]}, "3 is no name"), ((x, y), {"donate": "a", "out": x}, "what is given for output %y"),
            ((x, x), {"donate": True}, "shares memory with input")]:
        with pytest.raises(plait.UserError, match=words) as caught:
            p.run(*inputs, **more)
        assert caught.value.where and caught.value.remedy
    assert x.tolist() == [1] * 4 and y.tolist() == [1] * 4
    assert p.run(x, y, donate=False)["y"].tolist() == [2] * 4 and p.run(x, y, donate=[])["y"].tolist() == [2] * 4


def test_an_input_that_an_output_aliases():
    f = plait.Fusion("f")
    p = f.input("p", ["n"], plait.f32)
    f.output("q", p + 1)
    f.alias("q", "p")
    program = plait.compile(f, device="cpu")
    x = plait.array(np.zeros(3, np.float32))
    at = x.numpy().ctypes.data
    q = program.run(x, donate=True)["q"]
    assert q.tolist() == [1] * 3 and q.numpy().ctypes.data == at and given_up(x)


def test_several_ranks_give_it_up_and_nothing_lies_there():
    f = plait.Fusion("f", mesh=plait.Mesh(tp="t"))
    x = f.input("x", ["m", "n"], plait.f32)
    f.output("y", x * 2)
    for comm in ("local", "local:threads"):
        p = plait.compile(f, ranks=2, device="cpu", comm=comm)
        for _ in range(2):
            x = plait.array(X.copy())
            np.testing.assert_array_equal(p.run(x, donate=True)["y"].numpy(), 2 * X)
            assert given_up(x) and p.report["bytes_donated"] == 0


def test_simulated_gpus():
    p = plait.compile(late(), device="sim:sm_80")
    random = np.random.default_rng(2)
    x, z = (random.integers(-1, 2, shape).astype(np.float32) / 64 for shape in ((64, 32), (32, 64)))
    want = p.run(x, z)["y"].numpy()
    a = plait.array(x.copy())
    np.testing.assert_array_equal(p.run(a, z, donate=["x"])["y"].numpy(), want)
    assert given_up(a)


def test_jit():
    @plait.jit(donate="state", device="cpu")
    def step(state, x):
        return {"a": state["a"] + x, "b": state["b"] * x}

    state = {"a": plait.array(np.ones(4, np.float32)), "b": plait.array(np.ones(4, np.float32))}
    at = {state["a"].numpy().ctypes.data, state["b"].numpy().ctypes.data}
    x = np.full(4, 3, np.float32)
    for _ in range(2):
        old, state = state, step(state, x)
        assert given_up(old["a"]) and given_up(old["b"])
        assert {state["a"].numpy().ctypes.data, state["b"].numpy().ctypes.data} == at
    assert state["a"].tolist() == [7] * 4 and state["b"].tolist() == [9] * 4
    with pytest.raises(TypeError, match="donate names `z`"):
        plait.jit(lambda x: x, donate=["z"])
    with pytest.raises(TypeError, match="static, a constant"):
        plait.jit(lambda x: x, donate=["x"], static=["x"])


def test_an_input_named_donate_comes_in_a_dict():
    f = plait.Fusion("f")
    f.output("y", f.input("donate", [2], plait.f32) + 1)
    assert plait.compile(f, device="cpu").run({"donate": np.zeros(2, np.float32)})["y"].tolist() == [1, 1]


def test_a_table_for_notebooks():
    html = plait.array(np.arange(6, dtype=np.int64).reshape(2, 3))._repr_html_()
    assert html.startswith("<table>") and html.endswith("</table>") and "i64[2, 3]" in html and "on cpu" in html
    assert html.count("<tr>") == 2 and html.count("<td>") == 6 and "<td>5</td>" in html
    long = plait.array(np.arange(10000, dtype=np.float32).reshape(100, 100))._repr_html_()
    assert long.count("<tr>") == 11 and long.count("<td>") == 121 and "&hellip;" in long and "<td>9999</td>" in long
    assert "<pre>" in plait.array(np.zeros((2, 2, 2), np.float32))._repr_html_()
    assert "<td>3</td>" in plait.array(np.array(3, np.int32))._repr_html_()
    assert plait.array(np.zeros((0, 4), np.float32))._repr_html_().count("<td>") == 0


def test_what_is_prepared_is_not_given_up():
    p = plait.compile(doubled(), device="cpu")
    x, y = p.run(X)["y"], np.empty((3, 4), np.float32)
    for how in ({"donate": True}, {"out": y}, {"out": {"y": x}}, {}):
        assert p.prepare(x, **how) is None
        np.testing.assert_array_equal(x.numpy(), 2 * X)
    for wrong, match in (({"donate": "z"}, "no input `z`"), ({"out": np.empty((3, 3), np.float32)}, "%y")):
        with pytest.raises(plait.UserError, match=match):
            p.prepare(x, **wrong)
    with pytest.raises(plait.UserError):
        p.prepare((plait.f32, (3, 4)), donate=True)
    p.prepare((plait.f32, (3, 4)))
