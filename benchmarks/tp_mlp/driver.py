#!/usr/bin/env python3
"""The tensor-parallel MLP, plait against PyTorch and JAX: all sides wait in their processes and take turns, so that other
work on the machine hits all; medians of the turns are compared. Outputs of all are checked against float64."""
import argparse
import contextlib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import machine  # noqa: E402
import turns  # noqa: E402
from tp_mlp import check  # noqa: E402
from tp_mlp.job import Job  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEER = ROOT / "build/peers/venv/bin/python"
# Open MPI counts cores by itself; on few cores, and as root, it must be told that this is meant.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


PEERS = {"torch": "PyTorch", "jax": "JAX"}


def commands(side, job, binary_dir):
    """The command lines of a side: for plait one, which starts its processes; for PyTorch one for each rank; for JAX one,
    which has all of them."""
    ranks = [Job(**{**vars(job), "rank": rank}) for rank in range(job.ranks)]
    if side in PEERS:
        if not PEER.exists():
            raise turns.Missing(f"{side}: build/peers/venv is not there; benchmarks/peers/setup makes it")
        processes = ranks if side == "torch" else ranks[:1]
        return [[str(PEER), str(ROOT / f"benchmarks/peers/tp_mlp_{side}.py"), *rank.arguments()] for rank in processes]
    program = [str(binary_dir / "plait_tp_mlp")]
    if not (binary_dir / "plait_tp_mlp").exists():
        raise turns.Missing(f"plait: {program[0]} is not built")
    words = [program + rank.arguments() for rank in ranks]
    if job.ranks == 1:
        return words
    line = list(MPIRUN)
    for rank in words:
        line += ([":"] if rank is not words[0] else []) + ["-n", "1", *rank]
    return [line]


def measure(job, binary_dir, args):
    """The row of one dtype and number of processes."""
    row = {"dtype": job.dtype, "processes": job.ranks}
    inputs = check.write_inputs(job)
    seconds, sides = {}, {}
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with turns.listener(job.folder) as at, contextlib.ExitStack() as stack:
        for name in ["plait", *args.peers]:
            try:
                connected = 1 if name == "jax" else job.ranks
                side = turns.Side(name, commands(name, job, binary_dir), at, connected, args.limit, one_thread)
                stack.callback(side.close)
                sides[name], seconds[name] = side, []
            except turns.Missing as reason:
                row.setdefault("skipped", []).append(str(reason))
            except RuntimeError as error:
                row.setdefault("failed", []).append(str(error))
        for _ in range(args.turns):
            for name, side in list(sides.items()):
                try:
                    seconds[name].append(side.turn("forward", args.runs))
                except RuntimeError as error:
                    row.setdefault("failed", []).append(str(error))
                    del sides[name], seconds[name]
        row["about"] = {name: side.about for name, side in sides.items()}
        agreement = {name: check.outputs(job, name, inputs) for name in sides}
    for name, values in seconds.items():
        row[f"{name}_ms"] = machine.spread([1e3 * value for value in values])
    for name in PEERS:
        if name in seconds and "plait" in seconds:
            row[f"speed_of_{name}"] = machine.digits(row[f"{name}_ms"]["median"] / row["plait_ms"]["median"])
    row["turns"], row["runs_a_turn"] = args.turns, args.runs
    row["error_over_bound"] = agreement
    wrong = [name for name, errors in agreement.items() if not all(error <= 1 for error in errors.values())]
    if wrong:
        row.setdefault("failed", []).append(f"outputs of {' and '.join(wrong)} are further from float64 than the bound")
    return row


def line(row):
    def side(name):
        ms = row.get(f"{name}_ms")
        return f"{name} {ms['median']} ms ({ms['min']} to {ms['max']})" if ms else f"{name} -"

    text = f"{row['dtype']:>4}, {row['processes']} processes: {side('plait')}"
    for name, title in PEERS.items():
        if f"speed_of_{name}" in row:
            text += f", {side(name)}: {row[f'speed_of_{name}']} times {title}"
    for kind in ("skipped", "failed"):
        text += "".join(f"\n      {kind}: {reason}" for reason in row.get(kind, []))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", help="JSON file to write")
    parser.add_argument("--binary-dir", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--runs", type=int, default=3, help="timed forwards a turn, after one that is not timed")
    parser.add_argument("--quick", action="store_true", help="small sizes, few turns: whether it works")
    parser.add_argument("--processes", default="1,2")
    parser.add_argument("--peers", type=lambda text: [name for name in text.split(",") if name], default=list(PEERS),
                        help="torch,jax; empty: plait alone")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--limit", type=float, default=120, help="seconds within which a side must answer")
    args = parser.parse_args()
    sizes = {"sb": 1024, "h": 1024, "h4": 4096}
    if args.quick:
        sizes, args.turns, args.runs = {"sb": 32, "h": 64, "h4": 128}, 2, 2
    before, rows = machine.load_average(), []
    for processes in args.processes.split(","):
        for dtype in args.dtypes.split(","):
            with tempfile.TemporaryDirectory(prefix="tp_mlp_") as folder:
                job = Job(folder=folder, dtype=dtype, ranks=int(processes), rank=0, **sizes)
                rows.append(measure(job, args.binary_dir.resolve(), args))
            print(line(rows[-1]), flush=True)
    result = {"benchmark": "tp_mlp", "date": machine.date(), "machine": machine.describe(), "sizes": sizes,
              "threads_a_process": 1, "dropout": 0.1,
              "load_average": {"before": before, "after": machine.load_average()},
              "machine_was_loaded": machine.is_loaded(before), "rows": rows}
    if args.results:
        machine.write_json(args.results, result)
    return machine.exit_status(rows)


if __name__ == "__main__":
    sys.exit(main())
