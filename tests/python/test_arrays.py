"""Arrays of NumPy, PyTorch and JAX go in and come out without a copy."""

import ctypes
import importlib
import operator
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import plait
import pytest

ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ALIGNMENT = 64  # bytes; what plait allocates is so


def of_numpy(numpy, count, skipped=0):
    """Ones, `skipped` elements off aligned memory."""
    base = numpy.ones(count + skipped + ALIGNMENT // 4, numpy.float32)
    first = -base.ctypes.data % ALIGNMENT // 4 + skipped
    return base[first:first + count]


def of_torch(torch, count, skipped=0):
    return torch.ones(count + skipped)[skipped:]


def of_jax(jax, count, skipped=0):
    return jax.numpy.ones(count + skipped, jax.numpy.float32)[skipped:]


LIBRARIES = {"numpy": (of_numpy, lambda x: x.ctypes.data), "torch": (of_torch, lambda x: x.data_ptr()),
             "jax": (of_jax, lambda x: x.unsafe_buffer_pointer())}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return pytest.importorskip(request.param)


def program():
    f = plait.Fusion("f")
    x = f.input("x", ["n"], plait.f32)
    f.output("y", plait.ops.add(x, 1))
    f.output("total", plait.ops.sum(x))
    return plait.compile(f, device="cpu")


def pointer(array):
    return np.from_dlpack(array).ctypes.data


def test_an_array_lies_where_the_given_one_does(library):
    make, address = LIBRARIES[library.__name__]
    given = make(library, 6)
    taken = plait.array(given)
    assert pointer(taken) == address(given)
    if library.__name__ == "jax":  # whose arrays neither change nor have strides
        return
    given[2] = 7
    assert taken.to_doubles() == [1, 1, 7, 1, 1, 1]
    turned = make(library, 12).reshape(3, 4).T
    taken = plait.array(turned)
    assert taken.strides == (1, 4) and pointer(taken) == address(turned)


def test_operators_beside_arrays_of_other_libraries_say_what_to_write(library):
    """No name becomes an array of NumPy's by `+=`; NumPy's own arrays are at home."""
    make, _ = LIBRARIES[library.__name__]
    given, y = make(library, 3), plait.array(np.arange(3, dtype=np.float32))
    if library is np:
        assert (given + y).tolist() == (y + given).tolist() == [1, 2, 3] and (given == y).tolist() == [False, True, False]
        return
    kept = given
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
                      operator.eq, operator.ne, operator.lt, operator.ge, operator.matmul):
        for left, right in ((y, given), (given, y)):
            with pytest.raises(TypeError, match=r"dlpack"):
                operation(left, right)
    with pytest.raises(TypeError, match="give the plait.Array to that library first"):
        given += y
    assert given is kept
    with pytest.raises(TypeError, match="give the plait.Array to that library first"):
        given in y  # noqa: B015
    from_dlpack = library.from_dlpack if library.__name__ != "jax" else library.dlpack.from_dlpack
    assert (given + from_dlpack(y)).tolist() == [1, 2, 3]


def test_results_are_shared(library):
    make, address = LIBRARIES[library.__name__]
    y = program().run({"x": make(library, 6)})["y"]
    from_dlpack = library.from_dlpack if library.__name__ != "jax" else library.dlpack.from_dlpack
    out, view = from_dlpack(y), y.numpy()
    assert address(out) == view.ctypes.data and np.asarray(out).tolist() == [2] * 6
    view[1] = 42
    if library.__name__ != "jax":
        assert float(out[1]) == 42
        del y, view
        assert float(out[1]) == 42  # it keeps the memory


def test_a_run_sees_what_is_written_between_runs(library):
    if library.__name__ == "jax":
        pytest.skip("arrays of JAX do not change")
    p, x = program(), LIBRARIES[library.__name__][0](library, 6)
    assert p.run({"x": x})["total"].to_doubles() == [6]
    x[3] = 5
    assert p.run({"x": x})["total"].to_doubles() == [10]


@pytest.mark.parametrize("skipped", [0, 1])
def test_a_run_copies_no_dense_input(library, skipped):
    """By the largest memory of a process of its own."""
    if skipped and library.__name__ == "jax":
        pytest.skip("slices of JAX are copies, which are aligned")
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not measure peaks of memory")
    done = subprocess.run([sys.executable, __file__, library.__name__, str(skipped)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    grown, given = map(int, done.stdout.split())
    assert grown < given / 4, f"{grown} bytes of {given}"


# ---- The protocols.

def test_what_is_read_only_stays_so():
    given = np.frombuffer(bytes(range(8)), np.uint8)
    taken = plait.array(given)
    assert pointer_of_buffer(taken, 0) == given.ctypes.data
    for view in (taken.numpy(), np.from_dlpack(taken), plait.array(taken).numpy(), plait.array(np.from_dlpack(taken)).numpy()):
        assert not view.flags.writeable and view.tolist() == list(range(8))
        assert view.ctypes.data == given.ctypes.data
    with pytest.raises(BufferError, match="read-only"):
        taken.__dlpack__()
    with pytest.raises(BufferError, match="read-only"):
        pointer_of_buffer(taken, WRITABLE)
    f = plait.Fusion("f")
    f.output("y", plait.ops.add(f.input("x", [8], plait.u8), f.input("z", [8], plait.u8)))
    y = plait.compile(f).run({"x": taken, "z": given})["y"].numpy()
    assert y.flags.writeable and y.tolist() == [2 * i for i in range(8)]


def test_writable_arrays_stay_so():
    for given in (np.ones(3), np.ones(3, bool)):
        taken = plait.array(given)
        assert taken.numpy().flags.writeable and pointer_of_buffer(taken, WRITABLE) == given.ctypes.data


def test_exports_that_need_a_copy_are_refused():
    taken = plait.array(np.ones(3))
    assert taken.__dlpack__(dl_device=(1, 0), copy=False, max_version=(1, 0)) is not None
    for words in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError, match="plait"):
            taken.__dlpack__(**words)


def versioned(major, flags):
    """An object whose capsule says so."""
    class Exporter:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            capsule = np.ones(3).__dlpack__(max_version=(1, 0))
            address = ctypes.pythonapi.PyCapsule_GetPointer(ctypes.py_object(capsule), b"dltensor_versioned")
            ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))[0] = major
            ctypes.cast(address, ctypes.POINTER(ctypes.c_uint64))[3] = flags  # behind version, manager, deleter
            return capsule

    return Exporter()


@pytest.mark.skipif(not hasattr(np.ones(1), "__dlpack__"), reason="this NumPy has no DLPack")
def test_versions_and_flags_of_capsules():
    assert plait.array(versioned(1, 0)).numpy().flags.writeable
    assert not plait.array(versioned(1, 1)).numpy().flags.writeable
    with pytest.raises(plait.UserError, match="version 2.0"):
        plait.array(versioned(2, 0))


@pytest.mark.parametrize("error, expected", [(KeyboardInterrupt, KeyboardInterrupt), (MemoryError, MemoryError),
                                             (RuntimeError, plait.UserError)])
def test_errors_of_exporters(error, expected):
    class Exporter:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            raise error("the exporter's own")

    with pytest.raises(expected, match="the exporter's own"):
        plait.array(Exporter())


WRITABLE, ND, STRIDES, C, F, ANY = 0x1, 0x8, 0x18, 0x38, 0x58, 0x98  # of the buffer protocol


def pointer_of_buffer(array, flags):
    """Of the buffer that the array lends for these flags. Raises BufferError."""
    view = (ctypes.c_void_p * 16)()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), view, flags)
    pointer = view[0]
    ctypes.pythonapi.PyBuffer_Release(view)
    return pointer


@pytest.mark.parametrize("make, granted", [
    (lambda: np.ones((3, 4)), {0, ND, STRIDES, C, ANY}), (lambda: np.ones((4, 3)).T, {STRIDES, F, ANY}),
    (lambda: np.ones((3, 8))[:, ::2], {STRIDES}), (lambda: np.ones((1, 4)), {0, ND, STRIDES, C, F, ANY}),
    (lambda: np.ones((0, 4)), {0, ND, STRIDES, C, F, ANY})])
def test_buffers_are_as_contiguous_as_asked(make, granted):
    taken = plait.array(make())
    for flags in (0, ND, STRIDES, C, F, ANY):
        if flags in granted:
            pointer_of_buffer(taken, flags)
        else:
            with pytest.raises(BufferError, match="contiguous"):
                pointer_of_buffer(taken, flags)


def peak():
    """Bytes; getrusage's does not begin anew."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text()).group(1))


def main(name, skipped):
    """Prints the bytes by which a run raises the process's largest memory, and those of its input."""
    f = plait.Fusion("f")
    f.output("y", plait.ops.sum(f.input("x", ["n"], plait.f32)))
    p, count = plait.compile(f, device="cpu"), 2**25
    x = LIBRARIES[name][0](importlib.import_module(name), count, int(skipped))
    p.prepare({"x": x})
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak()
    assert p.run({"x": x})["y"].to_doubles() == [count]
    print(peak() - before, 4 * count)


if __name__ == "__main__":
    main(*sys.argv[1:])


def test_arrays_of_jax_never_change():
    jax = pytest.importorskip("jax")
    program = plait.compile(plait.parse("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }"), device="cpu")
    given = jax.numpy.ones(64, jax.numpy.float32)
    assert not plait.from_array(given).numpy().flags.writeable
    for words in ({"out": given}, {"donate": True}):
        with pytest.raises(plait.UserError, match="read-only"):
            program.run(given if "donate" in words else np.ones(64, np.float32), **words)
    assert given.tolist() == [1] * 64 and program.run(given)["y"].tolist() == [-1] * 64


def test_negated_views_of_torch_are_refused():
    """Their memory has the other sign."""
    torch = pytest.importorskip("torch")
    given = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    with pytest.raises(plait.UserError, match=r"negated view(.|\n)*x.resolve_neg\(\)"):
        plait.from_array(given)
    assert plait.from_array(given.resolve_neg()).tolist() == [-2, -4]


def test_what_jax_traces_is_refused_with_a_way_out():
    tracer = type("DynamicJaxprTracer", (), {"__module__": "jax._src.interpreters.partial_eval", "shape": (3,), "dtype": np.dtype(np.float32)})

    def cannot(self, **words):
        raise TypeError("traced")

    speaking = type("DynamicJaxprTracer", (tracer,), {"__module__": tracer.__module__, "__dlpack__": cannot, "__dlpack_device__": cannot})
    program = plait.compile(plait.parse("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }"), device="reference")
    for each in (tracer(), speaking()):
        with pytest.raises(plait.UserError, match="JAX traces the array here") as caught:
            program.run(each)
        assert "pure_callback" in caught.value.remedy and caught.value.where == "input %x"
    other = type("Other", (), {"__dlpack__": cannot, "__dlpack_device__": cannot})
    with pytest.raises(plait.UserError, match="cannot be shared: traced"):
        program.run(other())
