#!/usr/bin/env python3
"""An environment with the wheel that wheel.py made, the CPU build of PyTorch, and JAX: torch_environment.py FOLDER. One that
is there stays, with the new wheel. Exit code 77 where the package index is not reached, or has PyTorch with CUDA only, which
is gigabytes."""
import json
import pathlib
import shutil
import subprocess
import sys

TORCH = "torch==2.13.0"
JAX = "jax==0.10.2"
TOOLS = ["expecttest", "numpy", "pytest"]


def main():
    folder = pathlib.Path(sys.argv[1])
    environment, ready = folder / "venv_torch", folder / "ready_torch"
    ready.unlink(missing_ok=True)
    if not (folder / "ready").exists():
        print("skipped: there is no wheel")
        return 77
    wheel, = (folder / "dist").glob("*.whl")
    holds, packages = environment / "holds.txt", " ".join([TORCH, *TOOLS, JAX])
    if holds.exists() and holds.read_text() == packages:  # all but the wheel, which is new
        again = ["--force-reinstall", "--no-deps", wheel]
        if not subprocess.run([environment / "bin/python", "-m", "pip", "-q", "--no-input", "install", *again]).returncode:
            ready.touch()
            return 0
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run(["/usr/bin/python3", "-m", "venv", environment], check=True)
    pip = [environment / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q"]
    index = ["--retries", "1", "--timeout", "20"]
    found = subprocess.run([*pip, *index, "--dry-run", "--no-deps", "--report", "-", TORCH], capture_output=True, text=True)
    if found.returncode:
        print(f"skipped: the package index was not reached, or lacks {TORCH}")
        return 77
    needs = json.loads(found.stdout)["install"][0]["metadata"].get("requires_dist", [])
    if any(each.startswith("nvidia") for each in needs):
        print(f"skipped: the package index has {TORCH} with CUDA only")
        return 77
    if subprocess.run([*pip, *index, TORCH, *TOOLS, wheel]).returncode:
        print("skipped: the package index broke off")
        return 77
    if subprocess.run([*pip, *index, JAX]).returncode:
        print(f"the package index lacks {JAX}: tests with it are skipped by name")
    else:
        holds.write_text(packages)
    ready.touch()
    return 0


sys.exit(main())
