"""Building, printing, reading and copying fusions; the words of errors."""

import copy
import inspect
import pickle
import re

import numpy as np
import plait
import pytest


def softmax():
    f = plait.Fusion("softmax", mesh=plait.Mesh(tp="t"))
    x = f.input("x", ["rows", 10], plait.f32)
    x.shard(0, "tp")
    f.output("y", plait.ops.softmax(x, dim=-1))
    return f


def test_text_comes_back():
    f = softmax()
    assert str(f) == ("mesh @m (tp = t)\n\nfusion @softmax on @m (\n  %x: f32[rows, 10] {0: tp}\n) -> (%y) {\n"
                      "  %y: f32[rows, 10] = softmax(%x, dim = 1)\n}\n")
    assert plait.parse(str(f)) == f
    assert pickle.loads(pickle.dumps(f)) == f
    assert f.copy() == f
    assert f != plait.Fusion()


def test_texts_have_one_layout():
    neat = "# One.\nfusion @f (%x: f32[2]) -> (%y) {\n  %y = mul(%x, 0.5)  # half\n}\n"
    assert plait.format("# One.\nfusion @f(%x:f32[2])->(%y){ %y=mul(%x,0.5)# half\n}") == neat
    assert plait.format(neat) == neat
    with pytest.raises(plait.UserError, match="there is no op `mull`"):
        plait.format(neat.replace("mul", "mull"), file="f.plait")


def test_inputs_that_nothing_reads_are_told():
    with pytest.warns(UserWarning, match=r"no op reads input %z: f32\[3\]"):
        plait.parse("fusion @f (%x: f32[2], %z: f32[3]) -> (%y) {\n  %y = neg(%x)\n}\n")


def test_tensors_say_what_they_are():
    f = softmax()
    x, y = f.inputs[0], f.outputs[0]
    assert (x.name, x.dtype, x.shape, x.rank, x.type, x.layout) == ("x", plait.f32, ("rows", 10), 2, "f32[rows, 10]",
                                                                     "{0: tp}")
    assert repr(y) == "plait.Tensor(%y: f32[rows, 10] = softmax(%x, dim = 1))"
    assert f.find("y") is y and f.find("z") is None and len({x, f.find("x")}) == 1
    assert repr(f) == "<plait.Fusion @softmax: 1 inputs, 1 ops, 1 outputs>"


def test_numbers_as_operands():
    f = plait.Fusion("f")
    x = f.input("x", [3], plait.f32)
    for number in (2, 2.5, True, np.float32(2), np.int64(2), np.float64(0.5), 2**63):
        assert plait.ops.mul(x, number).type == "f32[3]"
    assert plait.ops.clamp(x, np.float32(-1), np.int32(1)).type == "f32[3]"
    for number in (-10**19, 2**64, 1j, "2", None, [1]):
        with pytest.raises(plait.UserError, match="is no number of 64 bits|is no operand"):
            plait.ops.mul(x, number)


def test_every_dtype_is_known_by_every_name():
    for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"):
        assert plait.dtype(name) == getattr(plait, name)
    assert plait.dtype("bool") == plait.dtype(bool) == plait.bool_
    numpy = pytest.importorskip("numpy")
    assert plait.dtype(numpy.float32) == plait.dtype(numpy.dtype("float32")) == plait.f32
    with pytest.raises(plait.UserError, match="`f33` is no dtype"):
        plait.dtype("f33")


@pytest.mark.parametrize("set_, what, where, remedy", [
    ({"TT": "bf16"}, "there is no size or dtype `TT`", "set TT", "did you mean `T`?"),
    ({"quantity": 3}, "there is no size or dtype `quantity`", "set quantity", "known: T, m, n"),
    ({"m": -1}, "`-1` is no size", "set m", "sizes are whole numbers, at least 0"),
    ({"n": -1}, "`-1` is no size", "set n", "sizes are whole numbers, at least 0"),
])
def test_settings_that_name_nothing_are_refused(set_, what, where, remedy):
    text = "let n = 2, T = f32\nfusion @f (%x: T[n, m]) -> (%y) { %y = neg(%x) }"
    with pytest.raises(plait.UserError) as e:
        plait.parse(text, set=set_)
    assert (e.value.what, e.value.where, e.value.remedy) == (what, where, remedy)
    f = plait.parse(text, set={"n": 3, "T": "f64", "m": 4})
    assert f.inputs[0].dtype == plait.f64 and "m = 4" in str(f)


def test_errors_name_what_where_and_remedy():
    f = softmax()
    with pytest.raises(plait.UserError) as caught:
        plait.ops.softmax(f.inputs[0], dim=5)
    e = caught.value
    assert e.what == "there is no dim 5 of %x: f32[rows, 10]" and e.remedy.startswith("dims are -2 to 1\n") and "softmax" in e.where
    assert str(e) == f"{e.what}\n  at: {e.where}\n  help: {e.remedy}"
    assert isinstance(e, ValueError) and isinstance(e, plait.Error)
    assert len(f.tensors) == 2  # nothing stayed
    with pytest.raises(plait.UserError, match="f.plait:1:1"):
        plait.parse("fuson", file="f.plait")
    with pytest.raises(plait.UserError, match="is of another fusion"):
        plait.ops.add(f.inputs[0], softmax().inputs[0])
    with pytest.raises(plait.UserError, match="is of another fusion"):
        plait.ops.matmul(f.inputs[0], softmax().inputs[0])
    with pytest.raises(plait.UserError, match="3 is no tensor"):
        plait.ops.sum(3)
    with pytest.raises(plait.UserError, match="1.5 is no extent"):
        f.input("z", [1.5], plait.f32)
    for no_shape in ("rows", 4, plait.f32, f.inputs[0].shape[0]):
        with pytest.raises(plait.UserError, match="is no shape\n.*\n  help: a shape is a list of extents"):
            f.input("z", no_shape, plait.f32)
    for add in (f.input, f.parameter):
        with pytest.raises(TypeError, match=r"^%s `z` has no dtype: give one, %s\(\"z\", shape, plait.f32\)$" % ((add.__name__,) * 2)):
            add("z", [4])
    assert len(f.tensors) == 2


def test_errors_speak_to_whoever_calls():
    declare = 'declare a mesh: `mesh @m .tp = t.` .* in the text form, Mesh.* in C[+][+], mesh=plait.Mesh.tp="t". in Python$'
    f = plait.Fusion("f")
    x = f.input("x", ["n", 4], plait.f32)
    f.output("y", x + 1)
    with pytest.raises(plait.UserError, match="fusion @f has no mesh") as caught:
        x.shard(0, "tp")
    assert re.match(declare, caught.value.remedy), caught.value
    with pytest.raises(plait.UserError, match="4 ranks do not fit") as caught:
        plait.compile(f, device="reference", ranks=4)
    assert re.match("run it on 1 rank, or " + declare, caught.value.remedy), caught.value
    with pytest.raises(plait.UserError) as caught:
        plait.compile(f, device="reference").save("never.plaitc")
    assert (caught.value.what, caught.value.remedy) == ("nothing is compiled yet", "run or prepare the program first")
    with pytest.raises(plait.UserError) as caught:
        plait.parse("let n = 4\nfusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)\n}\n", set={"n": "four"})
    assert caught.value.where == "set n"
    if "cuda" not in {each.name for each in plait.devices()}:
        with pytest.raises(plait.MissingError) as caught:
            plait.compile(f, device="cuda")
        assert caught.value.remedy.endswith("or take another device: sim:sm_90a, sim:sm_90a:N for N ranks, or cpu")


def test_every_op_has_a_function_with_words():
    without = [name for name in plait.ops.__all__ if not getattr(plait.ops, name).__doc__]
    assert not without
    assert len(plait.ops.__all__) > 150
    for name in plait.ops.__all__:
        signature = inspect.signature(getattr(plait.ops, name))
        assert signature.return_annotation and all(p.annotation is not p.empty for p in signature.parameters.values())


def test_a_call_of_each_kind_of_op():
    f = plait.Fusion()
    x, w = f.input("x", ["n", 6], plait.f32), f.parameter("w", [4, 6], plait.f32)
    i, seed = f.input("i", ["n"], plait.i64), f.input("seed", [], plait.u64)
    ops = plait.ops
    for tensor, type_ in [
        (ops.linear(x, w), "f32[n, 4]"), (ops.sum(x, dims=[0], keepdim=True), "f32[1, 6]"), (ops.cast(x, "bf16"), "bf16[n, 6]"),
        (ops.reshape(x, [-1, 2]), "f32[3*n, 2]"), (ops.slice(x, 1, 0, -1, step=2), "f32[n, 3]"),
        (ops.cat([x, x], dim=1), "f32[n, 12]"), (ops.full(f, ["n"], 1.5, plait.f64), "f64[n]"),
        (ops.iota(f, ["n"], 0), "i64[n]"), (ops.uniform(["n"], seed), "f32[n]"), (ops.dropout(x, 0.5, seed), "f32[n, 6]"),
        (ops.index_select(w, i, 0), "f32[n, 6]"), (ops.layer_norm(x, eps=1e-3), "f32[n, 6]"), (ops.gelu(x, "tanh"), "f32[n, 6]"),
        (ops.where(x > 0, x, 0), "f32[n, 6]"), (ops.clamp(x, 0, 6), "f32[n, 6]"), (ops.leaky_relu(x), "f32[n, 6]"),
        (ops.transpose(x, 0, 1), "f32[6, n]"), (ops.norm(x, p=float("inf")), "f32[]"), (ops.pad(x, [0, 1], [0, 1]), "f32[n, 8]"),
        (ops.einsum("ij,kj->ki", x, w), "f32[4, n]"), (ops.einsum("i...", x), "f32[6, n]"),
        (ops.var_mean(x, [1])[1], "f32[n]"), (ops.cross_entropy(x, i, reduction="sum"), "f32[]"),
        (ops.scaled_dot_product_attention(*[f.input(n, [1, 2, 3, 4], plait.f32) for n in "qkv"], causal=True), "f32[1, 2, 3, 4]"),
    ]:
        assert tensor.type == type_, repr(tensor)
    f.output("y", tensor)
    assert plait.parse(str(f)) == f
    for equation in ('ij", equation = "ij', "ij\nij", "ijk"):
        with pytest.raises(plait.UserError, match="equation|never closed"):
            ops.einsum(equation, x)
    with pytest.raises(plait.UserError, match="is no equation"):
        ops.einsum(x, "ij->ji")


def test_equal_meshes_are_equal_however_they_are_written() -> None:
    one = plait.Mesh(dp=2, tp=4, links={"dp": (50, 12), "tp": (450, 3)}, groups={"a": ["dp", "tp"], "b": ["tp"]})
    other = plait.Mesh({"dp": np.int64(2)}, tp=4, links={"tp": [450, 3], "dp": (np.int32(50), 12)}, groups={"b": "tp", "a": ("dp", "tp")})
    assert one == other and hash(one) == hash(other) and str(one).split(" with")[0] == str(other).split(" with")[0]
    assert one != plait.Mesh(dp=2, tp=4, links={"dp": (50, 12), "tp": (450, 4)}, groups=one.groups)
    assert one != plait.Mesh(tp=4, dp=2, links=one.links, groups=one.groups), "axes have an order: ranks are numbered by it"
    assert len({one, other, copy.deepcopy(one), pickle.loads(pickle.dumps(one))}) == 1


@pytest.mark.parametrize("link", [(-1, 2), (50, -1), (0, 1), (float("nan"), 1), ("50", 12), (50,), (50, 12, 3), (1.5, 2), (2**70, 1),
                                  (True, 1), 50, None, "ab", [None, 1]], ids=str)
def test_links_that_are_none_are_refused(link: object) -> None:
    with pytest.raises(plait.UserError, match=r"the link of mesh axis `tp` is .*\n.*mesh @m\n.*\(50, 12\)"):
        plait.Mesh(tp=2, links={"tp": link})  # type: ignore[dict-item]


@pytest.mark.parametrize("make, words", [
    (lambda: plait.Mesh(tp=0), "mesh axis `tp` has size 0"), (lambda: plait.Mesh(tp=-2), "size -2"), (lambda: plait.Mesh(tp=2.5), "size 2.5"),
    (lambda: plait.Mesh(tp=True), "size True"), (lambda: plait.Mesh(tp=None), "size None"), (lambda: plait.Mesh(tp="a b"), "size 'a b'"),
    (lambda: plait.Mesh({"a b": 2}), "'a b', which is no name"), (lambda: plait.Mesh(), "of no axes"), (lambda: plait.Mesh(4), "axes is 4, no dict"),
    (lambda: plait.Mesh("tp"), "axes is 'tp'"), (lambda: plait.Mesh({"tp": 2}, tp=3), "`tp` is given twice"),
    (lambda: plait.Mesh(tp=2, name="m n"), "named 'm n'"), (lambda: plait.Mesh(tp=2, groups=["g"]), "groups is"),
    (lambda: plait.Mesh(tp=2, groups={"g": []}), "group `g` is"), (lambda: plait.Mesh(tp=2, groups={"g": [1]}), "group `g` is"),
    (lambda: plait.Mesh(tp=2, links=3), "links is 3"), (lambda: plait.Mesh(tp=2, links=[("tp", (1, 2))]), "links is"),
])
def test_meshes_that_are_none_are_refused(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(plait.UserError, match=words) as caught:
        make()
    assert caught.value.remedy and caught.value.where


def test_groups_of_mesh_axes_and_pending_sums() -> None:
    mesh = plait.Mesh(dp_replicate=2, dp_shard=-1, tp="t", groups={"dp": ["dp_replicate", "dp_shard"]})
    assert str(mesh) == "@m (dp_replicate = 2, dp_shard = -1, tp = t) with dp = [dp_replicate, dp_shard]"
    assert mesh == eval(repr(mesh)) and mesh != plait.Mesh(dp_replicate=2, dp_shard=-1, tp="t")
    linked = plait.Mesh(dp=2, tp=4, links={"dp": (50, 12), "tp": (450, 3)})
    assert str(linked) == "@m (dp = 2 bandwidth 50 latency 12, tp = 4 bandwidth 450 latency 3)"
    assert linked == eval(repr(linked)) and linked != plait.Mesh(dp=2, tp=4)
    assert "bandwidth 450" in str(plait.Fusion("f", mesh=linked))
    with pytest.raises(ValueError, match="links says what axis 'cp' does, the mesh has dp, tp"):
        plait.Mesh(dp=2, tp=4, links={"cp": (50, 12)})
    with pytest.raises(plait.UserError, match="mesh axis `tp` says nothing of its link"):
        plait.Fusion("f", mesh=plait.Mesh(dp=2, tp=4, links={"dp": (50, 12)}))
    f = plait.Fusion("f", mesh=mesh)
    x = f.input("x", ["n", 4], plait.f32)
    x.shard(0, "dp")
    assert x.layout == "{0: [dp_replicate, dp_shard]}"
    g = f.input("g", [4], plait.f32)
    g.pending("dp")
    assert g.layout == "{} partial(dp_replicate: sum, dp_shard: sum)"
    with pytest.raises(plait.UserError, match="is no reduction"):
        g.pending("tp", "mean")
    with pytest.raises(plait.UserError, match="no axis `fsdp`"):
        x.shard(1, "fsdp")
    f.output("y", x.sum(dims=[0]) + g)
    program = plait.compile(f, ranks=4, sizes={"t": 1})
    value = np.arange(24, dtype=np.float32).reshape(6, 4)
    start = np.ones(4, dtype=np.float32)
    out = program.run({"x": value, "g": start})
    np.testing.assert_allclose(np.asarray(out["y"]), value.sum(axis=0) + start)


def test_what_tensors_and_programs_cannot_do_says_what_to_write() -> None:
    f = plait.Fusion("f")
    x = f.input("x", ["n"], plait.f32)
    f.output("y", x + 1)
    program = plait.compile(f, device="reference")

    def write() -> None:
        x[0] = 1  # type: ignore[index]

    for call, words in ((write, "never changes: plait.ops.where, slice_update"), (lambda: 1 in x, r"plait.ops.any\(x == value\)"),
                        (lambda: copy.copy(x), "fusions are copied and pickled"), (lambda: pickle.dumps(x), "fusions are copied"),
                        (lambda: pickle.dumps(program), r"program.save\(path\)"), (lambda: copy.deepcopy(program), r"plait.load\(path\)")):
        with pytest.raises(TypeError, match=words):
            call()
    assert str(f) == str(plait.parse(str(f))), "nothing was added"
    for refused, words in ((lambda: program.tune(np.ones(3, np.float32), seconds=-1), "-1 seconds"),
                           (lambda: program.tune(np.ones(3, np.float32), seconds=float("nan")), "nan seconds"),
                           (lambda: program.tune(np.ones(3, np.float32), rounds=0), "0 rounds"),
                           (lambda: program.prepare({"x": (plait.f32, (4.5,))}), r"\(4.5,\) is no shape"),
                           (lambda: plait.compile(f, options={3: 3}), "no option `3`"), (lambda: plait.profile(3), "3 is no program"),
                           (lambda: plait.import_stablehlo(3), "a int is no module"), (lambda: plait.run_ranks(f, [1], ranks=1), "inputs are list"),
                           (lambda: plait.from_array(None), "NoneType"), (lambda: plait.from_array(np.zeros(2, "M8[s]")), "cannot be shared: .*dtype 'M'")):
        with pytest.raises(plait.UserError, match=words):
            refused()


def test_names_that_the_module_does_not_have() -> None:
    for name, words in (("softmax", "plait.ops.softmax"), ("Compile", "did you mean `compile`"), ("maximum", "did you mean `plait.ops.max`")):
        with pytest.raises(AttributeError, match=f"plait has no `{name}`.*{words}"):
            getattr(plait, name)
