#!/usr/bin/env python3
"""Ten models under torch.compile(backend="plait"), forward and backward, against eager and Inductor in the same run.

Prints per model: share of its nodes and of eager's time that are in plait's fusions, graph breaks, error over eager's, and
times, interleaved, medians. usage: run.py [--out FILE.json] [--only NAME,...] [--check] [--quick] [--rounds N] [--batch N]
--check takes no times; --batch is the batch of the steps that are timed, 4 where not given. Compared are results, gradients
and buffers: f32 and bf16, static and dynamic shapes, with --quick f32 and static ones only. Of every fusion are taken the
memory of a run over the most that is alive at once, and the kernels of single ops (schedule `nest`). Exit status 1 where
one is wrong or a share is below its floor."""

from __future__ import annotations

import argparse
import collections
import copy
import itertools
import math
import os
import pathlib
import statistics
import sys
import time
import warnings

os.environ["PLAIT_CACHE_MIB"] = "0"  # every compile is timed cold

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import plait  # noqa: E402: after the environment
import plait.torch  # noqa: E402
import torch  # noqa: E402
import machine  # noqa: E402: beside the folder
from models import MODELS  # noqa: E402
from plait.torch import compiler  # noqa: E402

TURN = 4  # steps of one side in a row
CASES = [(dtype, dynamic) for dtype in (torch.float32, torch.bfloat16) for dynamic in (False, True)]


def inputs_of(make, batch, length, dtype, seed=1):
    torch.manual_seed(seed)
    return [x.requires_grad_() if x.is_floating_point() else x for x in make(batch, length, dtype)]


def step(function, inputs):
    """Results; leaves gradients in inputs and parameters."""
    out = function(*inputs)
    outs = [o for o in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(o)]
    torch.autograd.backward([o.float().square().mean() if o.dtype != torch.float64 else o.square().mean() for o in outs])
    return outs


def clear(model, inputs):
    for t in [*model.parameters(), *inputs]:
        if t.is_floating_point():
            t.grad = None


def everything(function, model, inputs):
    """Results of a step, gradients (None where there is none) and buffers after it, by name."""
    clear(model, inputs)
    found = {f"result {i}": o.detach() for i, o in enumerate(step(function, inputs))}
    found |= {f"gradient of input {i}": x.grad for i, x in enumerate(inputs)}
    found |= {f"gradient of {name}": p.grad for name, p in model.named_parameters()}
    return found | {f"buffer {name}": b.clone() for name, b in model.named_buffers()}


def worst_of(error):
    return float(error.max()) if error.numel() else 0.0


def allowed(eagers, largest, dtype):
    """Twice eager's error and one rounding to nearest: half of eps times the largest element."""
    return max(2 * eagers + torch.finfo(dtype).eps / 2 * largest, 1e-300)


def errors(got, eager, exact):
    """Ours and eager's largest error against f64, and the largest element. Ours is infinite where dtype, shape or an integer
    differs, or a value that is not finite is neither eager's nor f64's."""
    bad, right = (math.inf, 0.0, 0.0), (0.0, 0.0, 0.0)
    if got is None or eager is None:
        return right if got is None and eager is None else bad
    if (got.dtype, got.shape) != (eager.dtype, eager.shape):
        return bad
    if not got.is_floating_point():
        return right if torch.equal(got, eager) else bad
    finite = got.isfinite() & eager.isfinite() & exact.isfinite()
    same = [torch.isclose(got, want, 0, 0, equal_nan=True) for want in (eager, exact.to(got.dtype))]
    if not (finite | same[0] | same[1]).all():
        return bad
    got, eager, exact = (each[finite].double() for each in (got, eager, exact))
    return worst_of((got - exact).abs()), worst_of((eager - exact).abs()), worst_of(exact.abs())


def over_allowed(ours, eagers, largest, got):
    """The error over the allowed one."""
    if ours in (0.0, math.inf):
        return ours
    return ours / allowed(eagers, largest, got.dtype)


class Sides:
    """A model in its dtype and in f64, each step of which begins with the same parameters and buffers."""

    def __init__(self, build, dtype):
        torch.manual_seed(0)
        self.model = build().to(dtype)
        self.exact = copy.deepcopy(self.model).double()
        self.state, self.exact_state = copy.deepcopy(self.model.state_dict()), copy.deepcopy(self.exact.state_dict())

    def narrow(self, function, inputs):
        self.model.load_state_dict(self.state)
        return everything(function, self.model, inputs)

    def wide(self, inputs):
        self.exact.load_state_dict(self.exact_state)
        inputs = [x.detach().double().requires_grad_() if x.is_floating_point() else x for x in inputs]
        return everything(self.exact, self.exact, inputs)

    def errors_over_draws(self, function, draw, count=9):
        """By name, the largest error over draws of inputs over what eager's largest error allows."""
        most, values = {}, {}
        for seed in range(1, 1 + count):
            inputs = draw(seed)
            eagers, values, exact = self.narrow(self.model, inputs), self.narrow(function, inputs), self.wide(inputs)
            for name, got in values.items():
                made = errors(got, eagers[name], exact[name])
                most[name] = [max(pair) for pair in zip(made, most.get(name, made))]
        return {name: over_allowed(*most[name], got) for name, got in values.items()}


def kernels_of(reports):
    """The largest memory of a run over the most that is alive at once, and the names of kernels of single ops."""
    programs = [fused.program for report in reports for fused in report.fusions]
    arenas = [p.report["arena_bytes"] / p.report["arena_least"] for p in programs if p.report["arena_least"]]
    nests = [kernel.name for p in programs for kernel in p.kernels if kernel.schedule.startswith("nest")]
    return max(arenas, default=1.0), nests


def check(build, make, lengths, dtype, dynamic):
    """The worst error over the allowed one, of what, how many values were judged by draws, and kernels_of; over three
    batches and the lengths where dynamic. Infinite where a fusion failed and ran eagerly. Eager may be better by luck
    on one draw of inputs: a value that fails so is judged by the largest errors of both sides over it and eight more."""
    torch._dynamo.reset()
    sides = Sides(build, dtype)
    function = torch.compile(sides.model, backend="plait", dynamic=dynamic)
    worst, of, drawn = 0.0, "", 0
    with compiler.listening() as reports:
        for i, batch in enumerate((4, 3, 7) if dynamic else (4,)):
            def draw(seed, batch=batch, length=lengths[i % len(lengths)]):
                return inputs_of(make, batch, length, dtype, seed)

            inputs, over_draws = draw(1), None
            eagers, ours, exacts = sides.narrow(sides.model, inputs), sides.narrow(function, inputs), sides.wide(inputs)
            for (name, got), eager, exact in zip(ours.items(), eagers.values(), exacts.values(), strict=True):
                error = over_allowed(*errors(got, eager, exact), got)
                if 1 < error < math.inf:
                    over_draws = over_draws or sides.errors_over_draws(function, draw)
                    error = over_draws[name]
                    drawn += 1
                if error >= worst:
                    worst, of = error, name
    failures = [failure for report in reports for failure in report.failures]
    if failures:
        worst, of = math.inf, failures[0]
    return worst, of, drawn, *kernels_of(reports)


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
    """Median milliseconds of a step of each, by turns of some steps of one side, as a loop of training takes them. The
    first of a turn is not counted: threads of the side before it still wait busily for work."""
    taken = {name: [] for name in functions}
    for _ in range(rounds + 1):
        for name, function in functions.items():
            turn = []
            for _ in range(TURN):
                clear(model, inputs)
                begin = time.perf_counter()
                step(function, inputs)
                turn.append(1e3 * (time.perf_counter() - begin))
            taken[name].append(turn[1:])
    return {name: statistics.median(itertools.chain(*turns[1:])) for name, turns in taken.items()}  # the first compiles


def measure(name, build, make, lengths, floor, args):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = build()
    inputs = inputs_of(make, 4, lengths[0], torch.float32)
    report = plait.torch.report(model, *inputs, backward=True)
    breaks = torch._dynamo.explain(model)(*inputs).graph_break_count
    row = {"model": name, "nodes": report.fused.total() + report.eager.total(), "share": report.share, "floor": floor,
           "graph_breaks": breaks, "fusions": sum(len(g.fusions) for g in report.graphs),
           "eager": [f"{op}: {why}" for op, why in report.eager], "error": {}, "worst": {}, "judged_by_draws": {},
           "arena": {}, "nests": []}
    for dtype, dynamic in CASES[:1] if args.quick else CASES:
        case = f"{str(dtype)[6:]}{' dynamic' if dynamic else ''}"
        found = check(build, make, lengths, dtype, dynamic)
        row["error"][case], row["worst"][case], row["judged_by_draws"][case], row["arena"][case], nests = found
        row["nests"] += nests
    if not args.check:
        row["time_share"] = share_of_time(model, inputs, report)
        torch._dynamo.reset()
        inputs = inputs_of(make, args.batch, lengths[0], torch.float32)
        functions = {"eager": model, "plait": torch.compile(model, backend="plait"), "inductor": torch.compile(model)}
        row["ms"] = times(functions, model, inputs, args.rounds)
    return row


def shown(row):
    case = max(row["error"], key=row["error"].get)
    out = (f"{row['model']:13} nodes {100 * row['share']:5.1f} % (floor {100 * row['floor']:.0f})  breaks {row['graph_breaks']}  "
           f"fusions {row['fusions']:2}  error {row['error'][case]:.2f} ({case}, {row['worst'][case]})")
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
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    only = set(filter(None, args.only.split(",")))
    if unknown := only - {name for name, *_ in MODELS}:
        parser.error(f"there is no model {', '.join(sorted(unknown))}")
    before = machine.load_average()
    rows = []
    for name, build, make, lengths, floor in MODELS:
        if only and name not in only:
            continue
        rows.append(measure(name, build, make, lengths, floor, args))
        print(shown(rows[-1]), flush=True)
    wrong = [r["model"] for r in rows if max(r["error"].values()) > 1 or r["share"] < r["floor"]]
    total = sum(r["nodes"] for r in rows)
    print(f"{100 * sum(r['share'] * r['nodes'] for r in rows) / total:.1f} % of {total} nodes in plait; "
          f"{len(rows) - len(wrong)} of {len(rows)} models right{': not ' + ', '.join(wrong) if wrong else ''}; "
          f"judged by draws: {sum(sum(r['judged_by_draws'].values()) for r in rows)}")
    if not args.check and machine.is_loaded(before):
        print(f"others used the machine (load {before[0]} of {os.cpu_count()} cores): these times say little")
    if args.out:
        machine.write_json(args.out, {
            "kind": "models", "date": machine.date(), "machine": machine.describe(), "threads": torch.get_num_threads(),
            "load_before": before, "machine_was_loaded": machine.is_loaded(before), "rounds": args.rounds,
            "torch": torch.__version__, "plait": plait.__version__, "batch": args.batch, "rows": rows})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
