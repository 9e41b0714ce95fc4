#!/usr/bin/env python3
"""What cmake --install makes serves others: find_package, pkg-config, and libplait.so that exports the C ABI only.

usage: install_test.py BUILD SOURCE GENERATOR FLAGS; FLAGS go to the compilers of the consumer.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, GENERATOR, FLAGS = sys.argv[1:5]
SOURCE = pathlib.Path(SOURCE)
EMBED = SOURCE / "tests/capi/embed.c"


def run(*command, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if result.returncode:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
    return result.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.scratch.name) / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_find_package(self):
        folder = pathlib.Path(self.scratch.name) / "consumer"
        run("cmake", "-S", SOURCE / "tests/capi/consumer", "-B", folder, "-G", GENERATOR, f"-DEMBED_SOURCE={EMBED}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_FLAGS={FLAGS}", f"-DCMAKE_CXX_FLAGS={FLAGS}")
        run("cmake", "--build", folder)
        self.assertEqual(run(folder / "embed", "reference"), "ok\n")
        self.assertEqual(run(folder / "embed"), "ok\n")
        plug_ins = next(self.prefix.rglob("libplait_llvm.so")).parent
        # A sanitizer's dlopen does not look at the executable's run path.
        more = {"LD_LIBRARY_PATH": str(plug_ins)} if "-fsanitize" in FLAGS else {}
        self.assertEqual(run(folder / "compile_and_run", env={**os.environ, **more}), "ok\n")

    def test_pkg_config(self):
        folder = next(self.prefix.rglob("pkgconfig"))
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        words = run("pkg-config", "--cflags", "--libs", "plait", env=environment).split()
        program = pathlib.Path(self.scratch.name) / "by_pkg_config"
        run("cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", *FLAGS.split(), EMBED, "-o", program, *words)
        library = next(word[2:] for word in words if word.startswith("-L"))
        self.assertEqual(run(program, env={**os.environ, "LD_LIBRARY_PATH": library}), "ok\n")

    def test_only_the_c_abi_is_exported(self):
        library = next(self.prefix.rglob("libplait.so"))
        names = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}
        header = (SOURCE / "csrc/capi/plait_c.h").read_text()
        declared = set(re.findall(r"PLAIT_API [\w ]+[\w*]+\s*\*?\s*\b(plait_\w+)\(", header))
        self.assertGreater(len(declared), 30)
        self.assertEqual(declared - names, set(), "declared and not exported")
        foreign = {name for name in names - declared if not name.startswith(("__asan", "__odr_asan", "_ZGV", "__ubsan"))}
        self.assertEqual(foreign, set(), "exported and not declared")

    def test_the_command_and_the_plug_ins(self):
        out = run(self.prefix / "bin/plait", "run", SOURCE / "docs/examples/simple_add.plait", "--device", "cpu",
                  "--input", "a=[1,2,3,4]", "--input", "b=[5,6,7,8]")
        self.assertIn("[6, 8, 10, 12]", out)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main(verbosity=2)
