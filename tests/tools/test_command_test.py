#!/usr/bin/env python3
"""Shows that tools/test ends with its line of counts, whatever goes wrong before it."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CTEST = """#!/bin/bash
for ((i = 1; i <= $#; i++)); do
  if [ "${!i}" = --output-junit ]; then
    next=$((i + 1))
    echo '<testsuite><testcase name="a" status="run"/></testsuite>' >"${!next}"
  fi
done
"""
FAILED = "0 passed, 1 failed, 0 skipped"


class Command(unittest.TestCase):
    """A tree with tools/test in which everything that it calls only pretends."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for name in ("tools/test", "tools/test_report.py"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        self.program("tools/setup", "#!/bin/sh\n")
        self.program("bin/cmake", "#!/bin/sh\n")
        self.program("bin/ctest", CTEST)

    def program(self, name, text):
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / name).write_text(text)
        (self.root / name).chmod(0o755)

    def ends(self, status, last, *words):
        environment = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}", JOBS="1")
        result = subprocess.run([self.root / "tools/test", *words], capture_output=True, text=True, env=environment)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (status, last), result.stderr)

    def test_all_well(self):
        self.ends(0, "2 passed, 0 failed, 0 skipped")
        self.ends(0, "1 passed, 0 failed, 0 skipped", "--quick", "-R", "x")

    def test_setup_fails(self):
        self.program("tools/setup", "#!/bin/sh\nexit 3\n")
        self.ends(3, FAILED)

    def test_no_build(self):
        self.program("bin/cmake", "#!/bin/sh\nexit 1\n")
        self.ends(1, "0 passed, 2 failed, 0 skipped")

    def test_no_results(self):
        self.program("bin/ctest", "#!/bin/sh\nkill -9 $$\n")
        self.ends(1, FAILED, "--quick")

    def test_results_that_are_cut_off(self):
        self.program("bin/ctest", CTEST.replace("</testsuite>", ""))
        self.ends(1, FAILED, "--quick")

    def test_long(self):
        script = self.root / "tools/long_run.py"
        script.write_text('import sys\nprint(sys.argv[1:])\nprint("3 passed, 1 failed, 0 skipped")\nsys.exit(1)\n')
        self.ends(1, "3 passed, 1 failed, 0 skipped", "--long")
        script.write_text('import sys\nprint("3 passed, 0 failed, 0 skipped" if sys.argv[1:] == ["tsan"] else "no")\n')
        self.ends(0, "3 passed, 0 failed, 0 skipped", "--long=tsan")
        self.ends(1, FAILED, "--long=other")
        script.write_text("raise SystemError\n")
        self.ends(1, FAILED, "--long")


if __name__ == "__main__":
    unittest.main()
