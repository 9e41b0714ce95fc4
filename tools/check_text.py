#!/usr/bin/env python3
"""Rules about the text of the tree: ASCII, no tabs, no trailing blanks, no notes of unfinished work; and in C++: the
environment is read in one file, no dynamic casts, no backend switches by the preprocessor. A path of a source or a
document that a comment of C++ or a document names is there. usage: check_text.py [ROOT]
"""
import pathlib
import re
import sys

import tree

UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
GETENV = re.compile(r"\b(secure_)?get" + r"env\b|\bset" + r"env\b|\bput" + r"env\b")
ENVIRONMENT_FILE = "csrc/base/environment.cpp"
DYNAMIC = re.compile(r"\b(dynamic_cast|typeid|dynamic_pointer_cast)\b")
# What a sanitizer makes different (base/sanitizers.h) is no back end.
SWITCH = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif).*(CUDA|NVRTC|LLVM|DNNL|ONEDNN|NCCL|MPI\b|PLAIT_(?!C_H|OPS_H|ASAN|TSAN|HAS_FEATURE))", re.M)
# Code that is only ever compiled for one backend may ask which version of it there is.
SWITCH_FOLDERS = ("csrc/backend/cuda/", "csrc/backend/cpu/llvm_plugin/", "csrc/backend/cpu/onednn_plugin/",
                  "csrc/codegen/device/", "csrc/comm/nccl/", "csrc/comm/mpi/", "csrc/sim/")

# A path with a folder, as comments and documents name it: from the root, csrc/ or tests/; in a document from its folder
# too, and between backticks.
PATH = r"(?:[a-z0-9_]+/)+[a-z0-9_]+\.(?:h|cpp|cuh|def|md|py)"
COMMENT_PATH = re.compile(rf"(?<![\w./*-])({PATH})(?![\w/])")
DOCUMENT_PATH = re.compile(rf"`({PATH})`")
INSTALLED = {"include/plait_c.h", "include/plait_ops.h", "include/plait_dlpack/dlpack.h"}


def text_problems(file, text):
    for number, line in enumerate(text.split("\n"), 1):
        if not line.isascii():
            yield f"{file}:{number}: not ASCII"
        if "\t" in line:
            yield f"{file}:{number}: a tab"
        if line != line.rstrip():
            yield f"{file}:{number}: trailing blanks"
        if UNFINISHED.search(line):
            yield f"{file}:{number}: a note of unfinished work (file an issue, or a reason in docs/limits.md)"
    if text and not text.endswith("\n"):
        yield f"{file}: no newline at the end"


def code_problems(file, text):
    code = tree.strip_cxx(text)
    rules = []
    if file.startswith(("csrc/", "tools/")) and file != ENVIRONMENT_FILE:
        rules.append((GETENV, f"the environment is read in {ENVIRONMENT_FILE} only"))
    if file.startswith("csrc/"):
        rules.append((DYNAMIC, "no dynamic_cast or typeid: use kinds and visit"))
        if not file.startswith(SWITCH_FOLDERS):
            rules.append((SWITCH, "no #if by backend in shared code: write the same functions in a no_*.cpp"))
    for pattern, what in rules:
        for match in pattern.finditer(code):
            yield f"{file}:{code.count(chr(10), 0, match.start()) + 1}: {what}"


def path_problems(file, text, root):
    bases = [root, root / "csrc", root / "tests"]
    if file.endswith(".md"):
        pieces, pattern = [(0, text)], DOCUMENT_PATH
        bases.append((root / file).parent)
    else:
        found = ((match.start(), match.group(0)) for match in tree.TOKEN.finditer(text))
        pieces, pattern = [(at, token) for at, token in found if token[0] == "/"], COMMENT_PATH
    for at, piece in pieces:
        for match in pattern.finditer(piece):
            path = match.group(1)
            if path not in INSTALLED and not any((base / path).exists() for base in bases):
                line = text.count("\n", 0, at + match.start()) + 1
                yield f"{file}:{line}: {path} is not there (paths start at the root, csrc/ or tests/)"


def check(root):
    problems = []
    for path in tree.files(root):
        file = path.relative_to(root).as_posix()
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            problems.append(f"{file}: not text")
            continue
        problems += text_problems(file, text)
        if path.suffix in tree.CXX:
            problems += code_problems(file, text)
        if path.suffix in tree.CXX | {".md"}:
            problems += path_problems(file, text, root)
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
