#!/usr/bin/env python3
"""Ten models under torch.compile(backend="plait"), forward and backward, against eager and Inductor in the same run.

Prints per model: share of its nodes and of eager's time that are in plait's fusions, graph breaks, error over eager's, and
times, interleaved, medians. usage: run.py [--out FILE.json] [--only NAME,...] [--check] [--rounds N]
--check compares results only: f32 and bf16, static and dynamic shapes; exit status 1 where one is wrong or a share is below
its floor."""

from __future__ import annotations

import argparse
import collections
import copy
import json
import platform
import statistics
import sys
import time
import warnings

import plait
import plait.torch
import torch
from models import MODELS


def inputs_of(make, batch, dtype, seed=1):
    torch.manual_seed(seed)
    return [x.requires_grad_() if x.is_floating_point() else x for x in make(batch, dtype)]


def step(function, inputs):
    """Results and gradients of inputs and parameters."""
    out = function(*inputs)
    outs = [o for o in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(o)]
    torch.autograd.backward([o.float().square().mean() if o.dtype != torch.float64 else o.square().mean() for o in outs])
    return outs


def clear(model, inputs):
    for t in [*model.parameters(), *inputs]:
        if t.is_floating_point():
            t.grad = None


def everything(function, model, inputs):
    clear(model, inputs)
    outs = [o.detach().double() for o in step(function, inputs)]
    return outs + [t.grad.double() for t in [*inputs, *model.parameters()] if t.is_floating_point() and t.grad is not None]


def error_over_eagers(got, eager, exact, dtype):
    """Largest error against f64 over what is allowed: twice eager's own and one rounding."""
    worst = 0.0
    for g, e, x in zip(got, eager, exact):
        unit = torch.finfo(dtype).eps * x.abs().max()
        worst = max(worst, float((g - x).abs().max() / (2 * (e - x).abs().max() + unit).clamp(min=1e-300)))
    return worst


def check(name, build, make, dtype, dynamic):
    """Worst error over the allowed one, over the sizes that are tried."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = build().to(dtype)
    exact = copy.deepcopy(model).double()
    function = torch.compile(model, backend="plait", dynamic=dynamic)
    worst = 0.0
    for batch in ((4, 3, 7) if dynamic else (4,)):
        inputs = inputs_of(make, batch, dtype)
        wide = [x.detach().double().requires_grad_() if x.is_floating_point() else x for x in inputs]
        state = copy.deepcopy(model.state_dict())
        eager = everything(model, model, inputs)
        model.load_state_dict(state)
        got = everything(function, model, inputs)
        model.load_state_dict(state)
        exact.load_state_dict({k: v.double() if v.is_floating_point() else v for k, v in state.items()})
        worst = max(worst, error_over_eagers(got, eager, everything(exact, exact, wide), dtype))
    return worst


class Timed(torch.fx.Interpreter):
    """Runs a graph of ATen nodes eagerly and adds up the time of each."""

    def __init__(self, module, totals):
        super().__init__(module)
        self.totals = totals

    def run_node(self, n):
        begin = time.perf_counter()
        out = super().run_node(n)
        if isinstance(n.target, torch._ops.OpOverload):
            self.totals[n.target] = self.totals.get(n.target, 0.0) + time.perf_counter() - begin
        return out


def share_of_time(model, inputs, report):
    """Of the eager time of all ATen nodes, that of nodes that plait runs; nodes of one op count alike."""
    totals = {}

    def compiler(graph, _):
        from functorch.compile import make_boxed_func
        return make_boxed_func(lambda *args: Timed(graph, totals).run(*args))

    from torch._dynamo.backends.common import aot_autograd
    torch._dynamo.reset()
    function = torch.compile(model, backend=aot_autograd(fw_compiler=compiler, bw_compiler=compiler,
                                                         decompositions=plait.torch.compiler.decompositions()))
    for i in range(4):
        if i == 1:
            totals.clear()
        clear(model, inputs)
        step(function, inputs)
    left = collections.Counter(op for op, _ in report.eager.elements())
    slow = sum(t * left[str(op)] / (left[str(op)] + report.fused[str(op)]) for op, t in totals.items() if left[str(op)])
    return 1 - slow / max(sum(totals.values()), 1e-12)


def times(functions, model, inputs, rounds):
    """Median milliseconds of a step of each, interleaved."""
    taken = {name: [] for name in functions}
    for function in functions.values():
        for _ in range(3):
            clear(model, inputs)
            step(function, inputs)
    for _ in range(rounds):
        for name, function in functions.items():
            clear(model, inputs)
            begin = time.perf_counter()
            step(function, inputs)
            taken[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(each) for name, each in taken.items()}


def measure(name, build, make, floor, args):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = build()
    inputs = inputs_of(make, 4, torch.float32)
    report = plait.torch.report(model, *inputs, backward=True)
    breaks = torch._dynamo.explain(model)(*inputs).graph_break_count
    row = {"model": name, "nodes": report.fused.total() + report.eager.total(), "share": report.share, "floor": floor,
           "graph_breaks": breaks, "fusions": sum(len(g.fusions) for g in report.graphs),
           "eager": [f"{op}: {why}" for op, why in report.eager]}
    row["error"] = {f"{str(dtype)[6:]}{' dynamic' if dynamic else ''}": check(name, build, make, dtype, dynamic)
                    for dtype in (torch.float32, torch.bfloat16) for dynamic in (False, True)}
    if not args.check:
        row["time_share"] = share_of_time(model, inputs, report)
        torch._dynamo.reset()
        functions = {"eager": model, "plait": torch.compile(model, backend="plait"), "inductor": torch.compile(model)}
        row["ms"] = times(functions, model, inputs, args.rounds)
    return row


def shown(row):
    worst = max(row["error"].values())
    out = (f"{row['model']:13} nodes {100 * row['share']:5.1f} % (floor {100 * row['floor']:.0f})  breaks {row['graph_breaks']}  "
           f"fusions {row['fusions']:2}  error {worst:.2f}")
    if "ms" in row:
        ms = row["ms"]
        out += (f"  time {100 * row['time_share']:5.1f} %  plait {ms['plait']:.2f} ms, {ms['plait'] / ms['eager']:.2f} of eager, "
                f"{ms['plait'] / ms['inductor']:.2f} of Inductor")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    only = set(filter(None, args.only.split(",")))
    rows = []
    for name, build, make, floor in MODELS:
        if only and name not in only:
            continue
        rows.append(measure(name, build, make, floor, args))
        print(shown(rows[-1]), flush=True)
    wrong = [r["model"] for r in rows if max(r["error"].values()) > 1 or r["share"] < r["floor"]]
    total = sum(r["nodes"] for r in rows)
    print(f"{100 * sum(r['share'] * r['nodes'] for r in rows) / total:.1f} % of {total} nodes in plait; "
          f"{len(rows) - len(wrong)} of {len(rows)} models right{': not ' + ', '.join(wrong) if wrong else ''}")
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"kind": "models", "date": time.strftime("%Y-%m-%d"), "cpu": platform.processor() or platform.machine(),
                       "torch": torch.__version__, "plait": plait.__version__, "rows": rows}, f, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
