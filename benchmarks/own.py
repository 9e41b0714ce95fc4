#!/usr/bin/env python3
"""A function or module of your own under eager PyTorch, plait and Inductor, in one process, in turns, medians.

FILE.py has `model()`, which gives a function of tensors or a module, and `inputs()`, which gives the tensors; with --backward
the sum of squares of what it gives is differentiated. Results are compared with eager's in f64; above 1 of what eager's own
error allows is wrong. usage: own.py FILE.py [--backward] [--dynamic] [--rounds N] [--threads N] [--json OUT.json]"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plait  # noqa: E402, F401: before PyTorch
import plait.torch  # noqa: E402
import torch  # noqa: E402

import machine  # noqa: E402: beside this file
import torch_turns  # noqa: E402


def load(path):
    spec = importlib.util.spec_from_file_location("own", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if missing := [name for name in ("model", "inputs") if not callable(getattr(module, name, None))]:
        raise SystemExit(f"own.py: {path} has no function {' and no '.join(missing)}")
    return module.model(), list(module.inputs())


def results(call, tensors, backward):
    """What a call gives, and with `backward` the gradients of inputs and parameters."""
    given = [t.detach().requires_grad_(backward and t.is_floating_point()) for t in tensors]
    parameters = list(call.parameters()) if isinstance(call, torch.nn.Module) else []
    out = [t for t in torch.utils._pytree.tree_leaves(call(*given)) if torch.is_tensor(t)]
    if not backward:
        return [t.detach() for t in out]
    wanted = [t for t in [*given, *parameters] if t.requires_grad]
    loss = sum(t.square().sum() for t in out if t.is_floating_point())
    return [t.detach() for t in out] + [g for g in torch.autograd.grad(loss, wanted, allow_unused=True) if g is not None]


def wide(value):
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a file of Python with model() and inputs()")
    parser.add_argument("--backward", action="store_true", help="with gradients of inputs and parameters")
    parser.add_argument("--dynamic", action="store_true", help="sizes that may change: torch.compile(dynamic=True)")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each side; one more is not counted")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of every side")
    parser.add_argument("--json", help="writes the figures, with date, machine, versions and load")
    args = parser.parse_args()
    args.check = False
    before = machine.load_average()
    torch.set_num_threads(args.threads)
    model, tensors = load(args.file)
    exact = copy.deepcopy(model).double() if isinstance(model, torch.nn.Module) else model
    plaits = {"options": {"plait": {"cpu_threads": args.threads}}}
    sides = {"eager": model, "plait": torch.compile(model, backend="plait", dynamic=args.dynamic or None, **plaits),
             "inductor": torch.compile(model, dynamic=args.dynamic or None)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says what stays eager
        given = [t.detach().requires_grad_(args.backward and t.is_floating_point()) for t in tensors]
        report = plait.torch.report(model, *given, backward=args.backward)
        found = {side: results(call, tensors, args.backward) for side, call in sides.items()}
    want = [wide(t) for t in results(exact, [wide(t) for t in tensors], args.backward)]
    errors = {side: torch_turns.worst_error([wide_or_int(t) for t in got], [wide_or_int(t) for t in found["eager"]],
                                            [t.double() for t in want]) for side, got in found.items() if side != "eager"}
    ms = torch_turns.times({side: lambda call=call: results(call, tensors, args.backward) for side, call in sides.items()},
                           args.rounds)
    for side, each in ms.items():
        error = f"  error {errors[side]:.2f}" if side in errors else ""
        print(f"{side:9} {each['median']:9.3f} ms ({each['min']:.3f} to {each['max']:.3f}), "
              f"{each['median'] / ms['eager']['median']:.2f} of eager's{error}")
    fused, eager = sum(report.fused.values()), sum(report.eager.values())
    print(f"{fused} of {fused + eager} ops in {sum(len(g.fusions) for g in report.graphs)} fusions of plait")
    for (op, why), count in report.eager.items():
        print(f"  eager: {op}, {count} times: {why}")
    row = {"file": str(args.file), "error": errors, "ms": ms, "fused": fused, "eager": eager}
    return torch_turns.report("own", [row | {"error": max(errors.values())}], args, before)


def wide_or_int(tensor):
    return tensor if tensor.is_floating_point() else tensor.double()


if __name__ == "__main__":
    sys.exit(main())
