#!/usr/bin/env python3
"""A folder of csrc/ includes only what the layers allow (docs/architecture.md), closed transitively, and all that they
name for it.

Third-party headers have their places too: LLVM, oneDNN and MPI in their plug-ins, CUDA nowhere, nlohmann/json in .cpp
files. usage: check_layers.py [ROOT]
"""
import pathlib
import re
import sys

import tree

USES = {
    "base": [],
    "cuda_abi": [],
    "sym": ["base"],
    "scalar": ["base"],
    "mesh": ["base"],
    "device": ["scalar"],
    "ir": ["sym", "scalar", "mesh"],
    "kir": ["sym", "device"],
    "build": ["ir"],
    "reference": ["build", "device"],
    "axes": ["ir"],
    "codegen": ["kir"],
    "backend": ["device", "cuda_abi"],
    "comm": ["device", "mesh", "cuda_abi"],
    "program": ["sym", "comm"],
    "graph": ["build"],
    "shard": ["build"],
    "schedule": ["axes", "device"],
    "segment": ["schedule"],
    "lower": ["kir", "schedule"],
    "run": ["program"],
    "reduce": ["ir"],
    "import": ["reference"],
    "compile": ["graph", "shard", "segment", "lower", "codegen", "backend", "program", "reference"],
    "session": ["compile", "run"],
    "api": ["session"],
    "capi": ["api"],
    "sim": ["scalar", "cuda_abi"],
}
# plait.h, the one file directly in csrc/, belongs to api.
ROOT_FILE = "plait.h"

PLUGINS = ("backend/cpu/llvm_plugin", "backend/cpu/onednn_plugin", "comm/mpi/mpi_plugin")
# Headers of others -> the only folders (or suffix) where they may be included.
THIRD_PARTY = [
    (re.compile(r"(llvm|llvm-c)/"), lambda file: file.startswith(PLUGINS[0])),
    (re.compile(r"(oneapi/|dnnl)"), lambda file: file.startswith(PLUGINS[1])),
    (re.compile(r"(cuda\w*|nvrtc|nccl|cublas\w*|nvtx3/\w+)\.h"), lambda file: False),  # cuda_abi/ has what is used
    (re.compile(r"plait_dlpack/dlpack\.h|plait_c\.h"), lambda file: file.startswith("capi/plait_")),  # installed beside
    (re.compile(r"mpi\.h"), lambda file: file.startswith(PLUGINS[2])),
    (re.compile(r"nlohmann/json\.hpp"), lambda file: file.endswith(".cpp")),
    (re.compile(r"(gtest|gmock|benchmark)/"), lambda file: False),
]


def closure(folder):
    seen, todo = set(), [folder]
    while todo:
        for used in USES[todo.pop()]:
            if used not in seen:
                seen.add(used)
                todo.append(used)
    return seen | {folder, "base"}


def folder_of(file):
    return file.split("/")[0] if "/" in file else "api" if file == ROOT_FILE else file


def include_problem(file, target, angled):
    for pattern, allowed in THIRD_PARTY:
        if pattern.match(target):
            return None if allowed(file) else f"{target} may not be included here"
    if angled:
        return f"{target} is ours: include it with quotes" if folder_of(target) in USES and "/" in target else None
    if file.startswith(PLUGINS):
        own = file.rsplit("/", 1)[0]
        return None if target.startswith(own) else f"a plug-in includes its own headers only, not {target}"
    used = folder_of(target)
    if used not in USES:
        return f"{target}: include paths start at csrc/, and {used}/ is no folder of the layers"
    return None if used in closure(folder_of(file)) else f"{folder_of(file)} may not use {used}: {target}"


def check(root):
    problems, used = [], set()
    for path in tree.files(root, ["csrc"], tree.CXX):
        file = path.relative_to(root / "csrc").as_posix()
        if path.suffix == ".cuh":
            continue
        if folder_of(file) not in USES:
            problems.append(f"csrc/{file}: {folder_of(file)}/ is no folder of the layers")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            problem = match and include_problem(file, match.group(2), match.group(1) == "<")
            if problem:
                problems.append(f"csrc/{file}:{number}: {problem}")
            if match:
                used.add((folder_of(file), folder_of(match.group(2))))
    for folder, names in USES.items():
        problems += [f"tools/check_layers.py: no file of {folder} includes one of {name}, which stands in its line"
                     for name in names if (folder, name) not in used]
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
