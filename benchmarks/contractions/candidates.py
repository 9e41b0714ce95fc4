#!/usr/bin/env python3
"""Both candidates of a contraction on a CPU, without PyTorch: plait's own tiles, with what stands behind in the kernel, and the
library with a kernel behind it. CPU time of one thread, which others on the machine change little: that of a process with many
runs less that of one with few, in turns, medians.

usage: candidates.py [--plait COMMAND] [--shapes 512x512x512,...] [--kinds plain,gelu,residual] [--dtypes f32,...] [--rounds N]
                     [--few] [--lanes N] [--json FILE]
Shapes are rows x columns x terms. `speed` is the library's time over that of own tiles, `auto` who computes it by default.
With --few kinds are linear, matmul (its weight [terms, columns]) and bytes (linear, of a weight i8 with a scale for each row), and
`read` is a kernel that sums the weight: `bandwidth` is its time over that of the own kernel."""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import machine  # noqa: E402: of the folder above

FEW = 3
PRODUCTS = 4e10  # multiply-adds of a turn
KINDS = {
    "plain": "linear(%x, %w)",
    "gelu": "gelu(linear(%x, %w, %b))",
    "residual": "add(linear(%x, %w, %b), %r)",
}


FEW_KINDS = {
    "linear": "linear(%x, %w)",
    "matmul": "matmul(%x, %v)",
    "bytes": "linear(%x, mul(cast(%q, to = T), %s))",
}
FEW_SHAPES = "1x4096x1024,2x4096x1024,4x4096x1024,8x4096x1024,1x4096x4096,1x1000x1000,1x256x256"
SHAPES = "512x512x512,1024x1024x1024,2048x2048x2048,1024x4096x1024,128x768x768,1024x1024x128"


def fusion(kind, shape, dtype, side):
    m, n, k = shape
    names = {"w": f"T[{n}, {k}]", "b": f"T[{n}]", "r": f"T[{m}, {n}]", "v": f"T[{k}, {n}]", "q": f"i8[{n}, {k}]", "s": f"T[{n}, 1]"}
    body = (KINDS | FEW_KINDS)[kind]
    if side == "read":
        matrix = next(name for name in "wvq" if f"%{name}" in body)
        return f"fusion @f (%m: {names[matrix].replace('T', dtype)}) -> (%y) {{ %y = sum(cast(%m, to = f32), dims = [1]) }}\n"
    others = "".join(f", %{name}: {type}" for name, type in names.items() if f"%{name}" in body)
    return f"let T = {dtype}\nfusion @f (%x: T[{m}, {k}]{others}) -> (%y) {{ %y = {body} }}\n"


def cpu_seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def measure(args, kind, shape, dtype, folder):
    count = max(6, int(PRODUCTS / (shape[0] * shape[1] * shape[2]))) if not args.few else max(200, int(4e8 / (shape[1] * shape[2])))
    options = ["--device", "cpu", "--option", "cpu_threads=1", *(["--option", f"cpu_lanes={args.lanes}"] if args.lanes else [])]
    sides = ["own", "library", *(["read"] if args.few else [])]
    for side in sides:
        (folder / f"{side}.plait").write_text(fusion(kind, shape, dtype, side))

    def turn(side):
        own = "own" if side == "read" else side
        command = [args.plait, "run", str(folder / f"{side}.plait"), *options, "--option", f"contractions={own}"]
        many, few = (cpu_seconds([*command, "--repeat", str(n)]) for n in (count + FEW, FEW))
        return 1e3 * (many - few) / count

    taken = {side: [] for side in sides}
    for side in sides:
        turn(side)  # compiles
    for number in range(args.rounds):
        for side in sides if number % 2 == 0 else sides[::-1]:
            taken[side].append(turn(side))
    ms = {side: machine.spread(each) for side, each in taken.items()}
    text = subprocess.run([args.plait, "explain", str(folder / "own.plait"), *options, "--segments"], check=True, capture_output=True,
                          text=True)
    ratio = lambda side: machine.digits(statistics.median(taken[side]) / statistics.median(taken["own"]))  # noqa: E731
    out = {"kind": kind, "shape": "x".join(map(str, shape)), "dtype": dtype, "cpu_ms": ms, "speed": ratio("library"),
           "auto": "own" if "contraction(rows" in text.stdout else "library"}
    return out | ({"bandwidth": ratio("read")} if args.few else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plait", default="plait")
    parser.add_argument("--shapes")
    parser.add_argument("--kinds")
    parser.add_argument("--dtypes", default="f32")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--lanes", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    load, rows = machine.load_average(), []
    with tempfile.TemporaryDirectory() as folder:
        shapes = args.shapes or (FEW_SHAPES if args.few else SHAPES)
        kinds = args.kinds or ",".join(FEW_KINDS if args.few else KINDS)
        for shape, kind, dtype in itertools.product(shapes.split(","), kinds.split(","), args.dtypes.split(",")):
            row = measure(args, kind, tuple(map(int, shape.split("x"))), dtype, pathlib.Path(folder))
            rows.append(row)
            ms = {side: each["median"] for side, each in row["cpu_ms"].items()}
            print(f"{kind:9} {dtype:5} {row['shape']:16} own {ms['own']:.4f} ms, library {ms['library']:.4f} ms, "
                  f"speed {row['speed']:.2f}, auto takes {row['auto']}"
                  + (f", of read bandwidth {row['bandwidth']:.2f}" if args.few else ""), flush=True)
    if args.json:
        machine.write_json(args.json, {
            "kind": "contraction_candidates", "date": machine.date(), "machine": machine.describe(), "threads": 1,
            "lanes": args.lanes, "rounds": args.rounds, "load": load, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
