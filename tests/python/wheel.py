#!/usr/bin/env python3
"""Builds the wheel as `pip install .` does, and installs it with NumPy and pytest in a fresh environment, in which the
tests run: wheel.py SOURCE FOLDER BUILD_FOLDER [cmake definitions]. Exit code 77 where the package index is not reached."""
import pathlib
import shutil
import subprocess
import sys

TOOLS = ["numpy", "pytest"]


def run(*command):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    print(done.stdout[-6000:], flush=True)
    return done


def main():
    source, folder = map(pathlib.Path, sys.argv[1:3])
    environment, dist = folder / "venv", folder / "dist"
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    for old in (environment, dist):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    if run("/usr/bin/python3", "-m", "venv", environment).returncode:
        return 1
    pip = [environment / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    if run(*pip, "install", "--retries", "1", "--timeout", "20", "-q", *TOOLS).returncode:
        print("skipped: the package index was not reached")
        return 77
    settings = [f"--config-settings=cmake.define.{each}" for each in sys.argv[4:]]
    settings.append(f"--config-settings=build-dir={sys.argv[3]}")
    if run(*pip, "wheel", "-v", "--no-deps", "-w", dist, source, *settings).returncode:
        return 1
    wheel, = dist.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB")
    if run(*pip, "install", "-q", wheel).returncode:
        return 1
    ready.touch()
    return 0


sys.exit(main())
