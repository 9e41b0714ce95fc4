#!/usr/bin/env python3
"""The wheel for other machines, of this build's parts: made and checked by tools/make_wheel.py, and tried by
tools/wheel_trial.py where the machine's own LLVM, oneDNN and what they need cannot be read, beside nothing but Python:
portable_wheel.py SOURCE FOLDER BUILT [cmake definitions]. Exit code 77 where what makes it is not here."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE, FOLDER, BUILT = (pathlib.Path(each) for each in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tools"))
import make_wheel  # noqa: E402

HIDDEN = [f"lib{name}*.so*" for name in ("LLVM", "dnnl", "OpenCL", "fmt", "gomp", "zstd", "mpi", "cuda")]
# $1: an empty file, which takes the places of those after $2, the trial's folder, and $3, $4, a program and a script.
TRIAL = '''empty=$1 folder=$2 python=$3 script=$4; shift 4
for file in "$@"; do mount --bind "$empty" "$file" || exit 1; done
cd "$folder" && exec env -i PATH=/usr/bin:/bin HOME="$folder" "$python" "$script"'''


def hidden_files():
    places = [pathlib.Path(each) for each in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/llvm-19/lib", "/usr/local/lib")]
    return sorted({file.resolve() for place in places for name in HIDDEN for file in place.glob(name) if file.is_file()})


def main():
    environment, out = FOLDER / "venv_portable", FOLDER / "portable"
    tools = FOLDER / "venv_build"
    if not (FOLDER / "ready").exists() or not tools.exists():
        print("skipped: there is no wheel, nor what makes it")
        return 77
    shutil.rmtree(out, ignore_errors=True)
    try:
        wheel, = make_wheel.make(["/usr/bin/python3"], out, BUILT, BUILT / "wheel_portable", tools, sys.argv[4:])
    except make_wheel.Failed as failure:
        print(failure)
        return 1
    shutil.rmtree(environment, ignore_errors=True)
    make_wheel.run("/usr/bin/python3", "-m", "venv", environment)
    make_wheel.run(environment / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-index", wheel)
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"]).returncode:
        print("the machine's libraries are not hidden: this user makes no namespaces of mounts")
        files = []
    else:
        files = hidden_files()
        print("hidden:", *(file.name for file in files))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "empty").touch()
        (folder / "trial").mkdir()
        words = ["sh", "-c", TRIAL, "sh", folder / "empty", folder / "trial", environment / "bin/python",
                 SOURCE / "tools/wheel_trial.py", *files]
        done = subprocess.run([*(["unshare", "-rm"] if files else []), *words], capture_output=True, text=True,
                              env={**os.environ, "VIRTUAL_ENV": ""})
    print(done.stdout, done.stderr)
    return 0 if done.returncode == 0 and done.stdout.endswith("the wheel works\n") else 1


sys.exit(main())
