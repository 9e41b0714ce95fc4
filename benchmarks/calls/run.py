#!/usr/bin/env python3
"""What a call costs beside its kernel, and what a saved program costs to load: plait from C, as `Program.run` and as `plait.jit`,
and JAX's jit, of `neg` of 16 f32, in turns; then loads in fresh processes. Microseconds, medians and least of the rounds.

Sides of Python need the wheel, and are left out without it. usage: run.py [--binary-dir DIR] [--jax PYTHON] [--rounds N]
[--processes N] [--json FILE] [--quick]. `--jax` is a Python that has JAX."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import machine  # noqa: E402: beside the folder

NEG = "fusion @f (%x: f32[16]) -> (%y) {\n  %y = neg(%x)\n}\n"
EXAMPLES = ["tp_mlp", "transformer_block"]  # with products, by oneDNN
JAX = """
import sys, time, jax, numpy as np
f, x, calls = jax.jit(lambda x: -x), jax.numpy.ones(16, jax.numpy.float32), int(sys.argv[1])
def waited():
    for _ in range(calls):
        f(x).block_until_ready()
def queued():
    for _ in range(calls):
        y = f(x)
    y.block_until_ready()
for call in (waited, queued):
    call()
for call in (waited, queued):
    begin = time.perf_counter()
    call()
    print(1e6 * (time.perf_counter() - begin) / calls)
print(jax.__version__)
"""


def sides_of_python():
    """By name, what runs it once."""
    try:
        import numpy as np
        import plait
    except ImportError:
        return {}
    x, y = np.ones(16, np.float32), np.zeros(16, np.float32)
    program, traced = plait.compile(plait.parse(NEG), device="cpu"), plait.jit(lambda x: -x, device="cpu")
    return {"Program.run": lambda: program.run(x), "Program.run, given output": lambda: program.run(x, out=y),
            "plait.jit": lambda: traced(x)}


def timed(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return 1e6 * (time.perf_counter() - begin) / calls


def json_of(*command):
    return json.loads(subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout)


def measure_calls(args, saved):
    """Sides in turns: the load of others hits all."""
    python, taken, versions = sides_of_python(), {}, {}
    add = lambda name, us: taken.setdefault(name, []).append(us)  # noqa: E731
    for call in python.values():
        timed(call, args.calls)
    for _ in range(args.rounds):
        found = json_of(args.binary_dir / "plait_calls", "run", saved, args.calls, 1)
        add("C", found["made"][0])
        add("C, given output", found["given"][0])
        for name, call in python.items():
            add(name, timed(call, args.calls))
        if args.jax:
            done = subprocess.run([args.jax, "-c", JAX, str(args.calls)], capture_output=True, text=True, check=True)
            waited, queued, versions["jax"] = done.stdout.split()
            add("jax.jit", float(waited))
            add("jax.jit, not waited for", float(queued))
    return taken, versions


def measure_loads(args, files):
    out = {}
    for name, file in files.items():
        first, later = [], []
        for _ in range(args.processes):
            load = json_of(args.binary_dir / "plait_calls", "load", file, 6)["load"]
            first.append(load[0])
            later.append(statistics.median(load[1:]))
        out[name] = {"bytes": file.stat().st_size, "first_in_a_process": machine.spread(first), "later": machine.spread(later)}
    return out


def save(args, folder):
    files = {}
    (folder / "neg.plait").write_text(NEG)
    for name, source in [("neg", folder / "neg.plait")] + [(name, ROOT / f"docs/examples/{name}.plait") for name in EXAMPLES]:
        files[name] = folder / f"{name}.plaitc"
        command = [args.binary_dir / "plait", "compile", source, "--device", "cpu", "--save", files[name]]
        subprocess.run(command, capture_output=True, text=True, check=True)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary-dir", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release")
    parser.add_argument("--jax")
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--processes", type=int, default=21)
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.calls, args.rounds, args.processes = 20, 1, 1
    before = machine.load_average()
    with tempfile.TemporaryDirectory() as folder:
        files = save(args, pathlib.Path(folder))
        taken, versions = measure_calls(args, files["neg"])
        loads = measure_loads(args, files)
    calls = {name: machine.spread(us) for name, us in taken.items()}
    for name, us in calls.items():
        print(f"{name:28} {us['median']:8.2f} us a call, least {us['min']:.2f}")
    for name, load in loads.items():
        print(f"load of {name:20} {load['first_in_a_process']['median']:8.0f} us first in a process, later {load['later']['median']:.0f} us")
    if args.json:
        build = (args.binary_dir / "CMakeCache.txt").read_text().split("CMAKE_BUILD_TYPE:STRING=")[1].split("\n")[0]
        found = {"kind": "calls", "date": machine.date(), "machine": machine.describe(), "load_before": before,
                 "load_after": machine.load_average(), "machine_was_loaded": machine.is_loaded(before), "build": build,
                 "python": sys.version.split()[0], **versions, "calls_a_round": args.calls, "rounds": args.rounds,
                 "microseconds_a_call": calls, "processes": args.processes, "microseconds_of_load": loads}
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
