#!/usr/bin/env python3
"""Builds the wheel as `pip install .` does, and installs it with NumPy and pytest in a fresh environment, in which the
tests run: wheel.py SOURCE FOLDER BUILD_FOLDER [cmake definitions]. Exit code 77 where the package index is not reached.
With the definition PLAIT_BUILT, of C++ the wheel compiles its extension alone, which is checked, with build tools from an
environment that stays, whose paths the compiler's cache knows again."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys

TOOLS = ["numpy", "pygments", "pytest"]


def run(*command):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    print(done.stdout[-6000:], flush=True)
    return done


def installed(environment, packages):
    """Makes the environment, with these packages alone, unless it is there; whether it is."""
    holds = environment / "holds.txt"
    if holds.exists() and holds.read_text().split("\n") == packages:
        return True
    shutil.rmtree(environment, ignore_errors=True)
    pip = [environment / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q"]
    if run("/usr/bin/python3", "-m", "venv", environment).returncode:
        return False
    if run(*pip, "--retries", "1", "--timeout", "20", *packages).returncode:
        return False
    holds.write_text("\n".join(packages))
    return True


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
    how, builder = [], pip
    if any(each.startswith("PLAIT_BUILT=") for each in sys.argv[4:]):
        tools = folder / "venv_build"
        needed = ast.literal_eval(re.search(r"^requires = (\[.*\])$", (source / "pyproject.toml").read_text(), re.M)[1])
        needed += ["cmake", "ninja"] if not (shutil.which("cmake") and shutil.which("ninja")) else []
        if not installed(tools, needed):
            print("skipped: the package index was not reached")
            return 77
        how, builder = ["--no-build-isolation"], [tools / "bin/python", *pip[1:]]
    settings = [f"--config-settings=cmake.define.{each}" for each in sys.argv[4:]]
    settings.append(f"--config-settings=build-dir={sys.argv[3]}")
    if run(*builder, "wheel", "-v", "--no-deps", *how, "-w", dist, source, *settings).returncode:
        return 1
    wheel, = dist.glob("*.whl")
    objects = re.findall(r"^build (\S+\.o):", (pathlib.Path(sys.argv[3]) / "build.ninja").read_text(), re.M)
    core = [each for each in objects if "csrc/" in each and not each.endswith("capi/dlpack.cpp.o")]
    print(f"{len(objects)} objects, {len(core)} of the core")
    if not objects or bool(core) == any(each.startswith("PLAIT_BUILT=") for each in sys.argv[4:]):
        return 1
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB")
    if run(*pip, "install", "-q", wheel).returncode:
        return 1
    ready.touch()
    return 0


sys.exit(main())
