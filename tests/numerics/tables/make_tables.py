#!/usr/bin/env python3
"""Writes pointwise.json and ops.json: what every op gives by PyTorch, NumPy and SciPy, which tables_test.cpp compares
with the reference evaluator.

Run with an interpreter that has torch 2.13.0, numpy, scipy and mpmath; the tables are checked in. Fails where an op of
ops.def that users can write, or a function of pointwise.def, has no case.
"""
import pathlib
import re

import torch

import functions
import layers
import ops
from cases import Table

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[2] / "csrc"


def names_of_ops():
    """Text names of the ops that users can write, those of reductions by function."""
    rows = re.findall(r"^PLAIT_OP\(\w+, (\w+), (\w+)\)", (SOURCES / "ir/ops.def").read_text(), re.M)
    names = {name for name, property in rows if property not in ("communication", "local_move")}
    reductions = re.findall(r"^X\((\w+)\)", (SOURCES / "ir/reductions.def").read_text(), re.M)
    return (names - {"pointwise", "reduce"}) | set(reductions)


def main():
    torch.set_num_threads(1)
    pointwise = Table()
    functions.fill(pointwise, SOURCES / "scalar/pointwise.def")
    pointwise.write(HERE / "pointwise.json")
    others = Table()
    ops.fill(others)
    layers.fill(others)
    ops.several(others)
    ops.contractions(others)
    missing = names_of_ops() - others.calls()
    if missing:
        raise SystemExit(f"ops without a case: {sorted(missing)}")
    others.write(HERE / "ops.json")


if __name__ == "__main__":
    main()
