#!/usr/bin/env python3
"""The long run: areas of tests, each at most 45 minutes, resumable. Called by `tools/test --long[=AREA]`.

What ran is kept in build/long/AREA.json and not run again while the tree is the same; an area whose time is over says
what is left, and goes on when called again. build/long/result.json sums up, for docs/results/. The last line is
`N passed, M failed, K skipped`; an area with tests left counts as one failure.
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import test_report

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 45 * 60  # seconds of tests an area and call
STATE = ROOT / "build/long"
NO_RESULTS = "ctest gave no results"  # of tests that did not come to their end: they run again


@dataclasses.dataclass
class Area:
    """Tests of one preset. `tests`: a pattern of their names; `long`: those labelled so, the others, or both (None);
    `folders`: a pattern of the folders of tests/ that are built, all where empty; `target`: what is built instead of
    tests, by itself the only case; `needs`: a program without which the area is skipped by name."""
    preset: str
    tests: str = "."
    long: bool = True
    folders: str = ""
    target: str = ""
    checks: bool = False
    needs: str = ""


# For tsan: folders whose tests run threads, ranks or streams side by side, and those of numerics that do. Compiled kernels
# are not instrumented, so that the others of numerics would show it nothing new.
THREADED = r"unit/(program|comm|device|run|session|backend/(cpu|cuda)|sim/(cuda|nccl))(/.*)?|multidevice"
SIDE_BY_SIDE = r"(.*(Thread|Rank|SharedRows)|Forked|CppApi|(All/)?(Programs|Alias|Allocations|GivenOutputs|CudaValues|SplitNorms))"
# A long test belongs to the first area that takes it.
AREAS = {
    "tests": Area("ci", long=False, checks=True),
    "cpu": Area("ci", r"^unit/backend/cpu/"),
    "graphs": Area("ci", r"^(unit/(ir|build|graph|shard|segment|axes)|ir)/"),
    "kernels": Area("ci", r"^unit/(kir|lower|schedule|codegen|reference|scalar|sym)/"),
    "programs": Area("ci", r"^(unit/(program|comm|device)|multidevice)/"),
    "gpu": Area("ci", r"^(unit/(sim|backend/cuda)|numerics|golden)/"),
    "fuzz": Area("ci", r"^fuzz/"),
    "tidy": Area("ci", r"^tidy/"),
    "rest": Area("ci"),
    "libfuzzer": Area("fuzz", long=False, needs="clang++-19"),
    "sanitize": Area("sanitize-all", long=False),
    "tsan": Area("tsan", f"^(({THREADED})/|capi/CApi|numerics/{SIDE_BY_SIDE})", long=False,
                 folders=f"{THREADED}|capi|numerics"),
    "bundle": Area("gpu", target="gpu_bundle"),
}


@dataclasses.dataclass
class Test:
    number: int
    name: str
    labels: list


def takes(area, test):
    if "check" in test.labels and not area.checks:
        return False
    return re.search(area.tests, test.name) is not None and ("long" in test.labels) == area.long


def tests_of(name, tests):
    """The tests of an area, in order."""
    area, earlier = AREAS[name], []
    for other, taken in AREAS.items():
        if other == name:
            break
        if area.long and taken.long and not taken.target:
            earlier.append(taken)
    return [test for test in tests if takes(area, test) and not any(takes(other, test) for other in earlier)]


def tree():
    """What the state belongs to: the commit and what differs from it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True).stdout

    digest = hashlib.sha1(git("diff", "HEAD"))
    for path in git("ls-files", "--others", "--exclude-standard", "-z").decode().split("\0"):
        file = ROOT / path
        if path and file.is_file():
            digest.update(path.encode() + file.read_bytes())
    return git("rev-parse", "HEAD").decode().strip() + "+" + digest.hexdigest()[:12]


class State:
    """What of an area ran on this tree: {test: [outcome, seconds, the end of what it printed]}."""

    def __init__(self, file, tree_id):
        self.file, self.tree, self.cases, self.seconds, self.left = file, tree_id, {}, 0.0, 0
        try:
            old = json.loads(file.read_text())
            if old["tree"] == tree_id:
                self.cases = {test: case for test, case in old["cases"].items() if case[2] != NO_RESULTS}
                self.seconds, self.left = old["seconds"], old["left"]
        except (OSError, ValueError, KeyError):
            pass

    def save(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(vars(self) | {"file": self.file.name}, indent=1))
        new.rename(self.file)

    def count(self, outcome):
        return sum(case[0] == outcome for case in self.cases.values())


class Builder:
    """Configures and builds presets, lists and runs their tests."""

    def __init__(self, jobs):
        self.jobs = jobs

    def prefix(self, preset):
        """tsan's shadow needs addresses where older kernels put them."""
        if preset == "tsan" and subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0:
            return ["setarch", "-R"]
        return []

    def step(self, preset, name, command, environment=None):
        """Runs a step into its log. Whether it went well."""
        log, begin = ROOT / f"build/{preset}/{name}.log", time.monotonic()
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w") as out:
            status = subprocess.run(self.prefix(preset) + command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=out, env={**os.environ, **(environment or {})}).returncode
        if name != "test":
            print(f"{preset}: {name} {'ok' if status == 0 else 'FAILED'}, {time.monotonic() - begin:.0f} s ({log})", flush=True)
            if status:
                print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), flush=True)
        return status == 0

    def build(self, area):
        command = ["cmake", "--build", "--preset", area.preset, "--parallel", str(self.jobs)]
        if area.target:
            command += ["--target", area.target]
        elif area.folders:
            command += ["--target", "plait", *targets(area.folders)]
        return self.step(area.preset, "configure", ["cmake", "--preset", area.preset]) and self.step(
            area.preset, "build", command)

    def list(self, preset):
        shown = subprocess.run(["ctest", "--preset", preset, "--show-only=json-v1"], cwd=ROOT, capture_output=True, text=True)
        out = []
        for number, test in enumerate(json.loads(shown.stdout)["tests"], 1):
            labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
            out.append(Test(number, test["name"], labels[0] if labels else []))
        return out

    def run(self, preset, tests):
        """Runs tests; [(outcome, name, seconds, printed)]."""
        junit = ROOT / f"build/{preset}/long_junit.xml"
        junit.unlink(missing_ok=True)
        numbers = [test.number for test in tests]
        # Start and end are the first test; the others follow by number.
        select = ",".join(map(str, [numbers[0], numbers[0], "", *numbers[1:]]))
        self.step(preset, "test", ["ctest", "--preset", preset, "--parallel", str(self.jobs), "--output-junit", str(junit),
                                   "-I", select], {"PLAIT_TEST_LONG": "1"})
        if not junit.exists():
            return [("failed", test.name, 0.0, NO_RESULTS) for test in tests]
        return test_report.read_timed(junit)


def targets(folders):
    """Test programs of the folders of tests/ that match."""
    text = (ROOT / "tests/sources.cmake").read_text()
    listed = re.search(r"set\(PLAIT_TEST_FOLDERS\n(.*?)\)", text, re.S).group(1).split()
    return ["plait_test_" + folder.replace("/", "_") for folder in listed if re.fullmatch(folders, folder)]


def run_area(name, state, builder, limit=LIMIT):
    """Runs what of the area has not run. The state is saved after every batch."""
    area = AREAS[name]
    if area.needs and shutil.which(area.needs) is None:
        state.cases[name] = ["skipped", 0.0, f"{area.needs} is not here"]
        state.save()
        return
    if not builder.build(area):
        state.cases["build"] = ["failed", 0.0, f"build/{area.preset}/build.log"]
        state.save()
        return
    state.cases.pop("build", None)
    if area.target:
        state.cases[area.target] = ["passed", 0.0, ""]
        state.save()
        return
    left = [test for test in tests_of(name, builder.list(area.preset)) if test.name not in state.cases]
    batch, begin = (builder.jobs if area.long else 100), time.monotonic()
    state.left = len(left)
    while left and time.monotonic() - begin < limit:
        started = time.monotonic()
        for outcome, test, seconds, printed in builder.run(area.preset, left[:batch]):
            state.cases[test] = [outcome, seconds, "\n".join(printed.rstrip().splitlines()[-40:]) if outcome != "passed" else ""]
        left = left[batch:]
        state.left = len(left)
        state.seconds += time.monotonic() - started
        state.save()
    state.save()


def report(states):
    """Prints what failed and was skipped, and the line of counts. Exit status."""
    counts = {outcome: sum(state.count(outcome) for state in states.values()) for outcome in ("passed", "failed", "skipped")}
    for name, state in states.items():
        for outcome in ("skipped", "failed"):
            for test, case in state.cases.items():
                if case[0] == outcome:
                    if outcome == "failed":
                        print("\n".join(f"    {line}" for line in case[2].splitlines()))
                    print(f"{outcome}: {name}: {test}")
        if state.left:
            print(f"left: {name}: {state.left} tests, its time is over; tools/test --long={name} goes on")
            counts["failed"] += 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 0 if counts["failed"] == 0 and counts["passed"] else 1


def summary(states):
    """The JSON of build/long/result.json."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import machine
    areas = {name: {"passed": s.count("passed"), "failed": s.count("failed"), "skipped": s.count("skipped"), "left": s.left,
                    "seconds": round(s.seconds), "tree": s.tree,
                    "failures": [test for test, case in s.cases.items() if case[0] == "failed"]}
             for name, s in states.items()}
    machine.write_json(STATE / "result.json", {"kind": "long_run", "date": machine.date(), "machine": machine.describe(),
                                               "load_average": machine.load_average(), "areas": areas})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", nargs="?", default="", help=f"one of {', '.join(AREAS)}; default: all, one after another")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS") or os.cpu_count()))
    parser.add_argument("--list", action="store_true", help="print the areas")
    args = parser.parse_args()
    if args.list:
        print("\n".join(AREAS))
        return 0
    if args.area and args.area not in AREAS:
        print(f"there is no area {args.area}; take one of {', '.join(AREAS)}", file=sys.stderr)
        return 2
    builder, tree_id, states = Builder(args.jobs), tree(), {}
    for name in [args.area] if args.area else AREAS:
        state = State(STATE / f"{name}.json", tree_id)
        if state.cases:
            print(f"{name}: {len(state.cases)} tests have run on this tree", flush=True)
        run_area(name, state, builder)
        states[name] = state
        print(f"{name}: {state.count('passed')} passed, {state.count('failed')} failed, {state.count('skipped')} skipped, "
              f"{state.left} left, {state.seconds:.0f} s of tests in all", flush=True)
    summary({**{n: State(STATE / f"{n}.json", tree_id) for n in AREAS if (STATE / f"{n}.json").exists()}, **states})
    return report(states)


if __name__ == "__main__":
    sys.exit(main())
