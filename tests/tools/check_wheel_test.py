#!/usr/bin/env python3
"""tools/check_wheel.py, on wheels of small libraries: what may go to other machines and what may not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_wheel  # noqa: E402

NAME = f"plait-0.1.0-cp311-cp311-{check_wheel.MANYLINUX}.whl"


def library(file, exports, *options):
    """A shared object of these functions."""
    code = "int puts(const char*);\n" + "".join(f'int {name}(void) {{ return puts("{name}"); }}\n' for name in exports)
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", file, *options], input=code, text=True, check=True)


class CheckWheel(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "tree/plait/bin").mkdir(parents=True)
        (self.folder / "tree/plait/licenses").mkdir()
        (self.folder / "tree/plait/licenses/libllvm19.txt").write_text("words\n")
        for plugin in ("llvm", "onednn", "mpi"):
            self.plugin(plugin)
        library(self.folder / "tree/plait/bin/plait", ["main"])

    def plugin(self, name, extra=(), *options):
        library(self.folder / f"tree/plait/libplait_{name}.so", [f"plait_{name}_interface", *extra], *options)

    def other(self, name):
        """A library of no distribution, for others to need."""
        library(self.folder / name, ["other"], f"-Wl,-soname,{name}")
        return f"-L{self.folder}", "-Wl,--no-as-needed", f"-l:{name}"

    def problems(self, name=NAME, limit=check_wheel.LIMIT):
        wheel = self.folder / name
        with zipfile.ZipFile(wheel, "w") as archive:
            for file in sorted((self.folder / "tree").rglob("*")):
                archive.write(file, file.relative_to(self.folder / "tree"))
        return check_wheel.check(wheel, limit)

    def test_what_may_go(self):
        self.assertEqual(self.problems(), [])
        self.plugin("mpi", (), *self.other("libmpi.so.40"))  # of the machine
        self.plugin("onednn", (), *self.other("libheld.so.1"), "-Wl,-rpath,$ORIGIN/../plait.libs")
        library(self.folder / "tree/plait/libheld.so.1", ["other"])
        self.assertEqual(self.problems(), [])

    def test_libraries_that_others_lack(self):
        self.plugin("onednn", (), *self.other("libmpi.so.40"))
        self.assertEqual(self.problems(), ["plait/libplait_onednn.so needs libmpi.so.40, which other machines may lack"])

    def test_places_of_this_machine(self):
        self.plugin("llvm", (), "-Wl,-rpath,/usr/lib/llvm-19/lib")
        self.assertEqual(self.problems(), ["plait/libplait_llvm.so looks for libraries in /usr/lib/llvm-19/lib"])

    def test_names_that_meet_others(self):
        self.plugin("llvm", ["LLVMVerify"])
        self.assertEqual(self.problems(), ["plait/libplait_llvm.so exports LLVMVerify, plait_llvm_interface"])

    def test_versions_of_later_systems(self):
        before = check_wheel.NEWEST
        check_wheel.NEWEST = {**before, "GLIBC": (2, 2)}
        try:
            self.assertTrue(any("needs GLIBC_2.2.5, Debian 12 has 2.2" in each for each in self.problems()))
        finally:
            check_wheel.NEWEST = before

    def test_tag_parts_licences_and_weight(self):
        self.assertIn("its tag is not", self.problems("plait-0.1.0-cp311-cp311-linux_x86_64.whl")[0])
        self.assertRegex(self.problems(limit=0)[0], "weighs 0[.][01] MB, 0 are allowed")
        library(self.folder / "tree/plait/libdnnl-0123abcd.so.2.6", ["other"])
        self.assertEqual(self.problems(), [f"{NAME} holds libdnnl without its licence"])
        (self.folder / "tree/plait/libplait_llvm.so").unlink()
        self.assertIn(f"{NAME} lacks libplait_llvm.so", self.problems())


if __name__ == "__main__":
    unittest.main(verbosity=2)
