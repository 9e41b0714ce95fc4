#!/usr/bin/env python3
"""How long a build took, from its .ninja_log: the sum and the slowest steps. usage: build_times.py [BUILD_FOLDER] [COUNT]

A step that came from ccache shows the time of the copy; for true figures build with CCACHE_DISABLE=1.
"""
import pathlib
import sys

import tree


def steps(log):
    """(seconds, target) of each target's last run, slowest first."""
    last = {}
    for line in log.read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, target, _ = line.split("\t")
            last[target] = (int(end) - int(begin)) / 1000
    return sorted(((seconds, target) for target, seconds in last.items()), reverse=True)


def main(args):
    folder = pathlib.Path(args[0]) if args else tree.ROOT / "build/ci"
    found = steps(folder / ".ninja_log")
    print(f"{sum(seconds for seconds, _ in found):8.1f} s in {len(found)} steps")
    for seconds, target in found[: int(args[1]) if len(args) > 1 else 15]:
        print(f"{seconds:8.1f} s {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
