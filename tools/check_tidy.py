#!/usr/bin/env python3
"""clang-tidy-19 finds nothing of what .clang-tidy asks for. usage: check_tidy.py [--build DIR] [--jobs N] [PATH...]

PATH: sources or folders; default: csrc and tools. DIR is a configured build folder (default build/ci). A source that was
clean is not read again while it, what it includes, and .clang-tidy are the same (DIR/tidy/).
Exit status 77 (skipped) where clang-tidy-19 is absent.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tree

TOOL = "clang-tidy-19"
FINDING = re.compile(r"^\S+:\d+:\d+: (error|warning): ")
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S+/cmake_pch\.hxx")


def digest(path):
    try:
        return hashlib.sha1(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def single(commands):
    """The commands with those of united sources (PLAIT_UNITY) taken apart, and without precompiled headers."""
    for command in commands:
        file = pathlib.Path(command["directory"]) / command["file"]
        command["command"] = PRECOMPILED.sub("", command["command"])
        members = re.findall(r'^#include "(.*)"$', file.read_text(), re.M) if file.suffix == ".cxx" else []
        if not members:
            yield command
        for member in members:
            yield command | {"file": member, "command": command["command"].replace(str(file), member)}


def sources(commands, paths):
    """The compiled sources under the paths, in order."""
    roots = [str(path.resolve()) for path in paths]
    files = {str((pathlib.Path(c["directory"]) / c["file"]).resolve()): c for c in commands}
    return {file: files[file] for file in sorted(files) if any(file == r or file.startswith(r + "/") for r in roots)}


def included(command):
    """Files of the tree that a source includes, itself among them."""
    words = [w for w in command["command"].split() if not w.endswith(".gch")]
    keep, skip = [], False
    for word in words:
        if skip or word in ("-c",):
            skip = False
            continue
        if word == "-o":
            skip = True
            continue
        keep.append(word)
    out = subprocess.run([*keep, "-MM"], cwd=command["directory"], capture_output=True, text=True).stdout
    names = out.replace("\\\n", " ").split(":", 1)[-1].split()
    return sorted({str((pathlib.Path(command["directory"]) / name).resolve()) for name in names})


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


def findings(build, source):
    """What the tool says of a source, or an empty text."""
    run = subprocess.run([TOOL, "-p", str(build / "tidy"), "--quiet", source], capture_output=True, text=True, cwd=tree.ROOT)
    lines = run.stdout.splitlines()
    if run.returncode == 0 and not any(FINDING.match(line) for line in lines):
        return ""
    return run.stdout.strip() or run.stderr.strip() or f"{TOOL} ended with {run.returncode}"


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
        commands = list(single(json.loads((build / "compile_commands.json").read_text())))
    except OSError as error:
        print(f"{build} is no configured build folder ({error.strerror}); make it: cmake --preset {build.name}")
        return 2
    memory = Memory(build / "tidy", digest(tree.ROOT / ".clang-tidy"))
    new = build / "tidy" / f"commands.{os.getpid()}"
    new.write_text(json.dumps(commands))
    new.rename(build / "tidy/compile_commands.json")
    chosen = sources(commands, args.paths)
    if not chosen:
        print("no compiled source is there")
        return 2
    todo = [source for source in chosen if not memory.knows(source)]
    print(f"{len(chosen)} sources, {len(chosen) - len(todo)} known to be clean", flush=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for source, text in zip(todo, pool.map(lambda s: findings(build, s), todo)):
            if text:
                bad += 1
                print(text, flush=True)
            else:
                memory.add(source, included(chosen[source]))
    print(f"{bad} of {len(chosen)} sources have findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
