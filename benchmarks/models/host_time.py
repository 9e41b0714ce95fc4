#!/usr/bin/env python3
"""Host time of calls of one small kernel (8 numbers, so that the kernel itself takes next to nothing), interleaved, medians:
a compiled module under plait and Inductor, the same eagerly, and inside of plait's module the fusion's own call.
usage: host_time.py [--out FILE.json] [--rounds N]"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time

import plait
import plait.torch
import torch
from plait.torch import compiler

CALLS = 200  # a round


def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x * y + x) * 0.5


def fusion_of(x: torch.Tensor, y: torch.Tensor) -> compiler.FusedModule:
    """The one fusion of the function."""
    with compiler.listening() as reports:
        torch.compile(function, backend="plait")(x, y)
    (graph,) = reports
    (module,) = graph.modules
    torch._dynamo.reset()
    return module


def microseconds(call: object, *args: torch.Tensor) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS):
        call(*args)
    return 1e6 * (time.perf_counter() - begin) / CALLS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    torch.manual_seed(0)
    x, y = torch.randn(8), torch.randn(8)
    with torch.no_grad():
        calls = {"fusion": fusion_of(x, y).run, "eager": function, "plait": torch.compile(function, backend="plait"),
                 "inductor": torch.compile(function)}
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for call in calls.values():
            microseconds(call, x, y)
        for _ in range(args.rounds):
            for name, call in calls.items():
                taken[name].append(microseconds(call, x, y))
    medians = {name: round(statistics.median(each), 2) for name, each in taken.items()}
    print("microseconds a call: " + ", ".join(f"{name} {us:.1f}" for name, us in medians.items()))
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"kind": "host_time", "date": time.strftime("%Y-%m-%d"), "cpu": platform.processor() or platform.machine(),
                       "torch": torch.__version__, "plait": plait.__version__, "microseconds": medians}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
