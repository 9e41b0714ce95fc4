#!/usr/bin/env python3
"""csrc/sources.cmake and tests/sources.cmake list exactly the source files of the tree. --fix rewrites them."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "# Written by tools/check_file_lists.py --fix; a test compares it with the tree.\n"


def cmake_list(name, paths):
    return f"set({name}\n" + "".join(f"  {p}\n" for p in paths) + ")\n"


def core_lists():
    base = ROOT / "csrc"
    files = sorted(p.relative_to(base).as_posix() for p in base.rglob("*.cpp"))
    # Sources with a build rule of their own, by folder; of a folder with a twin, no_*.cpp is built where the rest is not.
    plugins = {
        "PLAIT_CAPI_SOURCES": ("capi/",),
        "PLAIT_LLVM_PLUGIN_SOURCES": ("backend/cpu/llvm_plugin/",),
        "PLAIT_ONEDNN_PLUGIN_SOURCES": ("backend/cpu/onednn_plugin/",),
        "PLAIT_MPI_PLUGIN_SOURCES": ("comm/mpi/mpi_plugin/",),
        "PLAIT_SIM_CUDA_SOURCES": ("sim/cuda/", "sim/memory/", "sim/ptx/"),
        "PLAIT_SIM_CUBLASLT_SOURCES": ("sim/cublaslt/",),
        "PLAIT_SIM_NCCL_SOURCES": ("sim/nccl/",),
    }
    twins = {  # the first that matches
        "CUBLASLT": ("backend/cuda/cublaslt/",),
        "CUDA": ("backend/cuda/",),
        "NCCL": ("comm/nccl/",),
    }
    lists = {"PLAIT_CORE_SOURCES": []}
    for twin in twins:
        lists[f"PLAIT_{twin}_SOURCES"], lists[f"PLAIT_NO_{twin}_SOURCES"] = [], []
    lists.update({name: [] for name in plugins})
    for f in files:
        plugin = next((name for name, folders in plugins.items() if f.startswith(folders)), None)
        twin = next((name for name, folders in twins.items() if f.startswith(folders)), None)
        no = "NO_" if f.split("/")[-1].startswith("no_") else ""
        lists[plugin or (f"PLAIT_{no}{twin}_SOURCES" if twin else "PLAIT_CORE_SOURCES")].append(f)
    return HEAD + "".join(cmake_list(n, v) for n, v in lists.items())


def test_lists():
    """One test binary per folder that holds *_test.cpp; other .cpp files are helpers: of all in tests/support, of the
    folder itself in tests/conformance."""
    base = ROOT / "tests"
    groups = {}
    for p in sorted({*base.rglob("*_test.cpp"), *base.glob("conformance/*.cpp")}):
        groups.setdefault(p.parent.relative_to(base).as_posix(), []).append(p.relative_to(base).as_posix())
    support = sorted(p.relative_to(base).as_posix() for p in (base / "support").rglob("*.cpp"))
    text = HEAD + cmake_list("PLAIT_TEST_SUPPORT_SOURCES", support)
    text += cmake_list("PLAIT_TEST_FOLDERS", groups)
    for folder, files in groups.items():
        text += cmake_list("PLAIT_TEST_" + folder.replace("/", "_"), files)
    return text


def main():
    bad = 0
    for path, text in [(ROOT / "csrc/sources.cmake", core_lists()), (ROOT / "tests/sources.cmake", test_lists())]:
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        if "--fix" in sys.argv:
            path.write_text(text)
            print(f"rewrote {path.relative_to(ROOT)}")
        else:
            print(f"{path.relative_to(ROOT)} does not match the tree; run tools/check_file_lists.py --fix")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
