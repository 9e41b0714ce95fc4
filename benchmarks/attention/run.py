#!/usr/bin/env python3
"""Attention through torch.compile against PyTorch's own kernels and Inductor, forward and with its gradient, in one
process, in turns, medians.

usage: run.py [--shapes 2x16x1024x64,...] [--kinds full,causal,...] [--dtypes f32,bf16] [--rounds N] [--threads N]
              [--json FILE] [--check]
Shapes are batch x heads x positions x features. Results and gradients are compared with f64: plait's errors may be twice
eager's and a rounding step more. `speed` is eager's time over plait's. --check takes no times. Exit status 1 where a
result is wrong."""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import machine  # noqa: E402: of the folder above
import plait.torch  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch_turns import choose, report, sizes, times, worst_error  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def window(q, k, v):
    """Each position sees itself and the 127 in front of it."""
    where = torch.arange(q.shape[-2])
    apart = where[:, None] - where[None, :]
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    return scores.masked_fill((apart < 0) | (apart > 127), -math.inf).softmax(-1) @ v


def by_hand(q, k, v):
    return ((q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])).softmax(-1) @ v


KINDS = {
    "full": F.scaled_dot_product_attention,
    "causal": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "by_hand": by_hand,
    "window": window,
}


def draw(shape, dtype):
    torch.manual_seed(0)
    return [torch.randn(shape, dtype=dtype) for _ in range(4)]


def with_gradient(call, tensors, weight):
    leaves = [t.detach().requires_grad_() for t in tensors]
    out = call(*leaves)
    return [out, *torch.autograd.grad(out, leaves, weight)]


def forward(call, tensors, _):
    with torch.no_grad():
        return [call(*tensors)]


WAYS = {"forward": forward, "forward_backward": with_gradient}


def measure(kind, shape, dtype, args):
    *tensors, weight = draw(shape, DTYPES[dtype])
    function = KINDS[kind]
    torch._dynamo.reset()
    calls = {"plait": torch.compile(function, backend="plait", dynamic=False,
                                    options={"plait": {"cpu_threads": args.threads}}), "eager": function}
    if not args.check:
        calls["inductor"] = torch.compile(function, dynamic=False)
    for way, run in WAYS.items():
        exact = run(function, [t.double() for t in tensors], weight.double())
        eager, got = (run(calls[side], tensors, weight) for side in ("eager", "plait"))
        row = {"kind": kind, "way": way, "shape": "x".join(map(str, shape)), "dtype": dtype,
               "error": machine.digits(worst_error(got, eager, exact))}
        if not args.check:
            row["ms"] = times({side: lambda call=call: run(call, tensors, weight) for side, call in calls.items()}, args.rounds)
        yield row


def shown(row):
    out = f"{row['kind']:8} {row['way']:16} {row['shape']:14} {row['dtype']:5} error {row['error']:.2f}"
    if "ms" in row:
        ms = {side: each["median"] for side, each in row["ms"].items()}
        out += f"  ms {', '.join(f'{side} {each:.2f}' for side, each in ms.items())}"
        out += f"  speed {ms['eager'] / ms['plait']:.2f} of eager's, {ms['inductor'] / ms['plait']:.2f} of Inductor's"
    return out


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shapes", default="2x16x512x64,2x16x1024x64,1x16x2048x64,1x8x4096x64,2x8x1024x128")
    parser.add_argument("--kinds", default="full,causal")
    parser.add_argument("--dtypes", default="f32")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    choose(parser, args, "kinds", KINDS)
    choose(parser, args, "dtypes", DTYPES)
    sizes(parser, args, "shapes", 4, "batch x heads x positions x features, as in 2x16x1024x64")
    return args


def main():
    args = arguments()
    warnings.simplefilter("ignore")
    torch.set_num_threads(args.threads)
    load = machine.load_average()
    rows = []
    for shape in args.shapes:
        for kind in args.kinds:
            for dtype in args.dtypes:
                for row in measure(kind, shape, dtype, args):
                    rows.append(row)
                    print(shown(row), flush=True)
    return report("attention", rows, args, load)


if __name__ == "__main__":
    sys.exit(main())
