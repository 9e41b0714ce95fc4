#!/usr/bin/env python3
"""What the first step of ten models takes in a fresh process, with empty caches and with those that a process before it left:
plait and Inductor, each model and side in processes of their own, in turns; medians.

`step` is the first step, forward and backward, less a later one: Dynamo, AOTAutograd and the back end together. `back_end` is
what of it plait takes: partitioning, translating and compiling. usage: start_times.py [--out FILE.json] [--only NAME,...] [--rounds N] [--sides plait,inductor]"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent.parent))
import machine  # noqa: E402: beside the folder


class Clock:
    """Adds up the time in functions, the outermost calls alone."""

    def __init__(self):
        self.seconds, self.depth = 0.0, 0

    def around(self, function):
        def timed(*args, **words):
            self.depth += 1
            begin = time.perf_counter()
            try:
                return function(*args, **words)
            finally:
                self.depth -= 1
                if self.depth == 0:
                    self.seconds += time.perf_counter() - begin

        return timed


def first_step(side, name):
    """In a process of its own: milliseconds of the first step and of the back end in it, as JSON."""
    import torch
    from models import MODELS
    clock = Clock()
    if side == "plait":
        import plait
        import plait.torch
        from plait.torch import compiler
        compiler.compile_graph = clock.around(compiler.compile_graph)
    _, build, make, lengths, _ = next(row for row in MODELS if row[0] == name)
    torch.manual_seed(0)
    model = build()
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in make(4, lengths[0], torch.float32)]

    def step(function):
        begin = time.perf_counter()
        out = function(*inputs)
        torch.autograd.backward([o.float().square().mean() for o in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(o)])
        return time.perf_counter() - begin

    step(model)  # libraries and threads of eager's begin here
    function = torch.compile(model, backend=side)
    if side == "plait":
        with compiler.listening() as reports:
            first = step(function)
        clock.seconds += sum(fused.program.report["compile_ms"] for graph in reports for fused in graph.fusions) / 1e3
    else:
        first = step(function)
    later = statistics.median(step(function) for _ in range(5))
    print(json.dumps({"step": 1e3 * (first - later)} | ({"back_end": 1e3 * clock.seconds} if side == "plait" else {})))


def start(side, name, cache):
    environment = os.environ | {"PLAIT_CACHE_DIR": cache, "TORCHINDUCTOR_CACHE_DIR": cache, "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
                                "TORCHINDUCTOR_AUTOGRAD_CACHE": "1"}
    done = subprocess.run([sys.executable, HERE, "--child", side, name], env=environment, stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(name, rounds, sides):
    taken = {side: {how: {} for how in ("cold", "warm")} for side in sides}
    for _ in range(rounds):
        for side, by_cache in taken.items():
            with tempfile.TemporaryDirectory() as cache:
                for how in ("cold", "warm"):
                    for what, ms in start(side, name, cache).items():
                        by_cache[how].setdefault(what, []).append(ms)
    return {"model": name} | {side: {how: {what: round(statistics.median(ms), 1) for what, ms in each.items()}
                                     for how, each in by_cache.items()} for side, by_cache in taken.items()}


def shown(row):
    out = f"{row['model']:13}"
    for side in (each for each in row if each != "model"):
        cold, warm = row[side]["cold"], row[side]["warm"]
        for what in cold:
            out += f"  {side} {what} {cold[what]:.0f} -> {warm[what]:.0f} ms ({warm[what] / cold[what]:.2f})"
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", type=lambda text: text.split(","), default=["plait", "inductor"])
    args = parser.parse_args()
    if args.child:
        return first_step(*args.child)
    import torch
    from models import MODELS
    only = set(filter(None, args.only.split(",")))
    before = machine.load_average()
    rows = []
    for name, *_ in MODELS:
        if not only or name in only:
            rows.append(measure(name, args.rounds, args.sides))
            print(shown(rows[-1]), flush=True)
    sums = {f"{side} {what}": sum(r[side]["warm"][what] for r in rows) / sum(r[side]["cold"][what] for r in rows)
            for side in args.sides for what in rows[0][side]["cold"]}
    print("warm of cold, together: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in sums.items()))
    if args.out:
        import plait
        found = {"kind": "start times", "date": machine.date(), "machine": machine.describe(), "load_before": before,
                 "load_after": machine.load_average(), "machine_was_loaded": machine.is_loaded(before), "torch": torch.__version__, "plait": plait.__version__, "rounds": args.rounds,
                 "warm_of_cold": {name: round(ratio, 3) for name, ratio in sums.items()}, "rows": rows}
        pathlib.Path(args.out).write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
