#!/usr/bin/env python3
"""What README.md and docs/ show is true: their commands run, and their generated parts are what the tools print.

  ```sh                   every command of the block runs (bash, stops at the first failure)
  ```sh no-run: reason    listed, not run
  ```output               after a `sh` block: what it prints; a line `...` stands for any lines
  <!-- checked: WORD; WORD -->  on the line above a `sh` block, where a user does not see it:
     exit N        commands may fail, and the exit status of the last is N
     stderr        what goes to standard error is printed too
     bug NAME      `plait` is plait_with_bugs with that bug (tests/support/planted_bugs.h)
     filter CMD    what is printed goes through CMD before it is compared; the last word, it may hold `;`
  <!-- generated: COMMAND -->  up to <!-- end -->: what COMMAND prints; --fix rewrites it

Commands run in a scratch folder that shows docs/, tools/, csrc/, tests/ of the tree, and the build folder as
build/release; that folder is on PATH too. Without --binary-dir it is build/release, or build/ci where that has no
command. usage: check_docs.py [--fix] [--binary-dir DIR] [FILE...]
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

FENCE = re.compile(r"(?:^<!-- checked: ([^\n]*?) -->\n)?^```(\w+)?[ ]*([^\n`]*)\n(.*?)^```[ ]*$", re.M | re.S)
HOW = re.compile(r"exit (\d+)|(stderr)|bug (\w+)|filter (.+)", re.S)
GENERATED = re.compile(r"(<!-- generated: (.*?) -->\n)(.*?)(<!-- end -->)", re.S)
BUILDS = [tree.ROOT / "build" / preset for preset in ("release", "ci")]  # the first that has all programs is taken
PROGRAMS = ["plait", "plait_op_schema", "plait_with_bugs"]  # that documents are checked with


def make_scratch(folder, root, binary_dir):
    for name in ("docs", "tools", "csrc", "tests", "README.md"):
        if (root / name).exists():
            (folder / name).symlink_to(root / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(binary_dir)


def read_how(mark):
    """What the mark above a block says: exit, stderr, bug, filter. ValueError: a word that it cannot say."""
    how = {"exit": None, "stderr": False, "bug": "", "filter": ""}
    while mark:
        word, _, rest = mark.partition("; ") if not mark.startswith("filter ") else (mark, "", "")
        match = HOW.fullmatch(word)
        if not match:
            raise ValueError(word)
        code, stderr, bug, command = match.groups()
        if code:
            how["exit"] = int(code)
        how["stderr"] |= bool(stderr)
        how["bug"], how["filter"] = bug or how["bug"], command or how["filter"]
        mark = rest
    return how


def run(script, folder, binary_dir, stderr=False, bug="", stops="-e"):
    path = [binary_dir, os.environ["PATH"]]
    environment = dict(os.environ)
    if bug:
        path.insert(0, folder / "with_bugs")
        path[0].mkdir(exist_ok=True)
        if not (path[0] / "plait").is_symlink():
            (path[0] / "plait").symlink_to(binary_dir / "plait_with_bugs")
        environment["PLAIT_TEST_BUG"] = bug
    environment["PATH"] = ":".join(map(str, path))
    environment["PLAIT_CACHE_DIR"] = str(folder / "kernels")
    return subprocess.run(["bash", *stops.split(), "-uo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT if stderr else subprocess.PIPE, timeout=240)


def filtered(printed, command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, text=True, input=printed, stdout=subprocess.PIPE,
                          check=True).stdout


def matches(expected, printed):
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line + "\n") for line in expected.splitlines())
    return re.fullmatch(pattern, printed) is not None


def diff(expected, printed):
    return "".join(difflib.unified_diff(expected.splitlines(True), printed.splitlines(True), "document", "printed"))


def check_file(path, folder, binary_dir, fix):
    """Problems of one document; with fix, its generated parts are rewritten."""
    text, problems, last = path.read_text(), [], None
    shutil.rmtree(folder / "kernels/schedules", ignore_errors=True)  # what one document tunes is not for the next one
    for match in FENCE.finditer(text):
        mark, language, note, body = match.groups()
        place = f"{path.name}:{text.count(chr(10), 0, match.start(3 if language is None else 2)) + 1}"
        if mark is not None and (language != "sh" or note):
            problems.append(f"{place}: `checked` stands above a block that is not run")
        if language == "sh" and note.startswith("no-run"):
            if not note.startswith("no-run: "):
                problems.append(f"{place}: no-run needs a reason")
            print(f"{place}: not run, {note[len('no-run: '):]}")
        elif language == "sh":
            try:
                how = read_how(mark or "")
            except ValueError as error:
                problems.append(f"{place}: `checked` knows no `{error}`")
                continue
            done = run(body, folder, binary_dir, how["stderr"], how["bug"], "-e" if how["exit"] is None else "")
            if done.returncode != (how["exit"] or 0):
                problems.append(f"{place}: exit status {done.returncode}\n"
                                f"{body}{done.stdout[-2000:]}{(done.stderr or '')[-2000:]}")
            last = filtered(done.stdout, how["filter"], folder) if how["filter"] else done.stdout
            continue
        elif language == "output" and last is not None and not matches(body, last):
            problems.append(f"{place}: printed something else\n{diff(body, last)}")
        last = None

    def generate(match):
        result = run(match.group(2), folder, binary_dir)
        if result.returncode:
            problems.append(f"{path.name}: {match.group(2)}: exit status {result.returncode}\n{result.stderr[-2000:]}")
        elif result.stdout != match.group(3) and not fix:
            problems.append(f"{path.name}: {match.group(2)} prints something else; run tools/check_docs.py --fix\n"
                            + diff(match.group(3), result.stdout))
        return match.group(1) + result.stdout + match.group(4)

    new = GENERATED.sub(generate, text)
    if fix and new != text:
        path.write_text(new)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--binary-dir", default=os.environ.get("PLAIT_BINARY_DIR"))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    built = next((folder for folder in BUILDS if all((folder / program).exists() for program in PROGRAMS)), None)
    if args.binary_dir is None and built is None:
        print(f"skipped: no folder with {', '.join(PROGRAMS)}, and no --binary-dir; make one: cmake --preset release && "
              "cmake --build --preset release")
        return 77
    binary_dir = pathlib.Path(args.binary_dir or built).resolve()
    documents = args.files or tree.files(tree.ROOT, ["docs"], {".md"})
    if not args.files and (tree.ROOT / "README.md").exists():
        documents.insert(0, tree.ROOT / "README.md")
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        make_scratch(pathlib.Path(scratch), tree.ROOT, binary_dir)
        for path in documents:
            problems += check_file(path, pathlib.Path(scratch), binary_dir, args.fix)
    return tree.report(problems)


if __name__ == "__main__":
    sys.exit(main())
