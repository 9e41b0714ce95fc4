#!/usr/bin/env python3
"""What a GPU does with plait's programs, against PyTorch of the same machine: sides take turns, medians are compared.
Bytes are the least: each input read once, each output written once."""
import argparse
import contextlib
import dataclasses
import math
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fusions")]
import machine  # noqa: E402
import turns  # noqa: E402

ROOT = HERE.parent.parent
MIB = 1 << 20
# row -> (runs a turn, least bytes moved, floating-point operations); no bytes: time on the host
ROWS = {
    "empty_launch": (2048, 0, 0),
    "run_simple_add": (1024, 0, 0),
    "copy": (50, 2 << 30, 0),
    "bias_gelu_f32": (100, 512 * MIB, 0),
    "bias_gelu_bf16": (100, 512 * MIB, 0),
    "residual_dropout_bf16": (100, 768 * MIB, 0),
    "tp_mlp_f32": (50, 0, 4 * 1024 * 1024 * 4096),
    "tp_mlp_bf16": (200, 0, 4 * 1024 * 1024 * 4096),
}
COMPILED = ("bias_gelu_f32", "bias_gelu_bf16", "residual_dropout_bf16", "tp_mlp_f32", "tp_mlp_bf16")
# Products of matrices: m, n, k. Of `relu` a bias stands between.
PRODUCTS = [(1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192), (128, 4096, 4096), (4000, 4104, 1000)]
PRODUCT_TEXT = """let T = {dtype}
fusion @product (%a: T[{m}, {k}], %b: T[{k}, {n}], %c: T[{n}]) -> (%y) {{
  %y = {body}
}}
"""
PRODUCT_BODIES = {"plain": "matmul(%a, %b)", "relu": "relu(add(matmul(%a, %b), %c))"}


@dataclasses.dataclass
class Row:
    """What each side is asked for, by its name in the result: (side, its word)."""
    name: str
    words: dict
    runs: int
    moved: int = 0  # least bytes; -1: those of inputs and outputs, which plait's side knows
    flops: int = 0


def plain_rows():
    for name, (runs, moved, flops) in ROWS.items():
        words = {"plait": ("plait", name)}
        if name != "empty_launch":
            words["torch"] = ("torch", name)
        if name in COMPILED:
            words["torch_compiled"] = ("torch", f"{name}/compiled")
        yield Row(name, words, runs, moved, flops)


def sizes_of(kind, shape):
    """Sizes by symbol, as the head's first tensor of T has them: "T[b, h, s, 2*d]"."""
    dims = re.search(r"T\[([^\]]*)\]", kind.head).group(1).split(", ")
    extents = shape if len(dims) == len(shape) else (math.prod(shape),)
    out = {"tokens": shape[0]} if "i64[tokens]" in kind.head else {}
    out |= kind.sizes(shape)
    for dim, extent in zip(dims, extents, strict=True):
        factor, _, symbol = dim.rpartition("*")
        out[symbol] = extent // int(factor or 1)
    return out


def static_text(kind, shape, dtype):
    """The kind's fusion with numbers for sizes, as torch.compile(dynamic=False) has them."""
    text = f"fusion @{kind.name} {kind.head} {{\n{kind.body}\n}}\n"
    for symbol, value in sizes_of(kind, shape).items():
        text = re.sub(rf"(?<![%@\w]){symbol}\b", str(value), text)
    return f"let T = {dtype}, S = f32\n{text}"


def fusion_rows(folder, size, dtypes):
    """Those of benchmarks/fusions; none where PyTorch, which they are written with, is missing."""
    try:
        from kinds import ATTENTION, KINDS
    except ImportError:
        return
    for kind in KINDS + ATTENTION:
        shape = kind.shapes[size]
        for dtype in dtypes:
            name = f"{kind.name}_{size}_{dtype}"
            path = pathlib.Path(folder) / f"{name}.plait"
            path.write_text(static_text(kind, shape, dtype))
            word = f"kind:{kind.name}:{size}:{dtype}"
            indices = shape[0] if "vocab" in kind.head + kind.body else shape[-1]
            yield Row(name, {"plait": ("plait", f"text:{path}:indices={indices}"), "torch": ("torch", word),
                             "torch_compiled": ("torch", f"{word}/compiled")}, 30, -1)


def file_rows(folder):
    """Every file of a folder, by plait alone: a kernel under several schedules, say."""
    for path in sorted(folder.glob("*.plait")):
        yield Row(path.stem, {"plait": ("plait", f"text:{path}")}, 30, -1)


def product_rows(folder, dtypes):
    for kind, body in PRODUCT_BODIES.items():
        for m, n, k in PRODUCTS:
            for dtype in dtypes:
                if dtype == "f32" and m * n * k > 4096**3:
                    continue
                name = f"product_{kind}_{m}x{n}x{k}_{dtype}"
                path = pathlib.Path(folder) / f"{name}.plait"
                path.write_text(PRODUCT_TEXT.format(dtype=dtype, m=m, n=n, k=k, body=body))
                word = f"product:{kind}:{m}:{n}:{k}:{dtype}"
                yield Row(name, {"plait": ("plait", f"text:{path}"), "plait_own": ("plait", f"text:{path}:contractions=own"),
                                 "torch": ("torch", word), "torch_compiled": ("torch", f"{word}/compiled")},
                          30, 0, 2 * m * n * k)


def measure(row, sides, args):
    count = 2 if args.small else row.runs
    moved, flops = row.moved, row.flops
    out, seconds = {"row": row.name, "runs_a_turn": count}, {}
    entries = [(name, sides[side], word) for name, (side, word) in row.words.items() if side in sides]
    # The first turn warms clocks and caches and is not counted; one run before every other turn warms that side again.
    for turn in range(args.turns + 1):
        for name, side, word in list(entries):
            try:
                begin = time.monotonic()
                side.turn(word, 1)
                if turn == 0:
                    out[f"{name}_first_s"] = machine.digits(time.monotonic() - begin)
                taken = side.turn(word, count)
                if turn > 0:
                    seconds.setdefault(name, []).append(taken)
            except (turns.Missing, RuntimeError) as error:
                kind = "skipped" if isinstance(error, turns.Missing) else "failed"
                out.setdefault(kind, []).append(f"{name}: {error}")
                entries = [entry for entry in entries if entry[0] != name]
                seconds.pop(name, None)
    if moved < 0 and "plait" in seconds:
        moved = out["bytes"] = int(sides["plait"].turn("bytes/" + row.words["plait"][1], 1))
    for name, values in seconds.items():
        out[f"{name}_us"] = machine.spread([1e6 * value for value in values])
        median = out[f"{name}_us"]["median"] * 1e-6
        if moved > 0 and not args.small:
            out[f"{name}_gb_s"] = machine.digits(moved / median * 1e-9)
        if flops and not args.small:
            out[f"{name}_tflop_s"] = machine.digits(flops / median * 1e-12)
    peers = [out[f"{name}_us"]["median"] for name in ("torch", "torch_compiled") if name in seconds]
    for name in ("plait", "plait_own"):
        if name in seconds and peers:
            ratio = machine.digits(min(peers) / out[f"{name}_us"]["median"])
            out["speed_of_best_torch" if name == "plait" else "own_speed_of_best_torch"] = ratio
    return out


def rows_of(args, folder):
    """Those asked for: of the groups, and whose names the pattern is found in."""
    groups = {"plain": plain_rows, "fusions": lambda: fusion_rows(folder, args.size, args.dtypes.split(",")),
              "products": lambda: product_rows(folder, args.dtypes.split(",")),
              "files": lambda: file_rows(args.files)}
    for group in args.groups.split(","):
        yield from (row for row in groups[group]() if re.search(args.rows, row.name))


def derive(rows):
    """Figures that compare rows: shares of the copy's bandwidth, host time above an empty launch."""
    by = {row["row"]: row for row in rows}
    copy = by.get("copy", {}).get("plait_gb_s")
    for row in rows:
        if copy and row["row"] != "copy" and "plait_gb_s" in row:
            row["plait_share_of_copy"] = machine.digits(row["plait_gb_s"] / copy)
    empty, simple = (by.get(name, {}).get("plait_us") for name in ("empty_launch", "run_simple_add"))
    if empty and simple:
        by["run_simple_add"]["plait_us_above_empty_launch"] = machine.digits(simple["median"] - empty["median"])
    return rows


def plan(binary_dir, device, small):
    """The command line of each side, the socket's folder left out."""
    plait = [str(binary_dir / "plait_gpu_bench"), "--device", device] + (["--small"] if small else [])
    return {"plait": plait + ["--folder"], "torch": [sys.executable, str(ROOT / "benchmarks/peers/gpu_torch.py")]}


def run(args):
    """The whole result: rows, what each side is, and sides that are missing."""
    result = {"rows": [], "about": {}}
    with tempfile.TemporaryDirectory(prefix="gpu_bench_") as folder, turns.listener(folder) as at, \
            contextlib.ExitStack() as stack:
        sides = {}
        for name, command in plan(args.binary_dir, args.device, args.small).items():
            if name == "torch" and args.no_torch:
                continue
            try:
                if not pathlib.Path(command[0]).exists():
                    raise turns.Missing(f"{name}: {command[0]} is not there")
                sides[name] = turns.Side(name, [command + [folder]], at, limit=args.limit)
                stack.callback(sides[name].close)
                result["about"][name] = sides[name].about
            except (turns.Missing, RuntimeError) as error:
                kind = "skipped" if isinstance(error, turns.Missing) else "failed"
                result.setdefault(kind, []).append(str(error))
        if "plait" in sides:
            for row in rows_of(args, folder):
                result["rows"].append(measure(row, sides, args))
                print(result["rows"][-1], flush=True)
                if args.results:  # a run that is cut off leaves what it found
                    machine.write_json(args.results, result)
    derive(result["rows"])
    return result


def parser():
    out = argparse.ArgumentParser(description=__doc__)
    out.add_argument("--results", help="JSON file to write")
    out.add_argument("--binary-dir", type=pathlib.Path, default=ROOT / "build/release")
    out.add_argument("--device", default="cuda")
    out.add_argument("--small", action="store_true", help="tiny tensors: whether the rows work, on a simulated device too")
    out.add_argument("--no-torch", action="store_true")
    out.add_argument("--groups", default="plain", help="of plain, fusions, products, files; with commas between")
    out.add_argument("--files", type=pathlib.Path, help="the folder of group files")
    out.add_argument("--rows", default=".", help="a pattern of their names; default: all")
    out.add_argument("--size", default="256mb", help="of fusions (benchmarks/fusions/kinds.py)")
    out.add_argument("--dtypes", default="bf16,f32", help="of fusions and products")
    out.add_argument("--turns", type=int, default=5)
    out.add_argument("--limit", type=float, default=180, help="seconds within which a side must answer")
    return out


def main():
    args = parser().parse_args()
    before = machine.load_average()
    result = {"benchmark": "gpu", "date": machine.date(), "machine": machine.describe(),
              "load_average": {"before": before}, **run(args)}
    result["load_average"]["after"] = machine.load_average()
    for kind in ("skipped", "failed"):
        for reason in result.get(kind, []):
            print(f"{kind}: {reason}")
    if args.results:
        machine.write_json(args.results, result)
    return machine.exit_status([result, *result["rows"]])


if __name__ == "__main__":
    sys.exit(main())
