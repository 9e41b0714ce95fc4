#!/usr/bin/env python3
"""All C++ is formatted as .clang-format says. usage: check_format.py [--fix] [ROOT]

Exit status 77 (skipped) where clang-format-19 is absent: other versions format differently.
"""
import pathlib
import shutil
import subprocess
import sys

import tree

TOOL = "clang-format-19"


def main(args):
    if shutil.which(TOOL) is None:
        print(f"skipped: {TOOL} is not installed")
        return 77
    fix = "--fix" in args
    root = pathlib.Path(([a for a in args if a != "--fix"] or [tree.ROOT])[0]).resolve()
    paths = tree.files(root, ["csrc", "tests", "tools", "benchmarks"], {".h", ".cpp", ".cuh"})
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    status = 0
    for begin in range(0, len(paths), 50):
        command = [TOOL, f"--style=file:{tree.ROOT / '.clang-format'}", *mode, *map(str, paths[begin : begin + 50])]
        status |= subprocess.run(command, cwd=root).returncode
    if status:
        print("not formatted; run tools/check_format.py --fix")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
