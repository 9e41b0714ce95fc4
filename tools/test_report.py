#!/usr/bin/env python3
"""Adds up JUnit files of ctest: prints what was skipped and what failed, and ends with `N passed, M failed, K skipped`.

A preset that could not be built counts as one failure. Exit status 0 only if nothing failed and something passed.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree

# ctest reports a test that could not start as "notrun" too: only these reasons are a skip.
SKIP_REASONS = {"SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE=77", "Disabled"}
SHOWN_FAILURES, SHOWN_LINES = 10, 40


def outcome(case):
    status = case.get("status")
    if status == "run":
        return "passed"
    skipped = case.find("skipped")
    if status == "disabled" or (skipped is not None and skipped.get("message") in SKIP_REASONS):
        return "skipped"
    return "failed"


def read_timed(path):
    """All (outcome, name, seconds, what it printed) of a JUnit file."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return [(outcome(case), case.get("name"), float(case.get("time") or 0), case.findtext("system-out") or "")
            for case in cases]


def read(path):
    """All (outcome, name, what it printed) of a JUnit file; one that was cut off is one failure."""
    preset = pathlib.Path(path).parent.name
    try:
        return [(kind, f"{preset}: {name}", printed) for kind, name, _, printed in read_timed(path)]
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return [("failed", f"{preset}: {path} cannot be read: {error}", "")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skipped", help="file of tools/setup: one line for each part it could not install")
    parser.add_argument("--broken", nargs="*", default=[], help="presets that gave no results")
    parser.add_argument("results", nargs="*")
    args = parser.parse_args()
    cases = [("failed", f"{preset}: no results", "") for preset in args.broken]
    for path in args.results:
        cases += read(path)
    skipped, failed = ([case for case in cases if case[0] == kind] for kind in ("skipped", "failed"))
    for _, name, printed in failed[:SHOWN_FAILURES]:
        print("\n".join([f"---- {name}", *printed.rstrip().splitlines()[-SHOWN_LINES:], ""]))
    if args.skipped and pathlib.Path(args.skipped).exists():
        for line in pathlib.Path(args.skipped).read_text().splitlines():
            print(f"not installed: {line}")
    for kind, name, _ in skipped + failed:
        print(f"{kind}: {name}")
    passed = sum(kind == "passed" for kind, _, _ in cases)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if not failed and passed else 1


if __name__ == "__main__":
    sys.exit(main())
