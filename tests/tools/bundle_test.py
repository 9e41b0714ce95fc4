#!/usr/bin/env python3
"""Shows that tools/check_bundle.py accepts a good bundle and refuses each kind of bad one."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import check_bundle  # noqa: E402

# Answers what the check asks of the command.
PROGRAM = """
#include <cstdio>
#include <string>
int main(int n, char** words) { std::string all; for (int i = 1; i < n; ++i) all += words[i]; return std::puts(all.c_str()) < 0; }
"""
STATIC = ["-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", "-s"]


class Bundle(unittest.TestCase):
    def setUp(self):
        if not shutil.which("g++"):
            self.skipTest("no g++")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        (self.folder / "docs").mkdir()
        for script in ("tools/gpu_check", "benchmarks/gpu/driver.py"):
            (self.folder / script).parent.mkdir(parents=True)
            (self.folder / script).write_text("#!/bin/sh\nexit 0\n")
            (self.folder / script).chmod(0o755)
        (self.folder / "main.cpp").write_text(PROGRAM)
        self.compile("plait", *STATIC)

    def compile(self, name, *flags):
        subprocess.run(["g++", str(self.folder / "main.cpp"), "-o", str(self.folder / "bin" / name), *flags], check=True,
                       capture_output=True)

    def refused(self, *words):
        found = check_bundle.check(self.folder, run=False)
        for word in words:
            self.assertTrue(any(word in problem for problem in found), found)

    def test_good(self):
        self.assertEqual(check_bundle.check(self.folder), [])
        self.assertGreater(check_bundle.number(check_bundle.glibc_of(self.folder)), (2, 0))

    def test_shared_libraries(self):
        self.compile("other", "-s")
        self.refused("other needs libstdc++.so.6")

    def test_beside_itself(self):
        library = self.folder / "bin/libmine.so"
        subprocess.run(["g++", "-shared", "-s", "-static-libgcc", "-x", "c++", "/dev/null", "-nodefaultlibs", "-o", str(library)],
                       check=True)
        self.compile("other", *STATIC, "-Wl,--no-as-needed", f"-L{library.parent}", "-lmine", "-Wl,-rpath,$ORIGIN")
        self.assertEqual(check_bundle.check(self.folder, run=False), [])
        self.compile("other", *STATIC, "-Wl,--no-as-needed", f"-L{library.parent}", "-lmine", f"-Wl,-rpath,{library.parent}")
        self.refused("other does not look for libmine.so beside itself", f"other looks for libraries in {library.parent}")

    def test_symbols(self):
        self.compile("other", *STATIC[:2])
        self.refused("other is not stripped")

    def test_places(self):
        (self.folder / "main.cpp").write_text(PROGRAM.replace("std::string all;", f'std::string all = "{ROOT}/csrc/a.cpp";'))
        self.compile("other", *STATIC)
        self.refused(f"other names {ROOT}")

    def test_size(self):
        with open(self.folder / "docs/large", "wb") as file:
            file.truncate(int((check_bundle.MAX_MEGABYTES + 1) * 1e6))
        self.refused(f"{check_bundle.MAX_MEGABYTES} allowed")

    def test_newer_glibc(self):
        limit, check_bundle.GLIBC = check_bundle.GLIBC, "2.2"
        self.addCleanup(setattr, check_bundle, "GLIBC", limit)
        self.refused("asks for glibc 2.")

    def test_command_that_does_not_run(self):
        (self.folder / "main.cpp").write_text("int main() { return 7; }\n")
        self.compile("plait", *STATIC)
        self.assertTrue(any("bin/plait --version: exit status 7" in p for p in check_bundle.check(self.folder)))

    def test_empty(self):
        (self.folder / "bin/plait").unlink()
        self.assertEqual(check_bundle.check(self.folder), [f"{self.folder}: no bin/plait"])


if __name__ == "__main__":
    unittest.main()
