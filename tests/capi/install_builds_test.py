#!/usr/bin/env python3
"""cmake --install builds what a build of the command alone has not: the C library and the public headers.

usage: install_builds_test.py BUILD. Takes both away from the build folder; no other test may run meanwhile.
"""
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1])

missing = [*BUILD.glob("libplait.so*"), BUILD / "include/plait/plait.h", BUILD / "public_headers.stamp"]
for path in missing:
    path.unlink()
with tempfile.TemporaryDirectory() as prefix:
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    installed = {path.name for path in pathlib.Path(prefix).rglob("*")}
lacking = {path.name for path in missing if path.suffix != ".stamp"} - installed
if lacking or not all(path.exists() for path in missing):
    sys.exit(f"not installed: {lacking}; not built: {[str(path) for path in missing if not path.exists()]}")
