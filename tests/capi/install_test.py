#!/usr/bin/env python3
"""What cmake --install makes serves others: find_package, pkg-config, and libplait.so that exports the C ABI only. What
is built as part of another project (add_subdirectory) leaves that one alone.

usage: install_test.py BUILD SOURCE GENERATOR FLAGS; FLAGS go to the compilers of the consumer.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, GENERATOR, FLAGS = sys.argv[1:5]
SOURCE = pathlib.Path(SOURCE)
EMBED = SOURCE / "tests/capi/embed.c"
EXAMPLE = SOURCE / "docs/examples/c/embedding.c"


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

    def test_reference(self):
        made = pathlib.Path(BUILD) / "reference"
        shipped = self.prefix / "share/doc/plait/reference"
        self.assertEqual({path.relative_to(made) for path in made.rglob("*")},
                         {path.relative_to(shipped) for path in shipped.rglob("*")})

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

    def test_shells_find_what_they_complete(self):
        for name, begins in (("bash-completion/completions/plait", "# Completion of plait"), ("man/man1/plait.1", ".TH PLAIT 1 "),
                             ("zsh/site-functions/_plait", "#compdef plait"),
                             ("fish/vendor_completions.d/plait.fish", "# Written by")):
            self.assertTrue((self.prefix / "share" / name).read_text().startswith(begins), name)

    def test_headers(self):
        """The public ones are installed, and name each other by <plait/...>."""
        folder = self.prefix / "include/plait"
        headers = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        self.assertLessEqual({"plait.h", "base/error.h", "build/ops.h", "comm/mpi/mpi.h"}, headers)
        self.assertEqual({name for name in headers if name.split("/")[0] in ("lower", "codegen", "sim", "capi")}, set())
        included = set()
        for name in headers:
            text = (folder / name).read_text()
            self.assertNotRegex(text, r'#include "')
            included |= set(re.findall(r"#include <plait/(.*)>", text))
        self.assertEqual(included - headers, set())

    def test_another_project_has_plait_as_a_folder(self):
        folder = pathlib.Path(self.scratch.name) / "parent"
        run("cmake", "-S", SOURCE / "tests/capi/parent", "-B", folder, "-G", GENERATOR, f"-DPLAIT_SOURCE={SOURCE}",
            f"-DCONSUMER={SOURCE / 'tests/capi/consumer'}")
        run("cmake", "--build", folder, "--target", "uses_plait")
        self.assertFalse(list(folder.rglob("libplait_core.a")))  # compiling needs headers alone
        targets = run("cmake", "--build", folder, "--target", "help")
        self.assertIn("plait_core", targets)
        self.assertNotRegex(targets, r"plait_test_|plait_bench|example_|_plait\b")

    def test_a_command_without_plug_ins_takes_the_reference(self):
        alone = pathlib.Path(self.scratch.name) / "alone"
        alone.mkdir()
        shutil.copy2(self.prefix / "bin/plait", alone)
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        if "default device: cuda" in run(alone / "plait", "doctor", env=environment):
            self.skipTest("there is a GPU")
        out = run(alone / "plait", "run", SOURCE / "docs/examples/simple_add.plait", "--json", alone / "out.json",
                  env=environment)
        self.assertEqual(json.loads((alone / "out.json").read_text())["device"], "reference", out)

    def test_pkg_config(self):
        folder = next(self.prefix.rglob("pkgconfig"))
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        words = run("pkg-config", "--cflags", "--libs", "plait", env=environment).split()
        program = pathlib.Path(self.scratch.name) / "by_pkg_config"
        run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", *FLAGS.split(), EMBED, "-o", program, *words)
        library = next(word[2:] for word in words if word.startswith("-L"))
        self.assertEqual(run(program, env={**os.environ, "LD_LIBRARY_PATH": library}), "ok\n")
        if "-fsanitize" in FLAGS:
            return
        line = ("$CC program.c $(pkg-config --cflags --libs plait) -Wl,-rpath,$(pkg-config --variable=libdir plait) "
                "-o program")
        self.assertIn(line.replace("$CC", "cc"), (SOURCE / "docs/tutorials/embedding.md").read_text())
        shutil.copy2(EXAMPLE, program.parent / "program.c")
        run("sh", "-c", line, cwd=program.parent, env={"CC": "cc", **environment})
        bare = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        self.assertIn("and it goes on\n", run(program.parent / "program", env=bare))

    def test_the_c_library_alone_needs_no_package(self):
        folder = pathlib.Path(self.scratch.name) / "c_alone"
        folder.mkdir()
        for components, more in (("COMPONENTS capi", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"), ("", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=OFF")):
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES C)\n"
                f"find_package(plait 0.1 REQUIRED {components})\nadd_executable(alone {EXAMPLE})\n"
                "target_compile_features(alone PRIVATE c_std_11)\ntarget_link_libraries(alone PRIVATE plait::capi)\n")
            run("cmake", "-S", folder, "-B", folder / "build", "-G", GENERATOR, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                f"-DCMAKE_C_FLAGS={FLAGS}", more)
        run("cmake", "--build", folder / "build")
        self.assertIn("y[0] = 10.000", run(folder / "build/alone"))
        for components, more in (("COMPONENTS core", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"),
                                 ("COMPONENTS other", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=OFF")):
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES C)\n"
                f"find_package(plait 0.1 REQUIRED {components})\n")
            with self.assertRaises(AssertionError):
                run("cmake", "-S", folder, "-B", folder / "refused", "-G", GENERATOR,
                    f"-DCMAKE_PREFIX_PATH={self.prefix}", more)

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
