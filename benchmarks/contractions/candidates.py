#!/usr/bin/env python3
"""Both candidates of a contraction on a CPU, without PyTorch: plait's own tiles, with what stands behind in the kernel, and the
library with a kernel behind it. CPU time of one thread, which others on the machine change little: that of a process with many
runs less that of one with few, in turns, medians.

usage: candidates.py [--plait COMMAND] [--shapes 512x512x512,...] [--kinds plain,gelu,residual] [--rounds N] [--json FILE]
Shapes are rows x columns x terms. `speed` is the library's time over that of own tiles, `auto` who computes it by default."""

from __future__ import annotations

import argparse
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


def fusion(kind, shape):
    m, n, k = shape
    names = {"w": f"f32[{n}, {k}]", "b": f"f32[{n}]", "r": f"f32[{m}, {n}]"}
    others = "".join(f", %{name}: {type}" for name, type in names.items() if f"%{name}" in KINDS[kind])
    return f"fusion @f (%x: f32[{m}, {k}]{others}) -> (%y) {{ %y = {KINDS[kind]} }}\n"


def cpu_seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def measure(plait, kind, shape, rounds, folder):
    path = folder / "f.plait"
    path.write_text(fusion(kind, shape))
    count = max(6, int(PRODUCTS / (shape[0] * shape[1] * shape[2])))

    def turn(side):
        command = [plait, "run", str(path), "--device", "cpu", "--option", "cpu_threads=1", "--option", f"contractions={side}"]
        many, few = (cpu_seconds([*command, "--repeat", str(n)]) for n in (count + FEW, FEW))
        return 1e3 * (many - few) / count

    sides = ["own", "library"]
    taken = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 == 0 else sides[::-1]:
            taken[side].append(turn(side))
    ms = {side: machine.spread(each) for side, each in taken.items()}
    text = subprocess.run([plait, "explain", str(path), "--device", "cpu", "--segments"], check=True, capture_output=True, text=True)
    speed = statistics.median(taken["library"]) / statistics.median(taken["own"])
    return {"kind": kind, "shape": "x".join(map(str, shape)), "dtype": "f32", "cpu_ms": ms, "speed": machine.digits(speed),
            "auto": "own" if "contraction(rows" in text.stdout else "library"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plait", default="plait")
    parser.add_argument("--shapes", default="512x512x512,1024x1024x1024,2048x2048x2048,1024x4096x1024,128x768x768,1024x1024x128")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    load, rows = machine.load_average(), []
    with tempfile.TemporaryDirectory() as folder:
        for shape in args.shapes.split(","):
            for kind in args.kinds.split(","):
                row = measure(args.plait, kind, tuple(map(int, shape.split("x"))), args.rounds, pathlib.Path(folder))
                rows.append(row)
                ms = {side: each["median"] for side, each in row["cpu_ms"].items()}
                print(f"{kind:9} {row['shape']:16} own {ms['own']:.3f} ms, library {ms['library']:.3f} ms, "
                      f"speed {row['speed']:.2f}, auto takes {row['auto']}", flush=True)
    if args.json:
        machine.write_json(args.json, {
            "kind": "contraction_candidates", "date": machine.date(), "machine": machine.describe(), "threads": 1,
            "rounds": args.rounds, "load": load, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
