#!/usr/bin/env python3
"""What a build of the wheel asks pip for: NVIDIA's header wheels where a header is not on the machine, and none else."""
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# scikit-build-core, of which the back end takes the hooks.
hooks = types.ModuleType("scikit_build_core.build")
hooks.__all__ = ["build_wheel"]
hooks.build_wheel = lambda *_: "built"
hooks.get_requires_for_build_wheel = hooks.get_requires_for_build_editable = lambda settings: ["ninja>=1.5"]
package = types.ModuleType("scikit_build_core")
package.build = hooks
sys.modules.update({"scikit_build_core": package, "scikit_build_core.build": hooks})
sys.path.insert(0, str(ROOT / "python_bindings/backend"))
import plait_build  # noqa: E402

HEADERS = list(plait_build.WHEELS)


class Requirements(unittest.TestCase):
    def asked(self, settings=None, missing=()):
        before, plait_build.missing_headers = plait_build.missing_headers, lambda: list(missing)
        try:
            return plait_build.get_requires_for_build_wheel(settings)
        finally:
            plait_build.missing_headers = before

    def test_only_what_is_missing_is_asked_for(self):
        self.assertEqual(self.asked(), ["ninja>=1.5"])
        nccl, = self.asked(missing=["nccl.h"])[1:]
        self.assertRegex(nccl, r"^nvidia-nccl-cu13==[\d.]+; sys_platform == 'linux'$")
        self.assertEqual(len(self.asked(missing=HEADERS)), 1 + len(HEADERS))

    def test_nothing_is_asked_for_without_cuda_or_for_a_build_that_is_there(self):
        for settings in ({"cmake.define.PLAIT_CUDA": "OFF"}, {"cmake.define.PLAIT_BUILT": "/build"}):
            self.assertEqual(self.asked(settings, HEADERS), ["ninja>=1.5"])
        self.assertEqual(len(self.asked({"cmake.define.PLAIT_CUDA": "ON"}, HEADERS)), 1 + len(HEADERS))

    def test_the_other_hooks_are_those_of_scikit_build_core(self):
        self.assertEqual(plait_build.build_wheel("folder"), "built")
        self.assertEqual(len(plait_build.get_requires_for_build_editable({"cmake.define.PLAIT_CUDA": "OFF"})), 1)

    def test_headers_are_found_where_the_build_finds_them(self):
        with tempfile.TemporaryDirectory() as kit:
            for header in HEADERS:
                path = pathlib.Path(kit) / "include" / header
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            before = dict(os.environ)
            os.environ["PLAIT_CUDA_HOME"] = kit
            try:
                self.assertEqual(plait_build.missing_headers(), [])
            finally:
                os.environ.clear()
                os.environ.update(before)
            # A copy of the script has no .venv beside it: what is not in the kit, nor elsewhere on the machine, is named.
            (pathlib.Path(kit) / "tools").mkdir()
            script = pathlib.Path(kit) / "tools/cuda_headers.cmake"
            script.write_text((ROOT / "tools/cuda_headers.cmake").read_text().replace("cuda.h ", "no_such_header.h cuda.h "))
            said = subprocess.run(["cmake", "-P", script], env={**os.environ, "PLAIT_CUDA_HOME": kit}, check=True,
                                  capture_output=True, text=True).stdout
            self.assertEqual(said.split(), ["no_such_header.h"])

    def test_a_machine_without_cmake_is_asked_for_all(self):
        path = os.environ["PATH"]
        os.environ["PATH"] = ""
        try:
            self.assertEqual(plait_build.missing_headers(), HEADERS)
        finally:
            os.environ["PATH"] = path


if __name__ == "__main__":
    unittest.main(verbosity=2)
