"""Tries an installed plait as its users do, with nothing but Python beside it: run by its interpreter, in a folder to write
in. Prints what it found and `the wheel works`; fails by an assertion. Expects no MPI and no CUDA driver on the machine.
"""
import array
import math
import pathlib
import subprocess
import sys
import time

started = time.perf_counter()
import plait  # noqa: E402

print(f"import: {1000 * (time.perf_counter() - started):.0f} ms")
HOST_LIBRARIES = ("libLLVM", "libdnnl.so", "libfmt.so", "libopenblas", "libOpenCL.so")


def numbers(*shape):
    """f32 in rows, small and of both signs."""
    count = math.prod(shape)
    return memoryview(array.array("f", [(i * 7 % 23 - 11) / 16 for i in range(count)])).cast("B").cast("f", shape)


def close(found, wanted):
    assert len(found) == len(wanted) and all(abs(a - b) <= 1e-5 * (1 + abs(b)) for a, b in zip(found, wanted)), (found, wanted)


def flat(values):
    return [each for row in values.tolist() for each in row]


def softmax_by_llvm():
    f = plait.Fusion("softmax")
    x = f.input("x", ["rows", 64], plait.f32)
    f.output("y", plait.ops.softmax(x * 0.5, dim=-1))
    program = plait.compile(f, device="cpu", options={"disk_cache": False})
    given = numbers(8, 64)
    began = time.perf_counter()
    y = program.run(x=given)["y"]
    print(f"first kernel: {1000 * (time.perf_counter() - began):.0f} ms")
    wanted = []
    for row in given.tolist():
        parts = [math.exp(each / 2) for each in row]
        wanted += [each / sum(parts) for each in parts]
    close(flat(y), wanted)
    program.save("softmax.plaitc")
    close(flat(plait.load("softmax.plaitc").run(x=given)["y"]), wanted)
    assert program.kernels[0].source, "no kernel"


def product_by_onednn():
    f = plait.Fusion("product")
    a, b = f.input("a", [48, 64], plait.f32), f.input("b", [64, 32], plait.f32)
    f.output("c", a @ b)
    x, y = numbers(48, 64), numbers(64, 32)
    program = plait.compile(f, device="cpu", options={"contractions": "library"})
    found = program.run(a=x, b=y)["c"]
    columns = list(zip(*y.tolist()))
    close(flat(found), [sum(p * q for p, q in zip(row, column)) for row in x.tolist() for column in columns])


def what_is_not_here():
    f = plait.parse("let n = 4\nfusion @f (%x: f32[n]) -> (%y) {\n  %y = exp(%x)\n}\n")
    for how, word in (({"device": "cuda"}, "driver"), ({"comm": "mpi"}, "libmpi.so")):
        try:
            plait.compile(f, **how).run(x=numbers(4))
        except plait.MissingError as error:
            print(f"{how}: {error}")
            assert word in str(error) and "install" in str(error), error
        else:
            raise AssertionError(f"{how} is here")


def command():
    pathlib.Path("norm.plait").write_text(
        "let rows = 64, width = 256\nfusion @norm (%x: f32[rows, width], %w: f32[width]) -> (%y) {\n  %y = rms_norm(%x, %w)\n}\n")
    for words, said in ((["run", "norm.plait", "--device", "cpu", "--check"], "check ok"), (["doctor"], "linked into the plug-in"),
                        (["--version"], plait.__version__)):
        for program in ([sys.executable, "-m", "plait"], [str(pathlib.Path(sys.executable).with_name("plait"))]):
            done = subprocess.run([*program, *words], capture_output=True, text=True)
            assert done.returncode == 0 and said in done.stdout, (words, done)
    doctor = plait.doctor()
    print(doctor)
    assert "built without" not in doctor, "a part is left out"


softmax_by_llvm()
product_by_onednn()
what_is_not_here()
command()
for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
    file = line.rpartition(" ")[2]
    assert not any(pathlib.PurePath(file).name.startswith(name) for name in HOST_LIBRARIES), f"{file} is the machine's own"
print("the wheel works")
