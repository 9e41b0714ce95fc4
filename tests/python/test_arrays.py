"""Arrays of NumPy, PyTorch and JAX go in and come out without a copy."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import plait
import pytest

ALIGNMENT = 64  # bytes; a run uses memory that is so in place


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
    return plait.compile(f)


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
def test_a_run_copies_only_what_is_not_aligned(library, skipped):
    """By the largest memory of a process of its own."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not measure peaks of memory")
    done = subprocess.run([sys.executable, __file__, library.__name__, str(skipped)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    grown, given = map(int, done.stdout.split())
    assert (grown > 3 * given / 4) if skipped else (grown < given / 4), f"{grown} bytes of {given}"


def peak():
    """Bytes; getrusage's does not begin anew."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text()).group(1))


def main(name, skipped):
    """Prints the bytes by which a run raises the process's largest memory, and those of its input."""
    f = plait.Fusion("f")
    f.output("y", plait.ops.sum(f.input("x", ["n"], plait.f32)))
    p, count = plait.compile(f), 2**25
    x = LIBRARIES[name][0](importlib.import_module(name), count, int(skipped))
    p.prepare({"x": x})
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak()
    assert p.run({"x": x})["y"].to_doubles() == [count]
    print(peak() - before, 4 * count)


if __name__ == "__main__":
    main(*sys.argv[1:])
