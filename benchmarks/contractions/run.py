#!/usr/bin/env python3
"""Products of matrices through torch.compile against PyTorch's own and Inductor's, alone and with what stands behind them, in
one process, in turns, medians.

usage: run.py [--shapes 1024x1024x1024,...] [--kinds plain,gelu,...] [--dtypes f32,bf16,f64] [--rounds N] [--threads N]
              [--json FILE] [--check]
Shapes are rows x columns x terms: x[rows, terms] times w[columns, terms]. Sides are plait as it chooses (`plait`), plait by
its own kernels (`own`; f32 and f64), eager (a library of the same kind) and Inductor. `speed` is eager's time over plait's, and
GF/s are 2 x rows x columns x terms over the time. Results are compared with f64: errors may be twice eager's and a rounding step
more. --check takes no times. Exit status 1 where a result is wrong."""

from __future__ import annotations

import argparse
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import machine  # noqa: E402: of the folder above
import plait.torch  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch_turns import choose, report, sizes, times, worst_error  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}
KINDS = {
    "plain": lambda x, w, b, r: x @ w.t(),
    "transposed": lambda x, w, b, r: (w @ x.t()).t(),
    "gelu": lambda x, w, b, r: F.gelu(F.linear(x, w, b)),
    "residual": lambda x, w, b, r: F.linear(x, w, b) + r,
}


def draw(shape, dtype):
    torch.manual_seed(0)
    rows, columns, terms = shape
    return [torch.randn(each, dtype=dtype) for each in ((rows, terms), (columns, terms), (columns,), (rows, columns))]


def measure(kind, shape, dtype, args):
    tensors = draw(shape, DTYPES[dtype])
    function = KINDS[kind]
    torch._dynamo.reset()
    options = {"plait": {"cpu_threads": args.threads}}
    calls = {"plait": torch.compile(function, backend="plait", dynamic=False, options=options), "eager": function}
    if dtype != "bf16":
        own = {"plait": {"cpu_threads": args.threads, "contractions": "own"}}
        calls["own"] = torch.compile(function, backend="plait", dynamic=False, options=own)
    if not args.check:
        calls["inductor"] = torch.compile(function, dynamic=False)
    with torch.no_grad():
        exact = [function(*(t.double() for t in tensors))]
        eager = [function(*tensors)]
        error = max(worst_error([calls[side](*tensors)], eager, exact) for side in ("plait", "own") if side in calls)
        row = {"kind": kind, "shape": "x".join(map(str, shape)), "dtype": dtype, "error": machine.digits(error)}
        if not args.check:
            row["ms"] = times({side: lambda call=call: call(*tensors) for side, call in calls.items()}, args.rounds)
            work = 2e-6 * shape[0] * shape[1] * shape[2]
            row["gflops"] = {side: machine.digits(work / each["median"]) for side, each in row["ms"].items()}
    return row


def shown(row):
    out = f"{row['kind']:10} {row['shape']:16} {row['dtype']:5} error {row['error']:.2f}"
    if "ms" in row:
        ms = {side: each["median"] for side, each in row["ms"].items()}
        out += f"  GF/s {', '.join(f'{side} {each:.0f}' for side, each in row['gflops'].items())}"
        out += f"  speed {ms['eager'] / ms['plait']:.2f} of eager's, {ms['inductor'] / ms['plait']:.2f} of Inductor's"
        if "own" in ms:
            out += f", own {ms['eager'] / ms['own']:.2f} of eager's"
    return out


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shapes", default="512x512x512,1024x1024x1024,2048x2048x2048,1024x4096x1024,128x768x768,1x4096x1024")
    parser.add_argument("--kinds", default="plain,gelu,residual")
    parser.add_argument("--dtypes", default="f32")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    choose(parser, args, "kinds", KINDS)
    choose(parser, args, "dtypes", DTYPES)
    sizes(parser, args, "shapes", 3, "rows x columns x terms, as in 1024x1024x1024")
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
                rows.append(measure(kind, shape, dtype, args))
                print(shown(rows[-1]), flush=True)
    return report("contractions", rows, args, load)


if __name__ == "__main__":
    sys.exit(main())
