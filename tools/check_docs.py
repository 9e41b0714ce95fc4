#!/usr/bin/env python3
"""What README.md and docs/ show is true: their commands run, and their generated parts are what the tools print.

  ```sh                   every command of the block runs (bash, stops at the first failure)
  ```sh no-run: reason    listed, not run
  ```output               after a `sh` block: what it prints; a line `...` stands for any lines
  <!-- generated: COMMAND -->  up to <!-- end -->: what COMMAND prints; --fix rewrites it

Commands run in a scratch folder that shows docs/, tools/, csrc/, tests/ of the tree, and the build folder as
build/release; that folder is on PATH too. usage: check_docs.py [--fix] [--binary-dir DIR] [FILE...]
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

FENCE = re.compile(r"^```(\w+)?[ ]*([^\n`]*)\n(.*?)^```[ ]*$", re.M | re.S)
GENERATED = re.compile(r"(<!-- generated: (.*?) -->\n)(.*?)(<!-- end -->)", re.S)
RELEASE = tree.ROOT / "build/release"


def make_scratch(folder, root, binary_dir):
    for name in ("docs", "tools", "csrc", "tests", "README.md"):
        if (root / name).exists():
            (folder / name).symlink_to(root / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(binary_dir)


def run(script, folder, binary_dir):
    environment = dict(os.environ, PATH=f"{binary_dir}:{os.environ['PATH']}")
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=240)


def matches(expected, printed):
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line + "\n") for line in expected.splitlines())
    return re.fullmatch(pattern, printed) is not None


def diff(expected, printed):
    return "".join(difflib.unified_diff(expected.splitlines(True), printed.splitlines(True), "document", "printed"))


def check_file(path, folder, binary_dir, fix):
    """Problems of one document; with fix, its generated parts are rewritten."""
    text, problems, last = path.read_text(), [], None
    for match in FENCE.finditer(text):
        language, note, body = match.groups()
        place = f"{path.name}:{text.count(chr(10), 0, match.start()) + 1}"
        if language == "sh" and note.startswith("no-run"):
            if not note.startswith("no-run: "):
                problems.append(f"{place}: no-run needs a reason")
            print(f"{place}: not run, {note[len('no-run: '):]}")
        elif language == "sh":
            last = run(body, folder, binary_dir)
            if last.returncode:
                problems.append(f"{place}: exit status {last.returncode}\n{body}{last.stdout[-2000:]}{last.stderr[-2000:]}")
            continue
        elif language == "output" and last is not None and not matches(body, last.stdout):
            problems.append(f"{place}: printed something else\n{diff(body, last.stdout)}")
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
    if args.binary_dir is None and not (RELEASE / "plait").exists():
        print(f"skipped: no command in {RELEASE}, and no --binary-dir; make it: cmake --preset release && "
              "cmake --build --preset release")
        return 77
    binary_dir = pathlib.Path(args.binary_dir or RELEASE).resolve()
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
