#!/usr/bin/env python3
"""What docs/examples/sharded move where a parameter's bytes count otherwise in conflicts (kParameterWeight of
csrc/shard/conflicts.h): each weight is written there, the command is built, and the plan of every example is read. Nothing
runs, so the figures are those of any machine. Programs are planned as they stand and with more rows (tokens, batch, rows or s),
since a weight tells where activations are about as large as parameters. The header is put back at the end.

usage: parameter_weight.py [--build FOLDER] [--weights 1,2,4,8,16] [--scales 1,4,16,64] [--json FILE]"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import machine  # noqa: E402: of the folder above

HEADER = ROOT / "csrc/shard/conflicts.h"
CONSTANT = re.compile(r"(kParameterWeight = )(\d+);")
EXPERT = re.compile(r"^# ranks (\d+), collectives (\d+), bytes (\d+)", re.M)
ROWS = re.compile(r"^let .*?\b(tokens|batch|rows|s) = (\d+)", re.M)
TOTAL = re.compile(r"^ *(\d+) in all +\d+ B +(\d+) B$", re.M)


def build(folder, weight):
    HEADER.write_text(CONSTANT.sub(rf"\g<1>{weight};", HEADER.read_text(), count=1))
    subprocess.run(["cmake", "--build", folder, "--parallel", "2", "--target", "plait"], check=True, stdout=subprocess.DEVNULL)


def moved(command, example, scale):
    """Collectives and bytes of all ranks that the plan of an example with so many times the rows has."""
    text = example.read_text()
    rows = ROWS.search(text)
    sizes = ["--set", f"{rows[1]}={int(rows[2]) * scale}"] if rows and scale > 1 else []
    ranks = EXPERT.search(text)[1]
    plan = subprocess.run([command, "explain", example, "--shard", "--ranks", ranks, *sizes], check=True, capture_output=True,
                          text=True).stdout
    found = TOTAL.search(plan)
    return {"collectives": int(found[1]) if found else 0, "bytes": int(found[2]) if found else 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/ci", type=pathlib.Path)
    parser.add_argument("--weights", default="1,2,4,8,16")
    parser.add_argument("--scales", default="1,4,16,64")
    parser.add_argument("--json")
    args = parser.parse_args()
    before = HEADER.read_text()
    rows, totals = {}, {}
    scales = args.scales.split(",")
    examples = sorted((ROOT / "docs/examples/sharded").glob("*.plait"))
    try:
        for weight in args.weights.split(","):
            build(args.build, weight)
            for scale in scales:
                each = {example.stem: moved(args.build / "plait", example, int(scale)) for example in examples}
                for name, taken in each.items():
                    rows.setdefault(name, {}).setdefault(scale, {})[weight] = taken
                totals.setdefault(scale, {})[weight] = {key: sum(taken[key] for taken in each.values())
                                                        for key in ("collectives", "bytes")}
                print(f"{weight:>3} {scale:>3} {totals[scale][weight]}", flush=True)
    finally:
        HEADER.write_text(before)
        subprocess.run(["cmake", "--build", args.build, "--parallel", "2", "--target", "plait"], check=True, stdout=subprocess.DEVNULL)
    differ = {name: {scale: taken for scale, taken in row.items() if len({str(t) for t in taken.values()}) > 1}
              for name, row in rows.items()}
    for name, row in differ.items():
        for scale, taken in row.items():
            print(f"{name} x {scale}: " + ", ".join(f"{w}: {t['bytes']}" for w, t in taken.items()))
    if args.json:
        machine.write_json(args.json, {"kind": "parameter_weight", "date": machine.date(), "examples": len(rows), "totals": totals,
                                       "differ": {name: row for name, row in differ.items() if row}})


if __name__ == "__main__":
    main()
