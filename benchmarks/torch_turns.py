"""Calls of PyTorch on several sides in one process, in turns: their errors and their times."""
import math
import time

import plait
import torch

import machine

TURN = 0.05  # seconds of a turn at least


def worst_error(got, eager, exact):
    """Over all results, the largest error over what is allowed: twice eager's and a rounding step more."""
    worst = 0.0
    for mine, own, want in zip(got, eager, exact, strict=True):
        if (mine.dtype, mine.shape) != (own.dtype, own.shape) or not mine.isfinite().all():
            return math.inf
        step = torch.finfo(own.dtype).eps * (4 if own.dtype == torch.float32 else 1)
        allowed = 2 * float((own.double() - want).abs().max()) + step * float(want.abs().max())
        worst = max(worst, float((mine.double() - want).abs().max()) / allowed)
    return worst


def times(calls, rounds):
    """Milliseconds of a call by side, the median, least and most of the rounds; the first round is not counted."""
    taken = {side: [] for side in calls}
    sides = list(calls)
    for turn in range(rounds + 1):
        for side in sides[turn % len(sides):] + sides[:turn % len(sides)]:
            begin, count = time.perf_counter(), 0
            while count == 0 or time.perf_counter() - begin < TURN:
                calls[side]()
                count += 1
            if turn > 0:
                taken[side].append(1e3 * (time.perf_counter() - begin) / count)
    return {side: machine.spread(each) for side, each in taken.items()}


def choose(parser, args, flag, known):
    """The words of a flag, with commas between; an error names those that nobody knows."""
    chosen = getattr(args, flag).split(",")
    if unknown := [word for word in chosen if word not in known]:
        parser.error(f"--{flag}: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    setattr(args, flag, chosen)


def sizes(parser, args, flag, count, example):
    """The shapes of a flag, with commas between, each of `count` extents."""
    text = getattr(args, flag)
    try:
        shapes = [tuple(map(int, shape.split("x"))) for shape in text.split(",")]
        if any(len(shape) != count or min(shape) < 1 for shape in shapes):
            raise ValueError
    except ValueError:
        parser.error(f"--{flag} {text}: {example}")
    setattr(args, flag, shapes)


def report(kind, rows, args, load):
    """Prints how many rows are right, and writes --json. Exit status: 1 where a result is wrong."""
    wrong = [row for row in rows if not row["error"] <= 1]
    if not args.check and machine.is_loaded(load):
        print(f"others used the machine (load {load[0]}): these times say little")
    print(f"{args.threads} threads; {len(rows) - len(wrong)} of {len(rows)} rows right")
    if args.json:
        machine.write_json(args.json, {
            "kind": kind, "date": machine.date(), "machine": machine.describe(), "threads": args.threads,
            "rounds": args.rounds, "load": load, "machine_was_loaded": machine.is_loaded(load),
            "torch": torch.__version__, "plait": plait.__version__, "rows": rows})
    return 1 if wrong else 0
