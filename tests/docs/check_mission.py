#!/usr/bin/env python3
"""Every row of docs/mission.md says its status, and every test that it names is in the tree."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEST = re.compile(r"`((?!csrc/)(?:[a-z_]+/)+)(?:\w+/)?(\w+)\.(\w+)(?:/\w+)?`")
PYTHON_TEST = re.compile(r"`python/(\w+\.py)::(\w+)`")


def has_test(folder, suite, name):
    definition = re.compile(rf"\bTEST\w*\({suite}, {name}\)")
    return any(definition.search(path.read_text()) for path in (ROOT / "tests" / folder).glob("*_test.cpp"))


def has_python_test(file, name):
    path = ROOT / "tests/python" / file
    return path.exists() and re.search(rf"^def {name}\(", path.read_text(), re.M) is not None


def main():
    problems = []
    for number, line in enumerate((ROOT / "docs/mission.md").read_text().splitlines(), 1):
        if not re.match(r"\| [A-E]\d", line):
            continue
        place = f"docs/mission.md:{number}"
        status = line.rstrip().removesuffix("|").split("|")[-1].strip()
        tests = [each for each in TEST.findall(line) if not each[0].startswith("python/")]
        problems += [f"{place}: no test {folder}{suite}.{name}" for folder, suite, name in tests
                     if not has_test(folder, suite, name)]
        in_python = PYTHON_TEST.findall(line)
        problems += [f"{place}: no test tests/python/{file}::{name}" for file, name in in_python
                     if not has_python_test(file, name)]
        problems += [f"{place}: `{named}` is no name of a test" for named in re.findall(r"`(python/[^`]*)`", line)
                     if not PYTHON_TEST.fullmatch(f"`{named}`")]
        if "shown" in status and not tests and not in_python:
            problems.append(f"{place}: shown by no test")
        if "shown" not in status and not status.startswith(("open", "partly")):
            problems.append(f"{place}: the status is open, partly, or says what is shown")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
