"""Functions of arrays as programs: what is traced, what a program depends on, what goes in and comes out."""

import copy
import pickle
import collections
import inspect
import logging
import threading

import numpy as np
import plait
import pytest

RNG = np.random.default_rng(7)


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@plait.jit
def attend(q, k, scale=1.0):
    """Weights of keys."""
    return plait.ops.softmax(q @ k.permute([1, 0]) * scale, dim=-1)


def test_a_function_of_arrays():
    q, k = drawn(5, 8), drawn(7, 8)
    weights = np.exp(q @ k.T * 0.5)
    np.testing.assert_allclose(attend(q, k, 0.5).numpy(), weights / weights.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(attend(q, k=k, scale=0.5).numpy(), attend(plait.array(q), k, 0.5).numpy())
    assert attend.__doc__ == "Weights of keys." and list(inspect.signature(attend).parameters) == ["q", "k", "scale"]
    assert "attend(q, k, scale=1.0)" in repr(attend)


def test_each_kind_of_call_is_traced_once():
    calls = []

    @plait.jit
    def twice(x, how="up"):
        calls.append(how)
        return x * 2 if how == "up" else x * 0.5

    for _ in range(3):
        twice(drawn(4))
        twice(drawn(5))
        twice(drawn(4), "down")
        twice(drawn(4).astype(np.float64))
    assert calls == ["up", "up", "down", "up"] and len(twice.programs()) == 4
    assert twice(np.array([1, 2], np.int32)).tolist() == [2, 4]
    one, true = plait.jit(lambda x, n: x * n), drawn(2)
    assert one(true, 1).dtype == one(true, 1.0).dtype and len(one.programs()) == 2, "1 is not 1.0"
    twice.clear()
    assert twice.programs() == []


def test_extents_by_name_are_one_program():
    traced = []

    @plait.jit(shapes={"x": ["rows", None]})
    def norm(x, w):
        traced.append(x.shape)
        return plait.ops.rms_norm(x, w)

    for rows in (1, 3, 200):
        x = drawn(rows, 16)
        want = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
        np.testing.assert_allclose(norm(x, np.ones(16, np.float32)).numpy(), want, rtol=1e-3, atol=1e-3)
    assert traced == [("rows", 16)]
    with pytest.raises(TypeError, match=r"`x` of norm has 1 dims, shapes= says \['rows', None\]"):
        norm(drawn(16), np.ones(16, np.float32))


def test_structures_go_in_and_come_out():
    Pair = collections.namedtuple("Pair", "left right")

    @plait.jit
    def layer(x, parameters, extra=()):
        h = plait.ops.linear(x, parameters["w"]) + parameters["b"]
        for each in extra:
            h = h + each
        return {"h": h, "both": Pair(h, [x, h]), "name": "layer", "none": None}

    x, w, b = drawn(3, 4), drawn(2, 4), drawn(2)
    out = layer(x, {"w": w, "b": b}, (b, b))
    np.testing.assert_allclose(out["h"].numpy(), x @ w.T + 3 * b, rtol=1e-4, atol=1e-5)
    assert isinstance(out["both"], Pair) and out["both"].left is out["h"] and out["name"] == "layer" and out["none"] is None
    np.testing.assert_array_equal(out["both"].right[0].numpy(), x)
    assert [each.name for each in layer.fusion(x, {"w": w, "b": b}).inputs] == ["x", "parameters_w", "parameters_b"]
    spread = plait.jit(lambda first, *rest, **named: first + rest[0] * named["factor"])
    assert spread(np.float32([1, 2]), np.float32([3, 4]), factor=2).tolist() == [7, 10]


def test_inputs_are_results_and_names_meet():
    x, y, z = drawn(3), drawn(4).astype(np.float64), np.int32([1, 2])
    out = plait.jit(lambda x, y, z: [x, y, z, x])(x, y, z)
    assert [each.dtype for each in out] == [plait.f32, plait.f64, plait.i32, plait.f32] and out[0] is out[3]
    for made, given in zip(out, (x, y, z)):
        np.testing.assert_array_equal(made.numpy(), given)
    meet = plait.jit(lambda x, x_0: {"a": {"b": x[0] * 2, "c d": x_0}, "a_b": x_0 * 3, "a_c-d": x_0 + 1})
    out = meet((np.float32([1]),), np.float32([5]))
    assert (out["a"]["b"][0], out["a"]["c d"][0], out["a_b"][0], out["a_c-d"][0]) == (2, 5, 15, 6)


def test_constants_that_compare_equal():
    divide = plait.jit(lambda x, s: x / s)
    assert divide(np.float32([1]), 0.0)[0] == np.inf and divide(np.float32([1]), -0.0)[0] == -np.inf
    for _ in range(3):
        assert np.isnan(divide(np.float32([1]), float("nan"))[0])
    assert len(divide.programs()) == 3
    power = plait.jit(lambda x, n: x * n[0], static="n")
    assert power(np.float32([3]), (2,))[0] == power(np.float32([3]), (2.0,))[0] == 6 and len(power.programs()) == 2


def test_a_traced_function_may_call_itself_on_arrays():
    table = np.float32([1, 2, 3])

    @plait.jit
    def total(x):
        if x.shape == (3,):
            return x * 2
        return x + float(total(table).numpy().sum())

    assert total(np.float32([1, 1])).tolist() == [13, 13]


def test_inside_of_one_another_and_as_methods():
    @plait.jit
    def block(x):
        return attend(x, x, scale=0.25)

    x = drawn(3, 8)
    np.testing.assert_allclose(block(x).numpy(), attend(x, x, 0.25).numpy(), rtol=1e-6)
    assert len(block.programs()) == 1 and "softmax" in str(block.fusion(x))

    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @plait.jit(static="self")
        def __call__(self, x):
            return x * self.factor

    assert Scaled(3.0)(np.float32([1]))[0] == 3 and Scaled(5.0)(np.float32([1]))[0] == 5


def test_ops_without_tensors_are_of_the_traced_fusion():
    @plait.jit
    def inner(x):
        return x + plait.ops.iota(shape=[3], dim=0, dtype=plait.f32)

    @plait.jit(shapes={"x": ["n", 3]})
    def outer(x):
        eager = float(inner(np.zeros(3, np.float32)).numpy().sum())  # a trace of its own within this one
        total = x.sum(0) / plait.ops.size(x.shape[0], plait.f32)
        return inner(total) + plait.ops.full([], eager, plait.f32)

    assert outer(np.float32([[1, 2, 3], [3, 4, 5]])).tolist() == [5, 7, 9]
    f = plait.Fusion("f")
    x = f.input("x", [3], plait.f32)
    assert x.fusion.owns(inner(x)) and inner(x).type == "f32[3]", "called with a graph's tensors, it is of their fusion"
    for add in (lambda: plait.ops.iota(f, [4], 0), lambda: plait.ops.iota([4], dim=0, fusion=f)):
        assert add().type == "i64[4]"
    for call in (lambda: plait.ops.iota([4], 0), lambda: plait.ops.full([], 1, plait.f32), lambda: plait.ops.eye(3),
                 lambda: plait.ops.size("n")):
        with pytest.raises(plait.UserError, match=r"has no tensor that tells its fusion\n.*\n.*plait.ops.\w+\(f, ...\); in a function of plait.jit"):
            call()
    with pytest.raises(TypeError, match="full.. has no parameter `fusoin`; did you mean `fusion`"):
        plait.ops.full([], 1, plait.f32, fusoin=f)
    broken = plait.jit(lambda x: plait.ops.full([2], 1, "f33"))
    with pytest.raises(plait.UserError, match="no dtype"):
        broken(drawn(2))
    with pytest.raises(plait.UserError, match="tells its fusion"):  # what fails leaves no trace behind
        plait.ops.eye(3)


def test_many_programs_for_one_number_are_told_once():
    @plait.jit(static="steps")
    def scaled(x, how, steps=1):
        return x * how["by"][0]

    x = np.float32([1, 2])
    logger = logging.getLogger("plait.compile")
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append((record.levelname, record.getMessage()))
    logger.addHandler(handler)
    try:
        for i in range(8):
            scaled(x, {"by": [i]})
            scaled(x, {"by": [float(i)]}, 2)
            scaled(x, {"by": [1]}, steps=10 + i)
        assert seen == []
        scaled(x, {"by": [8]})
        scaled(x, {"by": [9]})
        assert [level for level, _ in seen] == ["WARNING"]
        assert seen[0][1].startswith("scaled has 9 programs that differ in the number `how['by'][0]` alone")
        seen.clear()
        any_of_them = plait.jit(lambda x, scale: x * scale)
        for i in range(12):
            assert any_of_them(x, np.array(i, np.float32)).tolist() == [i, 2 * i]
        assert seen == [] and len(any_of_them.programs()) == 1
    finally:
        logger.removeHandler(handler)


def test_ranks():
    @plait.jit(mesh=plait.Mesh(dp=2, tp="t"), shard={"x": {0: "dp"}, "w": {0: "tp"}, "return": {0: "dp"}}, ranks=4)
    def linear(x, w):
        return plait.ops.linear(x, w)

    x, w = drawn(6, 4), drawn(8, 4)
    np.testing.assert_allclose(linear(x, w).numpy(), x @ w.T, rtol=1e-4, atol=1e-5)
    assert "{0: dp}" in linear.program(x, w).explain("shard")


def test_names_of_functions_are_made_names_of_fusions():
    def f(x):
        return x * 2

    f.__name__ = "gr\u00f6\u00dfe"
    assert plait.jit(f)(np.float32([1, 2])).tolist() == [2, 4] and plait.jit(f).fusion(drawn(2)).name == "gr__e"
    assert plait.jit(lambda x: x * 2).fusion(drawn(2)).name == "f"


LAYERS = {"first": {"w": {0: "tp"}}, "rest": [{"w": {0: "tp"}}, None]}


def layouts(shard, p, result=lambda x, p: x):
    f = plait.jit(result, mesh=plait.Mesh(tp=2), shard=shard, ranks=2)
    return {t.name: t.layout for t in f.fusion(drawn(4, 4), p).inputs}


def test_arrays_in_structures_are_cut_by_structures():
    w, b = drawn(6, 4), drawn(6)
    p = {"first": {"w": w, "b": b}, "rest": [{"w": w}, {"w": w}], "k": 3}
    whole = {"x": "{}", "p_first_w": "{}", "p_first_b": "{}", "p_rest_0_w": "{}", "p_rest_1_w": "{}"}
    assert layouts({"p": LAYERS}, p) == {**whole, "p_first_w": "{0: tp}", "p_rest_0_w": "{0: tp}"}
    assert layouts({"p": {"first": {0: "tp"}}, "x": {-1: ["tp"]}}, p) == {
        **whole, "x": "{1: tp}", "p_first_w": "{0: tp}", "p_first_b": "{0: tp}"}, "of a structure: of all in it"
    assert layouts({"p": {"rest": ({"w": {0: "tp"}}, {})}}, p) == {**whole, "p_rest_0_w": "{0: tp}"}
    assert layouts({"p": {0: "tp"}}, p) == {**dict.fromkeys(whole, "{0: tp}"), "x": "{}"}
    assert layouts({"p": {0: {1: "tp"}}}, {0: w, 1: w}) == {"x": "{}", "p_0": "{1: tp}", "p_1": "{}"}, "keys that are numbers"
    assert layouts({"p": {"w": {0: "tp"}}}, None) == {"x": "{}"}, "what may be absent"
    LAYERS_TOO = {"p": {"w": {0: "tp"}}}
    f = plait.jit(lambda x, p: x @ p["w"].T, mesh=plait.Mesh(tp=2), shard=LAYERS_TOO, ranks=2)
    LAYERS_TOO["p"]["w"] = "changed later"
    x = drawn(2, 4)
    np.testing.assert_allclose(f(x, {"w": w}).numpy(), x @ w.T, rtol=1e-4, atol=1e-5)


def test_results_in_structures_are_cut_by_structures():
    def f(x):
        return {"y": x + 1, "s": (x * 2, x.sum())}

    made = plait.jit(f, mesh=plait.Mesh(tp=2), shard={"return": {"s": ({1: "tp"}, None)}}, ranks=2)
    assert {t.name: t.layout for t in made.fusion(drawn(4, 4)).outputs} == {"return_y": "{}", "return_s_0": "{1: tp}", "return_s_1": "{}"}
    with pytest.raises(TypeError, match=r"shard\['return'\]\[1\] cuts a tensor that <lambda> returns twice"):
        plait.jit(lambda x: [x, x], mesh=plait.Mesh(tp=2), shard={"return": [{0: "tp"}, {1: "tp"}]}, ranks=2)(drawn(4, 4))


@pytest.mark.parametrize("shard, words", [
    ({"p": {"wq": {0: "tp"}}}, r"shard\['p'\] has 'wq', which is not there: did you mean 'w'\?"),
    ({"p": {"zzz": {0: "tp"}}}, r"shard\['p'\] has 'zzz', which is not there: there are 'w', 'l', 's'"),
    ({"p": {"l": [{0: "tp"}]}}, r"shard\['p'\]\['l'\] is a tuple of 1, and what it cuts is a list of 2: give cuts"),
    ({"p": {"w": {"a": {0: "tp"}}}}, r"shard\['p'\]\['w'\] is a dict of 'a', and what it cuts is one array"),
    ({"p": [{0: "tp"}]}, r"shard\['p'\] is a tuple of 1, and what it cuts is a dict of 'w', 'l', 's'"),
    ({"p": {"s": {0: "tp"}}}, r"shard\['p'\]\['s'\] cuts 0.5, which is no array"),
])
def test_structures_that_differ_are_named_by_their_path(shard, words):
    with pytest.raises(TypeError, match=words):
        layouts(shard, {"w": drawn(6, 4), "l": [drawn(6), drawn(6)], "s": 0.5})


def test_results_in_arrays_of_the_caller():
    double, y = plait.jit(lambda x: x * 2), np.zeros(3, np.float32)
    assert double(np.float32([1, 2, 3]), out=y).tolist() == [2, 4, 6] and y.tolist() == [2, 4, 6]


def test_results_in_arrays_of_the_caller_have_the_structure_of_the_result():
    f = plait.jit(lambda x: {"a": x + 1, "b": (x * 2, 3, [x - 1])})
    x, a, b, c = np.float32([1, 2, 3]), *(np.zeros(3, np.float32) for _ in range(3))
    made = f(x, out={"a": a, "b": (b, None, [c])})
    assert (a.tolist(), b.tolist(), c.tolist()) == ([2, 3, 4], [2, 4, 6], [0, 1, 2]) and made["b"][1] == 3
    assert np.shares_memory(made["a"].numpy(), a) and np.shares_memory(made["b"][2][0].numpy(), c)
    made = f(x + 1, out={"b": [None, None, [c]]})
    assert c.tolist() == [1, 2, 3] and a.tolist() == [2, 3, 4] and made["a"].tolist() == [3, 4, 5]
    for out, words in (({"c": a}, r"out has 'c', the result has 'a', 'b'"), ([a], "out is a list, and what is returned there is a dict"),
                       ({"b": (b,)}, r"out\['b'\] is a tuple, and .* a tuple of 3"), ({"b": (b, c, None)}, r"out\['b'\]\[1\] .* is 3, no array")):
        with pytest.raises(TypeError, match=words):
            f(x, out=out)
    with pytest.raises(TypeError, match=r"out\[1\] is a second array"):
        plait.jit(lambda x: [x, x])(x, out=[a, b])
    two = plait.jit(lambda x: (x + 1, x + 2))
    assert [each.tolist() for each in two(x, out=[None, b])] == [[2, 3, 4], [3, 4, 5]] and b.tolist() == [3, 4, 5]


def test_names_of_parameters_are_the_functions_own():
    """But for `out`, which is refused where the function is made."""
    x = np.float32([1, 2])
    for name in ("self", "donate", "stream", "threads", "args", "named", "mesh", "static", "shapes", "device", "function"):
        f = eval(f"plait.jit(lambda {name}, y=1: {name} + y)")
        assert f(x).tolist() == f(**{name: x}).tolist() == [2, 3] and f.program(**{name: x}) is f.program(x) and f.fusion(**{name: x})
    assert plait.jit(lambda out, /: out + 1)(x, out=x).tolist() == [2, 3] == x.tolist()


async def coroutine(x):
    return x


def generator(x):
    yield x


@pytest.mark.parametrize("make, words", [
    (lambda: plait.jit(lambda x, out: x), r"\(x, out\) has a parameter `out`, which is the call's own keyword"),
    (lambda: plait.jit(lambda x, *, out=None: x), "has a parameter `out`"), (lambda: plait.jit(3), "takes a function, not 3"),
    (lambda: plait.jit(coroutine), "coroutine is a coroutine"), (lambda: plait.jit(generator), "generator is a generator"),
    (lambda: plait.jit(max), r"max does not say its parameters: plait.jit\(lambda x: max\(x\)\)"),
    (lambda: plait.jit(lambda x: x, shapes=["n"]), r"shapes is \['n'\]: give shapes="),
    (lambda: plait.jit(lambda x: x, shapes={"x": "rows"}), r"shapes\['x'\] is 'rows': give shapes="),
    (lambda: plait.jit(lambda x: x, shard="tp"), "shard is 'tp': give shard="),
    (lambda: plait.jit(lambda x: x, shard={"x": "dp"}), r"shard\['x'\] is 'dp': give cuts, dims by number and axes"),
    (lambda: plait.jit(lambda x: x, shard={"x": ["tp"]}), r"shard\['x'\]\[0\] is 'tp': give cuts"),
    (lambda: plait.jit(lambda x: x, shard={"x": [0, "dp"]}), r"shard\['x'\]\[0\] is 0: give cuts"),
    (lambda: plait.jit(lambda x: x, shard={"x": {0: 3}}), r"shard\['x'\]\[0\] is 3: name axes of the mesh"),
    (lambda: plait.jit(lambda x: x, shard={"x": {0: ["dp", 3]}}), r"shard\['x'\]\[0\]\[0\] is 'dp': give cuts"),
    (lambda: plait.jit(lambda x: x, shard={"x": {"0": "dp"}}), r"shard\['x'\]\['0'\] is 'dp': give cuts, dims by number"),
    (lambda: plait.jit(lambda x: x, shard={"x": {0: "dp", 1: None}}), r"shard\['x'\]\[1\] is None: name axes of the mesh"),
    (lambda: plait.jit(lambda x: x, shard={"x": {0: "dp", "w": {0: "tp"}}}), r"shard\['x'\] has 'w' beside the dim 0: give cuts"),
    (lambda: plait.jit(lambda x, p: x, shard={"p_wd": {1: "tp"}}), r"`p_wd`, .* no parameter of .*: what stands in `p` is named within it, shard=\{'p': \{'wd'"),
    (lambda: plait.jit(lambda x: x, static=1), r"static has 1: name parameters, static=\["),
    (lambda: plait.jit(lambda x: x, donate=True), r"donate has True: name parameters"),
])
def test_what_cannot_be_made_is_refused_with_a_sentence(make, words):
    with pytest.raises(TypeError, match=words):
        make()


def test_threads_share_it():
    traced = []

    @plait.jit
    def square(x):
        traced.append(1)
        return x * x

    x, failed = drawn(64), []

    def work():
        for _ in range(20):
            if not np.array_equal(square(x).numpy(), x * x):
                failed.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert traced == [1] and not failed


@pytest.mark.parametrize("call, error, words", [
    (lambda: attend(drawn(2, 8)), TypeError, "missing a required argument: 'k'"),
    (lambda: attend(drawn(2, 8), object()), TypeError, "argument `k` of attend is no array, number or text: object"),
    (lambda: attend(drawn(2, 8), [drawn(2, 8), {1}]), TypeError, r"argument `k\[1\]` of attend is no array"),
    (lambda: attend(drawn(2, 8), drawn(2, 9)), plait.UserError, "9"),
    (lambda: attend(drawn(2, 8), [drawn(2, 8)[:, ::-1]]), plait.UserError, r"(?s)stride -1.*argument `k\[0\]` of attend"),
    (lambda: attend(drawn(2, 8), {"w": [np.array(["a"])]}), plait.UserError, r"(?s)no dtype.*argument `k\['w'\]\[0\]` of attend"),
    (lambda: attend(np.ones(3, complex), drawn(2, 8)), plait.UserError, "(?s)no dtype.*argument `q` of attend"),
    (lambda: plait.jit(lambda x: 3)(drawn(2)), TypeError, "returned no tensor: 3"),
    (lambda: plait.jit(lambda x: x.sum)(drawn(2)), TypeError, r"returned no tensor: .*; did you mean to call it, sum\(\)\?"),
    (lambda: plait.jit(lambda x: x * 2)(np.float32(3)), TypeError, r"returned no tensor: .*6.0.*: no argument is an array.*np.array\(3, np.float32\)"),
    (lambda: plait.jit(lambda x: np.ones(3))(drawn(2)), TypeError, "returned an array, not a tensor"),
    (lambda: plait.jit(lambda x: x * 2 if x > 0 else x)(drawn(2)), TypeError, "where"),
    (lambda: plait.jit(lambda x: x, static=["z"]), TypeError, "static names `z`, which is no parameter"),
    (lambda: plait.jit(lambda x, n: x, static="n")(drawn(2), [1]), TypeError, "static argument `n` of .* cannot be hashed"),
    (lambda: plait.jit(lambda x: x, device="gpu")(drawn(2)), plait.UserError, "gpu"),
    (lambda: plait.jit(lambda x: x, shard={"x": {0: "tp"}}, ranks=4)(drawn(4)), plait.UserError, r"mesh=plait.Mesh\(tp="),
    (lambda: plait.jit(lambda x: attend.program(x, x))(drawn(2, 8)), TypeError, "a program for arrays only"),
])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_trace_that_fails_is_tried_again():
    fails = [True]

    @plait.jit
    def sometimes(x):
        if fails:
            fails.pop()
            raise RuntimeError("not now")
        return x + 1

    with pytest.raises(RuntimeError, match="not now"):
        sometimes(drawn(2))
    assert sometimes(np.float32([1])).tolist() == [2]


def test_a_call_with_arrays_is_one_look_up():
    """Functions that a call of a known kind runs in Python: its own and, with NumPy arrays, no other of plait's."""
    import sys

    @plait.jit(device="cpu")
    def f(x, y):
        return x + y

    x, y = drawn(4), drawn(4)
    f(x, y), f(x, y)
    seen = []

    def note(frame, event, arg):
        if event == "call":
            seen.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        f(x, y)
    finally:
        sys.setprofile(None)
    assert [name for name in seen if name != "<listcomp>"] == ["__call__"]
    np.testing.assert_array_equal(f(x, y).numpy(), x + y)


def test_kinds_of_calls_that_look_alike_are_told_apart():
    @plait.jit(device="cpu")
    def f(x, y=2):
        return x * y

    x, point = drawn(3), np.array(3, np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(f(x).numpy(), x * 2)
        np.testing.assert_array_equal(f(x, point).numpy(), x * 3)
        np.testing.assert_array_equal(f(x, np.float32(4)).numpy(), x * 4)
        np.testing.assert_array_equal(f(x, 5).numpy(), x * 5)
        np.testing.assert_array_equal(f(plait.array(x)).numpy(), x * 2)
        np.testing.assert_array_equal(f(x.astype(np.float64)).numpy(), x.astype(np.float64) * 2)
        with pytest.raises(plait.UserError):
            f(x.astype(">f4"))

    @plait.jit(device="cpu")
    def pair(x):
        return {"up": x + 1, "down": (x - 1, x)}

    for _ in range(3):
        made = pair(x)
        np.testing.assert_array_equal(made["down"][0].numpy(), x - 1)
        np.testing.assert_array_equal(made["up"].numpy(), x + 1)
    pair.clear()
    assert pair.programs() == [] and pair(x)["up"].shape == (3,) and len(pair.programs()) == 1


@plait.jit
def at_the_top(x):
    return x + 1


def test_it_is_pickled_by_its_name_and_copied_as_functions_are():
    assert pickle.loads(pickle.dumps(at_the_top)) is at_the_top is copy.copy(at_the_top) is copy.deepcopy(at_the_top)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(plait.jit(lambda x: x))
