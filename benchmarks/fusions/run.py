#!/usr/bin/env python3
"""Fusions of plait against PyTorch's eager mode, Inductor and a copy of as many bytes, in one process, in turns, medians.

usage: run.py [--sizes 16mb,64mb] [--dtypes f32,bf16] [--rounds N] [--threads N] [--only NAME,...] [--json FILE]
              [--through-torch] [--avx2] [--check] [--of fusions,attention]
Times are of calls that end with their results in memory and let go of them: plait's memory goes back to its pool, PyTorch's
to the C library. Every result is compared with f64. --through-torch adds torch.compile(backend="plait"); --avx2 leaves
AVX-512 out on both sides; --check compares plait and eager alone and takes no times. Exit status 1 where a result is wrong."""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
AVX2 = "--avx2" in sys.argv
if AVX2:  # read when the libraries are loaded
    os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}

os.environ["PLAIT_CACHE_MIB"] = "0"  # every compile is timed cold, as the peer's
import machine  # noqa: E402: of the folder above
import plait  # noqa: E402: after the environment
import plait.torch  # noqa: E402
import torch  # noqa: E402
from kinds import ATTENTION, KINDS, SIZES  # noqa: E402

GROUPS = {"fusions": KINDS, "attention": ATTENTION}
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
TURN = 0.02  # seconds of a turn at least
MOST = 100  # calls of a turn


def results(out):
    return [t for t in torch.utils._pytree.tree_leaves(out) if torch.is_tensor(t)]


def plait_side(kind, shape, inputs, options):
    """A call of the fusion with these inputs; outputs by name."""
    dtypes = {"T": inputs[-1].dtype if inputs[-1].is_floating_point() else inputs[0].dtype}
    dtypes["S"] = inputs[2].dtype if len(inputs) > 2 else dtypes["T"]
    names = {dtype: name for name, dtype in DTYPES.items()}
    fusion = plait.parse(kind.text, set={name: names[dtype] for name, dtype in dtypes.items()})
    program = plait.compile(fusion, device="cpu", sizes=kind.sizes(shape), options=options)
    return lambda: program.run(*inputs), program


def bytes_of(kind, inputs, outputs):
    """Least bytes: what is read of each input and each output written once; of a table what is looked up."""
    read = [outputs[0] if i == kind.table else t for i, t in enumerate(inputs)]
    read, written = (sum(t.numel() * t.element_size() for t in each) for each in (read, outputs))
    return int(kind.read * read) + written


def copy_side(size):
    """Reads and writes so many bytes together, between buffers that were touched."""
    source, target = torch.ones(size // 2, dtype=torch.uint8), torch.zeros(size // 2, dtype=torch.uint8)
    return lambda: target.copy_(source)


def first_call(call):
    begin = time.perf_counter()
    out = call()
    return time.perf_counter() - begin, out


def worst_of(error):
    return float(error.max()) if error.numel() else 0.0


def error_over(kind, got, eager, exact, inputs):
    """The largest error against f64 over what is allowed: twice eager's and, in units of the largest element, one rounding
    step of a narrow dtype or four of f32. Infinite where a shape, a dtype or a value is none that eager or f64 gives."""
    if (got.dtype, got.shape) != (eager.dtype, eager.shape):
        return math.inf
    if kind.name == "argmax":  # any of equal maxima
        rows = inputs[0]
        return 0.0 if torch.equal(rows.gather(1, got[:, None])[:, 0], rows.amax(1)) else math.inf
    if not got.is_floating_point():  # roundings of what is halfway may differ, by one unit
        off = (got.long() - exact.long()).abs()
        return 1000 * float((off > 0).double().mean()) if worst_of(off) <= 1 else math.inf
    if not got.isfinite().all():
        return math.inf
    exact = exact.double()
    step = torch.finfo(got.dtype).eps * (4 if got.dtype == torch.float32 else 1)
    allowed = 2 * worst_of((eager.double() - exact).abs()) + step * worst_of(exact.abs())
    return worst_of((got.double() - exact).abs()) / allowed


def errors(kind, inputs, outs):
    """By side, the worst of its results."""
    exact = results(kind.function(*[t.double() if t.is_floating_point() else t for t in inputs]))
    eager = outs["eager"]
    for t in eager:
        assert t.count_nonzero(), f"{kind.name} gives zeros"
    return {side: max(error_over(kind, *four, inputs) for four in zip(out, eager, exact, strict=True))
            for side, out in ((side, out) for side, out in outs.items() if side != "eager")}


def times(calls, rounds):
    """Milliseconds of a call, by side: a turn each round, in an order that shifts, the first call of a turn not timed."""
    count, taken = {}, {side: [] for side in calls}
    for side, call in calls.items():
        call()
        count[side] = max(1, min(MOST, math.ceil(TURN / max(first_call(call)[0], 1e-7))))
    sides = list(calls)
    for turn in range(rounds):
        for side in sides[turn % len(sides):] + sides[:turn % len(sides)]:
            call = calls[side]
            call()
            begin = time.perf_counter()
            for _ in range(count[side]):
                call()
            taken[side].append(1e3 * (time.perf_counter() - begin) / count[side])
    return {side: machine.spread(each) for side, each in taken.items()}


def measure(kind, size, dtype, args):
    torch._dynamo.reset()
    torch.manual_seed(0)
    shape = kind.shapes[size]
    inputs = kind.draw(shape, DTYPES[dtype])
    assert all(t.count_nonzero() for t in inputs)
    options = {"cpu_threads": args.threads} | ({"cpu_lanes": 8} if AVX2 else {})
    begin = time.perf_counter()
    ours, program = plait_side(kind, shape, inputs, options)
    calls = {"plait": ours, "eager": lambda: kind.function(*inputs)}
    if not args.check:
        inductor = torch.compile(kind.function, dynamic=False)
        calls["inductor"] = lambda: inductor(*inputs)
    if args.through_torch:
        through = torch.compile(kind.function, backend="plait", dynamic=False, options={"plait": options})
        calls["plait_torch"] = lambda: through(*inputs)
    made = time.perf_counter() - begin
    compile_s, outs = {}, {}
    for side, call in calls.items():
        compile_s[side], out = first_call(call)
        outs[side] = results([torch.from_dlpack(each) for each in out.values()] if side == "plait" else out)
    compile_s["plait"] += made
    moved = bytes_of(kind, inputs, outs["plait"])
    found = errors(kind, inputs, outs)
    row = {"kind": kind.name, "size": size, "dtype": dtype, "bytes": moved, "launches": program.report["launches"],
           "bytes_moved": program.report["bytes_moved"], "error": {side: machine.digits(e) for side, e in found.items()},
           "compile_s": {side: machine.digits(s) for side, s in compile_s.items() if side != "eager"}}
    del outs, out
    if not args.check:
        row["ms"] = times(calls | {"copy": copy_side(moved)}, args.rounds)
    return row


def ratio(row, over, under="plait"):
    return row["ms"][over]["median"] / row["ms"][under]["median"]


def shown(row):
    out = f"{row['kind']:20} {row['size']:5} {row['dtype']:5} launches {row['launches']:2}  errors " + ", ".join(
        f"{side} {error:.2f}" for side, error in row["error"].items())
    if "ms" in row:
        ms = {side: f"{each['median']:.3f}" for side, each in row["ms"].items()}
        out += f"  ms {', '.join(f'{side} {each}' for side, each in ms.items())}"
        out += (f"  speed {ratio(row, 'inductor'):.2f} of Inductor's, {ratio(row, 'eager'):.2f} of eager's, "
                f"{ratio(row, 'copy'):.2f} of a copy's")
    return out


def geometric_means(rows):
    """Of plait's speed over the others', by size and dtype, and by size."""
    out = []
    for size in dict.fromkeys(row["size"] for row in rows):
        dtypes = list(dict.fromkeys(row["dtype"] for row in rows if row["size"] == size))
        for chosen in [[dtype] for dtype in dtypes] + ([dtypes] if len(dtypes) > 1 else []):
            of = [row for row in rows if row["size"] == size and row["dtype"] in chosen]
            means = {side: machine.digits(statistics.geometric_mean(ratio(row, side) for row in of))
                     for side in ("inductor", "eager", "copy")}
            spreads = [(r["ms"]["copy"]["max"] - r["ms"]["copy"]["min"]) / r["ms"]["copy"]["median"] for r in of]
            out.append({"size": size, "dtypes": chosen, "rows": len(of), "of": means,
                        "copy_spread": machine.digits(statistics.median(spreads)),
                        "under_0.9_of_inductor": [f"{r['kind']} {r['dtype']}" for r in of if ratio(r, "inductor") < 0.9]})
    return out


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="16mb,64mb")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--of", default="fusions")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--through-torch", action="store_true")
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for flag, known in (("sizes", SIZES), ("dtypes", DTYPES), ("of", GROUPS),
                        ("only", [kind.name for kinds in GROUPS.values() for kind in kinds])):
        chosen = [word for word in getattr(args, flag).split(",") if word]
        if unknown := [word for word in chosen if word not in known]:
            parser.error(f"--{flag}: there is no {', '.join(unknown)}; there are {', '.join(known)}")
        setattr(args, flag, chosen)
    return args


def prepare(args):
    """Threads, Inductor without its caches, and one compilation each, so that what is loaded once is in no row."""
    torch.set_num_threads(args.threads)
    if not args.check:
        from torch._inductor import config
        config.force_disable_caches = True
        if AVX2:
            config.cpp.simdlen = 256
        torch.compile(lambda x: x + 1)(torch.ones(8))
    fusion = plait.parse("fusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)\n}\n")
    plait.compile(fusion, device="cpu").run(torch.ones(8))


def main():
    args = arguments()
    warnings.simplefilter("ignore")
    load = machine.load_average()
    rows = []
    with torch.no_grad():
        prepare(args)
        for size in args.sizes:
            for kind in [kind for of in args.of for kind in GROUPS[of]]:
                if args.only and kind.name not in args.only:
                    continue
                for dtype in args.dtypes:
                    rows.append(measure(kind, size, dtype, args))
                    print(shown(rows[-1]), flush=True)
    means = [] if args.check else geometric_means(rows)
    for mean in means:
        of = ", ".join(f"{value:.2f} of {side}'s" for side, value in mean["of"].items())
        print(f"geometric mean of {mean['rows']} rows, {mean['size']} {'+'.join(mean['dtypes'])}: speed {of}; "
              f"a copy spreads {100 * mean['copy_spread']:.0f} %; under 0.9 of Inductor's: {', '.join(mean['under_0.9_of_inductor']) or 'none'}")
    wrong = [f"{r['kind']} {r['size']} {r['dtype']}" for r in rows if not r["error"]["plait"] <= 1]
    if not args.check and machine.is_loaded(load):
        print(f"others used the machine (load {load[0]}): these times say little")
    print(f"{args.threads} threads; {len(rows) - len(wrong)} of {len(rows)} rows right" + "".join(f"\n  wrong: {w}" for w in wrong))
    if args.json:
        machine.write_json(args.json, {
            "kind": "fusions", "date": machine.date(), "machine": machine.describe(), "threads": args.threads,
            "avx2": AVX2, "rounds": args.rounds, "load": load, "machine_was_loaded": machine.is_loaded(load),
            "torch": torch.__version__, "plait": plait.__version__, "geometric_means": means, "rows": rows})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
