"""Ranks that are processes."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/mpi_mlp.py"


@pytest.mark.parametrize("launcher, ranks", [
    (["mpirun", "--allow-run-as-root", "--oversubscribe"], ["0", "1"]),
    ([sys.executable, "-m", "plait", "launch"], ["0"]),  # which shows what rank 0 prints
])
def test_the_example_runs_on_two_ranks(launcher, ranks):
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    dashes = [] if launcher[0] == "mpirun" else ["--"]
    done = subprocess.run([*launcher, "-n", "2", *dashes, sys.executable, EXAMPLE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    said = re.findall(r"rank (\d) of 2: largest error (\S+), (\d) collective", done.stdout)  # lines may run into each other
    assert sorted(rank for rank, _, _ in said) == ranks, done.stdout
    assert all(float(error) < 1e-4 and collectives == "1" for _, error, collectives in said)


PROFILED = """
import numpy as np, plait
f = plait.Fusion("f", mesh=plait.Mesh(tp="t"))
x, w = f.input("x", [4, 8], plait.f32), f.parameter("w", [16, 8], plait.f32)
w.shard(0, "tp")
f.output("y", plait.ops.softmax(plait.ops.linear(x, w), -1))
p = plait.compile(f, comm="mpi", ranks=2)
a = {"x": np.ones((4, 8), np.float32), "w": np.ones((16, 8), np.float32)}
with plait.profile(p, wait=1, warmup=1, active=3, repeat=2, trace="{cycle}_{rank}.json") as profile:
    for _ in range(12):
        p.run(a)
        profile.step()
assert [path.name for path in profile.traces] == [f"1_{p.rank}.json", f"2_{p.rank}.json"], profile.traces
assert len(profile.table(10).splitlines()) > 1
"""


def test_each_process_writes_the_traces_of_its_rank(tmp_path):
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    (tmp_path / "profiled.py").write_text(PROFILED)
    done = subprocess.run([sys.executable, "-m", "plait", "launch", "-n", "2", "--", sys.executable, "profiled.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["1_0.json", "1_1.json", "2_0.json", "2_1.json"]
    for path in tmp_path.glob("*.json"):
        events = json.loads(path.read_text())["traceEvents"]
        assert int(path.stem[-1]) in {event["pid"] for event in events if event["ph"] == "X"}
