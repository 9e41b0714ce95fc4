"""Ranks that are processes."""

import pathlib
import shutil
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/mpi_mlp.py"


def test_the_example_runs_on_two_ranks():
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, EXAMPLE],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert [line[:11] for line in lines] == ["rank 0 of 2", "rank 1 of 2"] and all("1 collective" in line for line in lines)
    assert all(float(line.split("error ")[1].split(",")[0]) < 1e-4 for line in lines)
