"""Compiling and running: arrays in and out, sharding, what was compiled, threads."""

import gc
import os
import re
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import plait
import pytest
from process import growth, steps_beside


def mlp(mesh=None):
    f = plait.Fusion("mlp", mesh=mesh)
    x = f.input("x", ["b", 32], plait.f32)
    w = f.parameter("w", [64, 32], plait.f32)
    v = f.parameter("v", [32, 64], plait.f32)
    if mesh:
        w.shard(0, "tp")
        v.shard(1, "tp")
    f.output("y", plait.ops.linear(plait.ops.gelu(plait.ops.linear(x, w), "tanh"), v))
    return f


def drawn(batch=5, seed=0):
    r = np.random.default_rng(seed)
    return {name: r.standard_normal(shape).astype(np.float32) / 4
            for name, shape in {"x": (batch, 32), "w": (64, 32), "v": (32, 64)}.items()}


def expected(a):
    h = a["x"].astype(np.float64) @ a["w"].T.astype(np.float64)
    return h / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))) @ a["v"].T


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_runs(device):
    a = drawn()
    p = plait.compile(mlp(), device=device)
    y = p.run(a)["y"]
    assert y.shape == (5, 32) and y.dtype == plait.f32 and y.device == "cpu"
    np.testing.assert_allclose(y.numpy(), expected(a), atol=1e-5)
    assert p.outputs == ["y"] and p.ranks == 1 and p.rank is None


def test_one_program_for_all_batches():
    p = plait.compile(mlp())
    for batch in (2, 7, 16, 1, 0):
        a = drawn(batch)
        np.testing.assert_allclose(p.run(a)["y"].numpy(), expected(a), atol=1e-5)


def test_ranks_of_this_process():
    a = drawn()
    np.testing.assert_allclose(plait.run_ranks(mlp(plait.Mesh(tp="t")), a, 4)["y"].numpy(), expected(a), atol=1e-5)
    p = plait.compile(mlp(plait.Mesh(tp=4)), device="cpu")
    p.prepare({"x": (plait.f32, (5, 32)), "w": a["w"], "v": a["v"]})
    assert p.mesh == [4] and p.layout("w") == "{0: tp}" and p.local_shape("y", 3) == [5, 32]
    assert "all-reduce" in p.explain("shard") and p.explain("segments") and p.explain("schedule")
    assert p.report["collectives"] == 1
    assert "fusion @mlp" in p.dump("sharded") and "%" in p.dump("program") and p.dump("kir")
    assert p.kernels and all(k.source and k.schedule and k.arch == "cpu" for k in p.kernels)
    for call in (lambda: p.explain("nothing"), lambda: p.dump("nothing"), lambda: p.layout("nothing"),
                 lambda: p.local_shape("y", 4), lambda: plait.compile(mlp(plait.Mesh(tp="t")), sizes={"u": 2}),
                 lambda: plait.compile(mlp(), device="gpu"), lambda: plait.compile(mlp(), options={"verfy": True})):
        with pytest.raises(plait.UserError) as caught:
            call()
        assert caught.value.remedy


def test_inputs_by_position_by_keyword_and_as_a_dict():
    p, a = plait.compile(mlp()), drawn()
    assert p.inputs == ["x", "w", "v"] and p.outputs == ["y"]
    x, w, v = a.values()
    want = p.run(a)["y"].tolist()
    for call in (lambda f: f(x, w, v), lambda f: f(**a), lambda f: f(x, v=v, w=w), lambda f: f({"x": x, "%w": w}, v=v),
                 lambda f: f(types.MappingProxyType(a))):
        assert call(p.run)["y"].tolist() == want
        assert call(lambda *given, **named: p.run_local(0, *given, **named))["y"].tolist() == want
        call(p.prepare)
    p.prepare((plait.f32, (3, 32)), w, v=(plait.f32, (32, 64)))
    for call, words in [
            (lambda f: f(x, w), "input %v is missing"), (lambda f: f(), "input %x is missing"), (lambda f: f(x=x), "is missing"),
            (lambda f: f(x, w, v, x), "4 inputs by position, and the fusion has 3"), (lambda f: f(x, w, v, x=x), "%x is given twice"),
            (lambda f: f(a, x=x), "%x is given twice"), (lambda f: f({"x": x, "%x": x}), "%x is given twice"),
            (lambda f: f(x, w, v, z=x), "no input `z`"), (lambda f: f({**a, "z": x}), "no input `z`"),
            (lambda f: f({1: x}), "1 is no name of an input")]:
        for function in (p.run, p.prepare):
            with pytest.raises(plait.UserError, match=words) as caught:
                call(function)
            assert caught.value.where and caught.value.remedy, words
    with pytest.raises(plait.UserError, match="NoneType.* is no array"):
        p.run(x, w, None)


def test_inputs_named_as_options_are_given_in_a_dict():
    f = plait.Fusion("f")
    f.output("y", f.input("stream", [2], plait.f32) + f.input("threads", [2], plait.f32))
    p, one = plait.compile(f), np.ones(2, np.float32)
    assert p.run({"stream": one, "threads": one}, threads=1)["y"].tolist() == p.run(one, one)["y"].tolist() == [2, 2]
    with pytest.raises(plait.UserError, match="is no CUDA stream"):
        p.run(stream=one, threads=1)


def test_the_default_device_is_that_of_the_command():
    device, = re.findall(r"default device: (\w+)", plait.doctor())
    for program in (plait.compile(mlp()), plait.compile(mlp(), device=None)):
        assert program.device == device and f" on {device}," in repr(program)
    assert plait.compile(mlp(), device="reference").device == "reference"


def test_wrong_inputs_are_refused():
    p, a = plait.compile(mlp()), drawn()
    for change, words in [({"x": a["x"].astype(np.float64)}, "dtype f64 does not fit"), ({"x": a["w"][0]}, "expected 2 dims, got 1"),
                          ({"x": a["x"][:, :31]}, "got 31"), ({"z": a["x"]}, "z"), ({"x": "text"}, "is no array"),
                          ({"x": a["x"][:, ::-1]}, "stride"), ({"x": a["x"].astype(">f4")}, "no dtype of plait")]:
        with pytest.raises(plait.UserError, match=words) as caught:
            p.run({**a, **change})
        assert caught.value.where
    with pytest.raises(plait.UserError):
        p.run({"x": a["x"]})


def test_arrays_share_memory():
    y = plait.compile(mlp()).run(drawn())["y"]
    a, b = y.numpy(), np.from_dlpack(y)
    a[0, 0] = 42
    assert b[0, 0] == 42 and y.to_doubles()[0] == 42
    given = np.arange(6, dtype=np.float32)
    taken = plait.array(given)
    given[2] = 7
    assert taken.to_doubles() == [0, 1, 7, 3, 4, 5] and taken.strides == (1,)
    del taken, y
    gc.collect()
    assert a[0, 0] == 42  # the view keeps the memory


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64"])
def test_every_dtype_goes_in_and_out(dtype):
    f = plait.Fusion()
    f.output("y", plait.ops.flip(f.input("x", ["n"], dtype), [0]))
    given = np.array([1, 0, 1, 1], dtype)
    out = plait.compile(f).run({"x": given})["y"].numpy()
    assert out.dtype == given.dtype and out.tolist() == given[::-1].tolist()


def test_narrow_floats_that_numpy_lacks():
    f = plait.Fusion()
    x = f.input("x", [3], plait.f32)
    f.output("y", plait.ops.cast(x, plait.bf16))
    y = plait.compile(f).run({"x": np.array([1, 2.5, 3.0078125], np.float32)})["y"]
    assert y.dtype == plait.bf16 and y.numpy().dtype == np.float32 and y.numpy().tolist() == [1, 2.5, 3.0]
    with pytest.raises(BufferError):
        memoryview(y)


def test_odd_arrays():
    f = plait.Fusion()
    f.output("y", plait.ops.neg(f.input("x", ["n", "m"], plait.f32)))
    p = plait.compile(f)
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    locked = base.copy()
    locked.flags.writeable = False
    for x in (base[::2, 1:4], base.T, locked, base[:0], np.broadcast_to(base[:1], (3, 6)), base[:, :1]):
        np.testing.assert_array_equal(p.run({"x": x})["y"].numpy(), -x)


def test_allocations_of_outputs():
    f = plait.Fusion()
    y = f.output("y", plait.ops.neg(f.input("x", [2, 3], plait.f32)))
    y.allocate([1, 0])
    out = plait.compile(f).run({"x": np.ones((2, 3), np.float32)})["y"]
    assert out.strides == (1, 2) and out.numpy().tolist() == [[-1] * 3] * 2


def test_threads_compile_and_run_at_once():
    shared, failures = plait.compile(mlp()), []

    def work(seed):
        try:
            own = plait.compile(mlp())
            for i in range(20):
                a = drawn(1 + i % 7, seed * 100 + i)
                for p in (shared, own):
                    np.testing.assert_allclose(p.run(a)["y"].numpy(), expected(a), atol=1e-5)
        except Exception as e:  # noqa: BLE001: shown by the test
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_results_that_are_dropped_are_the_memory_of_later_ones():
    f = plait.Fusion("f")
    f.output("y", plait.ops.neg(f.input("x", ["n"], plait.f32)))
    p, x = plait.compile(f, device="cpu", options={"kept_memory": 77}), np.ones(1 << 20, np.float32)  # a pool of its own
    first = p.run({"x": x})["y"].numpy().ctypes.data
    before = p.memory
    assert before["held_bytes"] >= x.nbytes > before["in_use_bytes"]
    for _ in range(3):
        y = np.from_dlpack(p.run({"x": x})["y"])
        assert y.ctypes.data == first and y[-1] == -1 and p.memory["in_use_bytes"] >= x.nbytes
        del y
    torch = pytest.importorskip("torch")
    for _ in range(3):  # as torch.compile calls it
        y = torch.from_dlpack(p._run_capsules([torch.ones(1 << 20).__dlpack__()])[0])
        assert y.data_ptr() == first and float(y[-1]) == -1
        del y
    after = p.memory
    assert after["misses"] == before["misses"] and after["hits"] >= before["hits"] + 6
    assert after["in_use_bytes"] == before["in_use_bytes"]


def test_results_of_adapters_are_parts_of_outputs():
    torch = pytest.importorskip("torch")
    f = plait.Fusion("f")
    f.output("y", plait.ops.neg(f.input("x", [3, 4], plait.f32)))
    p, x = plait.compile(f, device="cpu"), torch.arange(12, dtype=torch.float32).reshape(3, 4)
    p._set_results([(0, (4, 2), (1, 4), 4), 0, (0, (0,), (1,), 99)])
    part, whole, none = [torch.from_dlpack(c) for c in p._run_capsules([x.__dlpack__()])]
    assert torch.equal(part, -x[1:].T) and torch.equal(whole, -x) and none.shape == (0,)
    assert part.data_ptr() == whole[1].data_ptr()  # one memory
    for outside in ((0, (3,), (4,), 4), (0, (1,), (1,), -1), (0, (2,), (-1,), 1), (0, (2, 2), (1,), 0)):
        p._set_results([outside])
        with pytest.raises(plait.InternalError, match="leaves its 12 elements"):
            p._run_capsules([x.__dlpack__()])


def test_other_python_threads_go_on_meanwhile():
    f = plait.Fusion("chain")
    y = f.input("x", ["n"], plait.f32)
    for i in range(40):
        y = plait.ops.sin(y * (1 + i / 64))
    f.output("y", y)
    program = plait.compile(f, device="cpu", options={"disk_cache": False})
    assert steps_beside(lambda: program.prepare({"x": (plait.f32, (2**20,))})) > 5
    x = np.ones(2**24, np.float32)
    assert steps_beside(lambda: program.run({"x": x}, threads=1)) > 5
    assert steps_beside(lambda: sum(range(10**7))) <= 5  # which keeps the lock


def test_ten_thousand_calls_leak_nothing():
    p, a, kept = plait.compile(mlp()), drawn(), []
    for call in (lambda: p.run(a), lambda: str(mlp(plait.Mesh(tp="t"))), lambda: plait.compile(mlp()),
                 lambda: pytest.raises(plait.UserError, p.run, {})):
        memory, files = growth(call, 10000, warm=1000)
        assert memory < 2**19 and files == 0
    assert growth(lambda: kept.append(p.run(a)), 10000, warm=10)[0] > 2**20  # a leak would be seen


@pytest.mark.parametrize("comm", ["local", "local:threads"])
def test_a_forked_process_runs(comm):
    a, p = drawn(), plait.compile(mlp(plait.Mesh(tp=2)), device="cpu", comm=comm)
    want = np.asarray(p.run(a)["y"])
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # threads that are not there would be waited for without end
        try:
            os._exit(0 if np.allclose(np.asarray(p.run(a)["y"]), want, rtol=1e-4, atol=1e-5) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("ranks", [None, 4])
def test_a_saved_program_runs_elsewhere(tmp_path, ranks):
    f = mlp(plait.Mesh(tp="t") if ranks else None)
    program = plait.compile(f, device="cpu", ranks=ranks)
    with pytest.raises(plait.UserError, match="nothing is compiled yet"):
        program.save(tmp_path / "p.plaitc")
    inputs = drawn()
    y = np.asarray(program.run(inputs)["y"])
    program.save(tmp_path / "p.plaitc")
    loaded = plait.load(tmp_path / "p.plaitc")
    assert loaded.inputs == program.inputs and loaded.ranks == (ranks or 1)
    np.testing.assert_array_equal(np.asarray(loaded.run(inputs)["y"]), y)
    assert loaded.classes == 1 and all(kernel.from_disk for kernel in loaded.kernels)
    assert loaded.dump("sharded") == program.dump("sharded")
    assert "norm" in loaded.explain("schedule") or "pointwise" in loaded.explain("schedule")
    np.testing.assert_allclose(np.asarray(loaded.run(drawn(1))["y"]), expected(drawn(1)), rtol=1e-4, atol=1e-5)
    # In a process that never loads LLVM.
    np.savez(tmp_path / "in.npz", **inputs)
    code = ("import numpy as np, plait, sys\n"
            f"p = plait.load({str(tmp_path / 'p.plaitc')!r})\n"
            f"y = p.run(dict(np.load({str(tmp_path / 'in.npz')!r})))['y']\n"
            f"np.save({str(tmp_path / 'out.npy')!r}, np.asarray(y))\n"
            "sys.exit('libLLVM' in open('/proc/self/maps').read())\n")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), y)


def test_a_damaged_program_is_refused(tmp_path):
    program = plait.compile(mlp(), device="cpu")
    program.run(drawn())
    path = tmp_path / "p.plaitc"
    program.save(path)
    whole = path.read_bytes()
    for bad in (whole[:-1], whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], b"", b"fusion @f"):
        path.write_bytes(bad)
        with pytest.raises(plait.UserError, match="p.plaitc"):
            plait.load(path)
    with pytest.raises(plait.UserError, match="cannot read"):
        plait.load(tmp_path / "none.plaitc")


def test_comm_takes_what_the_command_takes():
    a, mesh = drawn(), plait.Mesh(tp=2)
    want = np.asarray(plait.compile(mlp(mesh), device="cpu").run(a)["y"])
    assert np.array_equal(np.asarray(plait.compile(mlp(mesh), device="cpu", comm="local:7").run(a)["y"]), want)
    for comm in ("local:", "local:x", "mpj", "given"):
        with pytest.raises(plait.UserError, match="communicat"):
            plait.compile(mlp(mesh), comm=comm)


def test_errors_of_words_that_are_not_ascii():
    for text in ("fusion @f (%x: f32[4]) -> (%y) { %y = exp(\u00e4) }", "\u00fcber", "fusion @\u4e2d (%x: f32[4])"):
        with pytest.raises(plait.UserError):
            plait.parse(text)
        with pytest.raises(plait.UserError):
            plait.parse("fusion", file=text)
    for extent in ("n\u00e4", "\u00e4", "n + \u4e2d", "x" * 199 + "\u4e2d"):  # the message is cut within a character
        with pytest.raises(plait.UserError):
            plait.Fusion("f").input("x", [extent], plait.f32)
    with pytest.raises(plait.UserError, match="\u00e4"):
        plait.compile(mlp(), options={"\u00e4": 1})
    with pytest.raises(plait.UserError, match="\u00e4"):
        plait.compile(mlp(), device="\u00e4")


def test_doctor_and_the_command():
    assert "CPU" in plait.doctor()


def test_a_tensor_that_does_not_fit():
    f = plait.Fusion("f")
    x = f.input("x", ["n"], plait.f32)
    f.output("y", plait.ops.exp(plait.ops.expand(plait.ops.reshape(x, ["n", 1]), ["n", "n"])))
    with pytest.raises(MemoryError, match="no memory for") as raised:
        plait.compile(f, device="cpu").run({"x": np.zeros(2**24, np.float32)})
    assert isinstance(raised.value, plait.OutOfMemoryError) and isinstance(raised.value, plait.MissingError)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_indices_outside(device):
    f = plait.Fusion("f")
    x, i = f.input("x", [5, 3], plait.f32), f.input("i", [2], plait.i64)
    f.output("y", plait.ops.index_select(x, i, 0))
    p = plait.compile(f, device=device)
    table, good = np.arange(15, dtype=np.float32).reshape(5, 3), np.array([4, 0])
    for _ in range(2):
        with pytest.raises(plait.BoundsError, match=r"index -1 at \[1\] of %i lies outside of the 5 places") as raised:
            p.run({"x": table, "i": np.array([4, -1])})
        assert isinstance(raised.value, IndexError) and "index_select(%x, %i, dim = 0)" in raised.value.where
        np.testing.assert_array_equal(p.run({"x": table, "i": good})["y"].numpy(), table[good])
    g = plait.Fusion("g")
    x, i = g.input("x", [5, 3], plait.f32), g.input("i", [2], plait.i64)
    g.output("y", plait.ops.index_select(x, i, 0, bounds="assume"))
    assert np.isnan(plait.compile(g, device=device).run({"x": table, "i": np.array([4, -1])})["y"].numpy()[1]).all()


def test_devices_that_are_here():
    here = plait.devices()
    assert [device.is_default for device in here] == [True] + [False] * (len(here) - 1)
    names = [device.name for device in here]
    assert "reference" in names and len(set(names)) == len(names)
    f = plait.Fusion("f")
    f.output("y", plait.ops.neg(f.input("x", [4], plait.f32)))
    for device in here:
        assert device.count >= 1 and device.name in repr(device)
        assert plait.compile(f, device=device.name).run(np.ones(4, np.float32))["y"].tolist() == [-1] * 4
    assert plait.compile(f).device == names[0]
    for cpu in (device for device in here if device.name == "cpu"):
        assert cpu.cores >= 1 and "lanes" in cpu.description


SIZED = """let h = 4, d = 8
fusion @f (%w: f32[h*d, 5]) -> (%y) {
  %y: f32[h, d, 5] = reshape(%w, shape = [h, d, 5])
}
"""


@pytest.mark.parametrize("make, words", [
    (lambda: plait.compile("fusion @f"), r"(?s)a text is no fusion.*plait.compile\(plait.parse\(text\)\)"),
    (lambda: plait.compile(None), "(?s)None is no fusion.*give a plait.Fusion"),
    (lambda: plait.compile(plait.parse(SIZED), ranks="4"), "(?s)ranks is '4'.*give a whole number, ranks=4"),
    (lambda: plait.compile(plait.parse(SIZED), ranks=2.0), "(?s)ranks is 2.0.*whole number"),
    (lambda: plait.compile(plait.parse(SIZED), ranks=True), "ranks is True"),
    (lambda: plait.compile(plait.parse(SIZED), ranks=2**70), "ranks is 1180591620717411303424"),
    (lambda: plait.compile(plait.parse(SIZED), sizes={"h": 1.5}), "(?s)size h is 1.5.*whole numbers, at least 0"),
    (lambda: plait.compile(plait.parse(SIZED), sizes={"h": -1}), "(?s)size h is -1.*fusion @f.*whole numbers, at least 0"),
    (lambda: plait.compile(plait.parse(SIZED), sizes=[1]), r"(?s)sizes is \[1\].*give a dict, sizes="),
    (lambda: plait.compile(plait.parse(SIZED), sizes={"e": 1}), "there is no size `e`"),
    (lambda: plait.compile(plait.parse(SIZED), options="nest"), "(?s)options is 'nest'.*give a dict, options="),
    (lambda: plait.compile(plait.parse(SIZED), options=None), "options is None"),
    (lambda: plait.compile(plait.parse(SIZED), device=3), "(?s)device is 3.*plait.devices"),
    (lambda: plait.compile(plait.parse(SIZED), comm=None), "(?s)comm is None.*local:SEED"),
])
def test_arguments_of_compile_that_are_none_of_its_kinds_are_told(make, words):
    with pytest.raises(plait.UserError, match=words):
        make()


def test_arguments_of_compile_are_whole_numbers_and_mappings_of_any_library():
    program = plait.compile(plait.parse(SIZED), ranks=np.int64(1), sizes=types.MappingProxyType({"h": np.int32(2)}))
    assert program(w=np.zeros((16, 5), np.float32))["y"].shape == (2, 8, 5)


def test_extents_that_give_sizes_no_value_say_which_are_in_force():
    def refused(text, rows, **sizes):
        program = plait.compile(plait.parse(text), sizes=sizes)
        with pytest.raises(plait.UserError) as e:
            program(w=np.zeros((rows, 5), np.float32))
        return e.value.what, e.value.remedy

    assert refused(SIZED, 16) == ("dim 0: expected 32, got 16: d*h is 32, with d = 8, h = 4", "give extent 32, or a size to d or h")
    assert refused(SIZED, 15, h=4) == ("extent 15 of dim 0 gives no value for d*h, with h = 4", "give an extent that fits, or a size to d")
    assert refused(SIZED.replace("let h = 4, d = 8", ""), 16) == (
        "extent 16 of dim 0 gives no value for d*h", "give an extent that fits, or a size to d or h")
