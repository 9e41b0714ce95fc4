"""Ranks that are processes."""

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
