#!/usr/bin/env python3
"""Rules about the text of the tree: ASCII, no tabs, no trailing blanks, no notes of unfinished work; and in C++: the
environment is read in one file, no dynamic casts, no backend switches by the preprocessor. usage: check_text.py [ROOT]
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
SWITCH = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif).*(CUDA|NVRTC|LLVM|DNNL|ONEDNN|NCCL|MPI\b|PLAIT_(?!C_H|ASAN|TSAN|HAS_FEATURE))", re.M)
# Code that is only ever compiled for one backend may ask which version of it there is.
SWITCH_FOLDERS = ("csrc/backend/cuda/", "csrc/backend/cpu/llvm_plugin/", "csrc/backend/cpu/onednn_plugin/",
                  "csrc/codegen/device/", "csrc/comm/nccl/", "csrc/comm/mpi/", "csrc/sim/")


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
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
