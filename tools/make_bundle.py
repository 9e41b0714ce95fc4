#!/usr/bin/env python3
"""Makes a folder that a machine with a GPU can be given: programs and libraries, stripped, in bin/, beside the examples
and what tools/gpu_check needs. usage: make_bundle.py FOLDER FILE..."""
import datetime
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Copied as they are: files, and folders with all in them.
TREE = ["LICENSE", "docs/examples", "tests/fusions", "tools/gpu_check", "benchmarks/machine.py", "benchmarks/turns.py",
        "benchmarks/gpu", "benchmarks/fusions/kinds.py", "benchmarks/peers/gpu_torch.py", "tests/support/host_shim_prelude.h"]
README = """plait for machines with an NVIDIA GPU. Needs glibc {glibc} or later and, at run time, the CUDA driver; NVRTC,
cuBLASLt and NCCL are looked for in PLAIT_CUDA_HOME, CUDA_HOME, /usr/local/cuda and the Python environment in use.

  bin/plait doctor      what the machine has
  tools/gpu_check       all checks and benchmarks; writes results/DATE_gpu.json
"""


def commit():
    result = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def main():
    out, files = pathlib.Path(sys.argv[1]), [pathlib.Path(file) for file in sys.argv[2:]]
    sys.path.insert(0, str(ROOT / "tools"))
    import check_bundle
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    (new / "bin").mkdir(parents=True)
    for file in files:
        target = new / "bin" / (pathlib.Path("hardware") if file.parent.name == "hardware" else "") / file.name
        target.parent.mkdir(exist_ok=True)
        subprocess.run(["strip", "--strip-all", "-o", target, file], check=True)
    for name in TREE:
        source, target = ROOT / name, new / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.cpp", "*.h"))
        else:
            shutil.copy2(source, target)
    (new / "README.txt").write_text(README.format(glibc=check_bundle.GLIBC))
    about = {"commit": commit(), "date": datetime.date.today().isoformat(), "glibc": check_bundle.glibc_of(new)}
    (new / "bundle.json").write_text(json.dumps(about, indent=2) + "\n")
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


if __name__ == "__main__":
    main()
