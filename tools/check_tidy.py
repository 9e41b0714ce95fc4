#!/usr/bin/env python3
"""clang-tidy-19 finds nothing of what .clang-tidy asks for, and each source includes what it names.
usage: check_tidy.py [--build DIR] [--jobs N] [PATH...]

PATH: sources or folders; default: csrc and tools. DIR is a configured build folder (default build/ci). Sources that the
build unites (PLAIT_UNITY) are read united, which takes a fifth of the time; each is compiled by itself too, without the
precompiled header. What was clean is not read again while it, what it includes, and .clang-tidy are the same (DIR/tidy/).
Exit status 77 (skipped) where clang-tidy-19 is absent.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import tree

TOOL = "clang-tidy-19"
FINDING = re.compile(r"^\S+:\d+:\d+: (error|warning): ")
# The analyzer reads what is in the file itself, unless it is told otherwise.
ANALYZE_MEMBERS = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-opt-analyze-headers"]
# As g++ and as clang are told.
PRECOMPILED = re.compile(r" -Winvalid-pch|( -Xclang)? -include(-pch)?( -Xclang)? \S+/cmake_pch\.hxx(\.pch)?")


def digest(path):
    try:
        return hashlib.sha1(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@dataclasses.dataclass
class Unit:
    """A file that the build compiles, and the sources in it: itself, or those that it unites."""
    file: str
    command: str
    directory: str
    members: list


def units(commands, paths):
    """The units in which there is a source under the paths, in order."""
    roots = [str(path.resolve()) for path in paths]
    chosen, seen = {}, set()
    for command in commands:
        path = (pathlib.Path(command["directory"]) / command["file"]).resolve()
        file, words = str(path), PRECOMPILED.sub("", command["command"])
        united = re.findall(r'^#include "(.*)"$', path.read_text(), re.M) if path.suffix == ".cxx" else []
        unit = Unit(file, words, command["directory"], united or [file])
        if any(m not in seen and (m == r or m.startswith(r + "/")) for m in unit.members for r in roots):
            chosen[file] = unit
            seen.update(unit.members)
    return [chosen[file] for file in sorted(chosen)]


def compiling(unit):
    """The words that compile the unit, without those that name what is written."""
    keep, skip = [], False
    for word in shlex.split(unit.command):
        if skip or word == "-c":
            skip = False
        elif word == "-o":
            skip = True
        else:
            keep.append(word)
    return keep


def included(unit):
    """Files that a unit includes, itself among them."""
    out = subprocess.run([*compiling(unit), "-MM"], cwd=unit.directory, capture_output=True, text=True).stdout
    names = out.replace("\\\n", " ").split(":", 1)[-1].split()
    return sorted({str((pathlib.Path(unit.directory) / name).resolve()) for name in names})


class Memory:
    """Sources that were clean, with the digests of what they were made of: a file each, so that runs may overlap."""

    def __init__(self, folder, config):
        self.folder, self.config = folder, config
        folder.mkdir(exist_ok=True)

    def file(self, source):
        return self.folder / (hashlib.sha1(source.encode()).hexdigest() + ".json")

    def knows(self, source):
        try:
            known = json.loads(self.file(source).read_text())
        except (OSError, ValueError):
            return False
        return known["config"] == self.config and all(digest(path) == value for path, value in known["files"].items())

    def add(self, source, files):
        new = self.file(source).with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"config": self.config, "files": {path: digest(path) for path in files}}))
        new.rename(self.file(source))


def findings(build, unit):
    """What the tool says of a unit, or an empty text."""
    united = unit.members != [unit.file]
    words = ["--checks=-bugprone-suspicious-include", *ANALYZE_MEMBERS] if united else []
    run = subprocess.run([TOOL, "-p", str(build / "tidy"), "--quiet", *words, unit.file], capture_output=True, text=True,
                         cwd=tree.ROOT)
    if run.returncode == 0 and not any(FINDING.match(line) for line in run.stdout.splitlines()):
        return ""
    return run.stdout.strip() or run.stderr.strip() or f"{TOOL} ended with {run.returncode}"


def not_whole(unit):
    """What the compiler says of the members where they are compiled by themselves, or an empty text."""
    said = []
    for member in unit.members:
        words = [member if word == unit.file else word for word in compiling(unit)]
        run = subprocess.run([*words, "-fsyntax-only"], cwd=unit.directory, capture_output=True, text=True)
        if run.returncode:
            said.append(run.stderr.strip() or f"{member}: the compiler ended with {run.returncode}")
    return "\n".join(said)


def read(build, unit):
    return "\n".join(text for text in (not_whole(unit), findings(build, unit)) if text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[tree.ROOT / "csrc", tree.ROOT / "tools"])
    parser.add_argument("--build", type=pathlib.Path, default=tree.ROOT / "build/ci")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS") or os.cpu_count()))
    args = parser.parse_args()
    if shutil.which(TOOL) is None:
        print(f"skipped: {TOOL} is not installed")
        return 77
    build = args.build.resolve()
    try:
        commands = json.loads((build / "compile_commands.json").read_text())
    except OSError as error:
        print(f"{build} is no configured build folder ({error.strerror}); make it: cmake --preset {build.name}")
        return 2
    chosen = units(commands, args.paths)
    if not chosen:
        print("no compiled source is there")
        return 2
    memory = Memory(build / "tidy", digest(tree.ROOT / ".clang-tidy"))
    new = build / "tidy" / f"commands.{os.getpid()}"
    new.write_text(json.dumps([c | {"command": PRECOMPILED.sub("", c["command"])} for c in commands]))
    new.rename(build / "tidy/compile_commands.json")
    todo = [unit for unit in chosen if not memory.knows(unit.file)]
    sources = sum(len(unit.members) for unit in chosen)
    print(f"{sources} sources in {len(chosen)} units, {len(chosen) - len(todo)} known to be clean", flush=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for unit, text in zip(todo, pool.map(lambda u: read(build, u), todo)):
            if text:
                bad += 1
                print(text, flush=True)
            else:
                memory.add(unit.file, included(unit))
    print(f"{bad} of {len(chosen)} units have findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
