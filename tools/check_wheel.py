#!/usr/bin/env python3
"""Says whether a wheel can go to other machines, and prints what it weighs by part: usage: check_wheel.py WHEEL [MB]

Its tag is MANYLINUX; each library that it needs is of ALLOWED or lies in the wheel; no symbol is of a later version than in
Debian 12; libraries are looked for beside the one that needs them; a plug-in exports its one function, so that no other copy
of LLVM in the process meets its own; what it holds of others has its licence; all of it weighs at most MB (1e6 bytes; default LIMIT).
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 60
MANYLINUX = "manylinux_2_36_x86_64"
# What every distribution has that pip takes this tag for.
ALLOWED = {"ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "librt.so.1",
           "libstdc++.so.6", "libz.so.1"}
# MPI is the cluster's own: its plug-in is loaded where a run asks for it.
HOST = {"libplait_mpi.so": {"libmpi.so.40"}}
# Files of plait/licenses.
LICENSES = {"libLLVM": "libllvm19.txt", "libdnnl": "libdnnl2.txt", "libfmt": "libfmt9.txt", "libgomp": "libgomp1.txt",
            "libzstd": "libzstd1.txt", "libOpenCL": "ocl-icd-libopencl1.txt"}
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
PARTS = [
    ("libplait_llvm", "LLVM's parts"), ("libdnnl", "oneDNN"), ("libgomp", "OpenMP of oneDNN"), ("libOpenCL", "OpenCL of oneDNN"),
    ("libplait_sim", "simulated GPUs"), ("bin/plait", "the command"), ("_plait.", "the extension"),
]


def dynamic(file):
    """Names needed, run paths, versions needed and functions exported of a file."""
    def read(*options):
        return subprocess.run(["readelf", "-W", *options, str(file)], capture_output=True, text=True, check=True).stdout
    entries = read("-d")
    versions = re.findall(r"Name: ([A-Z]+)_([\d.]+) ", read("-V").split("Version needs section")[-1])
    exports = [line.split()[7].split("@")[0] for line in read("--dyn-syms").splitlines()
               if re.match(r"\s*\d+: ", line) and line.split()[4] in ("GLOBAL", "WEAK", "UNIQUE") and line.split()[6] != "UND"]
    return (re.findall(r"\(NEEDED\).*\[(.*)\]", entries), re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", entries), versions,
            exports)


def file_problems(file, name, inside):
    needed, paths, versions, exports = dynamic(file)
    base = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", pathlib.PurePath(name).name)
    for library in needed:
        if library not in ALLOWED | inside | HOST.get(base, set()):
            yield f"{name} needs {library}, which other machines may lack"
    for path in ":".join(paths).split(":"):
        if path and not path.startswith("$ORIGIN"):
            yield f"{name} looks for libraries in {path}"
    for family, version in versions:
        if tuple(map(int, version.split("."))) > NEWEST.get(family, (99,)):
            yield f"{name} needs {family}_{version}, Debian 12 has {'.'.join(map(str, NEWEST[family]))}"
    if re.fullmatch(r"libplait_(llvm|onednn|mpi)\.so", base) and exports != [base[3:-3] + "_interface"]:
        yield f"{name} exports {', '.join(sorted(exports)[:5]) or 'nothing'}"


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with open(path, "rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    yield path


def weights(archive):
    """Bytes of each part, in the wheel and installed."""
    packed, plain = collections.Counter(), collections.Counter()
    for each in archive.infolist():
        part = next((part for prefix, part in PARTS if prefix in each.filename), "the rest")
        packed[part] += each.compress_size
        plain[part] += each.file_size
    return packed, plain


def check(wheel, limit=LIMIT):
    problems = []
    if MANYLINUX not in wheel.stem.split("-")[-1].split("."):
        problems.append(f"{wheel.name}: its tag is not {MANYLINUX}")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        packed, plain = weights(archive)
        folder = pathlib.Path(folder)
        archive.extractall(folder)
        files = list(elf_files(folder))
        inside = {file.name for file in files}
        for plugin in ("libplait_llvm.so", "libplait_onednn.so", "libplait_mpi.so", "plait"):
            if plugin not in inside:
                problems.append(f"{wheel.name} lacks {plugin}")
        held = {re.sub(r"-[0-9a-f]{8}\.so.*", "", name) for name in inside if re.search(r"-[0-9a-f]{8}\.so", name)}
        for library in sorted(held | {"libLLVM"}):
            if not (folder / "plait/licenses" / LICENSES.get(library, "none")).exists():
                problems.append(f"{wheel.name} holds {library} without its licence")
        for file in files:
            problems += file_problems(file, file.relative_to(folder).as_posix(), inside)
    for part, size in packed.most_common():
        print(f"{part:<20}{size / 1e6:6.1f} MB{plain[part] / 1e6:8.1f} MB installed")
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {sum(plain.values()) / 1e6:.1f} MB installed")
    if size > limit * 1e6:
        problems.append(f"{wheel.name} weighs {size / 1e6:.1f} MB, {limit} are allowed")
    return problems


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: check_wheel.py WHEEL [MB]: give the wheel that tools/make_wheel.py printed")
    found = check(pathlib.Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else LIMIT)
    print("\n".join(found))
    sys.exit(bool(found))
