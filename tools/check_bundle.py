#!/usr/bin/env python3
"""A bundle (tools/make_bundle.py) is small and runs elsewhere: its programs are stripped, ask for no newer glibc than
GLIBC and for no shared library but libc's and those beside them, name no folder of the machine that built them, and the
command runs from a copy. usage: check_bundle.py [FOLDER]; without one build/gpu/plait-gpu, and exit status 77 (skipped)
where it is not there"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_MEGABYTES = 60
GLIBC = "2.35"  # Ubuntu 22.04, Fedora 36, Debian 12
LIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux[-\w]*\.so\.\d+")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(folder):
    return [path for path in sorted((folder / "bin").iterdir()) if path.is_file() and is_elf(path)]


def number(version):
    return tuple(int(part) for part in version.split("."))


def glibc_of(folder):
    """The newest version of glibc's symbols that anything asks for."""
    versions = {"0"}
    for path in elf_files(folder):
        versions.update(re.findall(r"\bGLIBC_([\d.]+)", output("objdump", "-T", str(path))))
    return max(versions, key=number)


def problems_of(path, siblings):
    dynamic = output("readelf", "-dW", str(path))
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if library not in siblings and not LIBC.fullmatch(library):
            yield f"needs {library}"
        elif library in siblings and not re.search(r"\((RUNPATH|RPATH)\).*\[\$ORIGIN\]", dynamic):
            yield f"does not look for {library} beside itself"
    for paths in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        yield from (f"looks for libraries in {p}" for p in paths.split(":") if not p.startswith("$ORIGIN"))
    sections = output("readelf", "-SW", str(path))
    if ".debug_info" in sections or ".symtab" in sections:
        yield "is not stripped"
    if (ROOT / "CMakeLists.txt").exists() and f"{ROOT}/".encode() in path.read_bytes():
        yield f"names {ROOT}"


def run_copy(folder):
    """What goes wrong when the command runs from a copy, with nothing in the environment."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "copy"
        shutil.copytree(folder, copy)
        for words in (["bin/plait", "--version"],
                      ["bin/plait", "run", "docs/examples/simple_add.plait", "--device", "reference", "--check"],
                      ["tools/gpu_check", "--dry-run"], ["benchmarks/gpu/driver.py", "--help"]):
            result = subprocess.run(words, cwd=copy, env={"PATH": os.defpath, "HOME": scratch}, text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True)
            if result.returncode:
                yield f"{' '.join(words)}: exit status {result.returncode}; {(result.stderr or result.stdout)[-300:]}"


def check(folder, run=True):
    if not (folder / "bin/plait").exists():
        return [f"{folder}: no bin/plait"]
    files = elf_files(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    found = []
    if size > MAX_MEGABYTES:
        largest = sorted(files, key=lambda path: -path.stat().st_size)[:3]
        found.append(f"{size:.1f} MB, {MAX_MEGABYTES} allowed; the largest are {', '.join(p.name for p in largest)}")
    newest = glibc_of(folder)
    if number(newest) > number(GLIBC):
        found.append(f"asks for glibc {newest}, {GLIBC} allowed")
    siblings = {path.name for path in files}
    found += [f"{path.name} {problem}" for path in files for problem in problems_of(path, siblings)]
    if run:
        found += run_copy(folder)
    if not found:
        print(f"{folder}: {size:.1f} MB, {len(files)} programs and libraries, glibc {newest}")
    return found


if __name__ == "__main__":
    bundle = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/gpu/plait-gpu")
    if len(sys.argv) == 1 and not bundle.exists():
        print(f"skipped: no bundle in {bundle}; make it: cmake --preset gpu && cmake --build --preset gpu")
        sys.exit(77)
    problems = check(bundle)
    print("".join(f"bundle: {problem}\n" for problem in problems), end="")
    sys.exit(1 if problems else 0)
