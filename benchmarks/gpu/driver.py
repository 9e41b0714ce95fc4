#!/usr/bin/env python3
"""What a GPU does with plait's programs, against PyTorch of the same machine: sides take turns, medians are compared.
Bytes are the least: each input read once, each output written once."""
import argparse
import contextlib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402
import turns  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
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


def sides_of(row, sides):
    """(name in the result, side, row that the side knows)."""
    for name, side in sides.items():
        if name == "torch" and row == "empty_launch":
            continue
        yield name, side, row
        if name == "torch" and row in COMPILED:
            yield "torch_compiled", side, f"{row}/compiled"


def measure(row, sides, args):
    count, moved, flops = ROWS[row]
    if args.small:
        count = 2
    out, seconds = {"row": row, "runs_a_turn": count}, {}
    entries = list(sides_of(row, sides))
    # The first turn warms clocks and caches and is not counted; one run before every other turn warms that side again.
    for turn in range(args.turns + 1):
        for name, side, word in list(entries):
            try:
                side.turn(word, 1)
                taken = side.turn(word, count)
                if turn > 0:
                    seconds.setdefault(name, []).append(taken)
            except (turns.Missing, RuntimeError) as error:
                kind = "skipped" if isinstance(error, turns.Missing) else "failed"
                out.setdefault(kind, []).append(f"{name}: {error}")
                entries = [entry for entry in entries if entry[0] != name]
                seconds.pop(name, None)
    for name, values in seconds.items():
        out[f"{name}_us"] = machine.spread([1e6 * value for value in values])
        median = out[f"{name}_us"]["median"] * 1e-6
        if moved and not args.small:
            out[f"{name}_gb_s"] = machine.digits(moved / median * 1e-9)
        if flops and not args.small:
            out[f"{name}_tflop_s"] = machine.digits(flops / median * 1e-12)
    peers = [out[f"{name}_us"]["median"] for name in ("torch", "torch_compiled") if name in seconds]
    if "plait" in seconds and peers:
        out["speed_of_best_torch"] = machine.digits(min(peers) / out["plait_us"]["median"])
    return out


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
            for row in args.rows.split(",") if args.rows else ROWS:
                result["rows"].append(measure(row, sides, args))
    derive(result["rows"])
    return result


def parser():
    out = argparse.ArgumentParser(description=__doc__)
    out.add_argument("--results", help="JSON file to write")
    out.add_argument("--binary-dir", type=pathlib.Path, default=ROOT / "build/release")
    out.add_argument("--device", default="cuda")
    out.add_argument("--small", action="store_true", help="tiny tensors: whether the rows work, on a simulated device too")
    out.add_argument("--no-torch", action="store_true")
    out.add_argument("--rows", default="", help="comma list; default: all")
    out.add_argument("--turns", type=int, default=5)
    out.add_argument("--limit", type=float, default=180, help="seconds within which a side must answer")
    return out


def main():
    args = parser().parse_args()
    before = machine.load_average()
    result = {"benchmark": "gpu", "date": machine.date(), "machine": machine.describe(),
              "load_average": {"before": before}, **run(args)}
    result["load_average"]["after"] = machine.load_average()
    for row in result["rows"]:
        print(row, flush=True)
    for kind in ("skipped", "failed"):
        for reason in result.get(kind, []):
            print(f"{kind}: {reason}")
    if args.results:
        machine.write_json(args.results, result)
    return machine.exit_status([result, *result["rows"]])


if __name__ == "__main__":
    sys.exit(main())
