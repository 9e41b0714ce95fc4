#!/usr/bin/env python3
"""tools/check_cuda_abi.py, on a small interface of the test's own: what it takes and what it refuses."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = """#pragma once
// Words.
#include <cstddef>

#define NVRTC_LIMIT 7
#define cuOpen cuOpen_v2

using Handle = struct Handle_st*;

enum Result : int {
  GOOD = 0,
  BAD = 6
};

struct Inner {
  int a[2];
  const char* name;
};

union alignas(8) Value {
  char pad[16];
  struct {
    unsigned int x;
    unsigned int y;
  } at;
};

extern "C" {
Result cuOpen_v2(Handle*, size_t);
const char* cuName(Result);
}
"""
THEIRS = """/* The same, as C writes it. */
#include <stddef.h>
#define NVRTC_LIMIT (3 + 4)
#define cuOpen cuOpen_v2
typedef struct Handle_st *Handle;
typedef enum Result { GOOD, MORE = 3, BAD = 6 } Result;
typedef struct Inner { int a[2]; const char *name; } Inner;
typedef union Value { char pad[16]; struct { unsigned x, y; } at; void *other; } Value;
extern "C" Result cuOpen(Handle *handle, size_t size);
extern "C" const char *cuName(Result result);
"""


class CudaAbi(unittest.TestCase):
    def check(self, ours=OURS, theirs=THEIRS, name="nvrtc.h"):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "csrc/cuda_abi").mkdir(parents=True)
            (folder / "csrc/cuda_abi" / name).write_text(ours)
            if name == "driver.h":
                (folder / "csrc/cuda_abi/driver_types.h").write_text("#pragma once\n")
            (folder / "include").mkdir()
            if theirs:
                (folder / "include/nvrtc.h").write_text(theirs)
                (folder / "include/cuda.h").write_text(theirs)
            environment = {**os.environ, "PLAIT_CUDA_HOME": str(folder), "VIRTUAL_ENV": str(folder)}
            command = [sys.executable, ROOT / "tools/check_cuda_abi.py", folder]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            return done.returncode, done.stdout + done.stderr

    def test_the_same_interface_is_accepted(self):
        code, said = self.check()
        self.assertEqual(code, 0, said)
        self.assertIn("15 facts are those of nvrtc.h", said)

    def test_what_differs_is_named(self):
        for before, after, message in [
            ("BAD = 6", "BAD = 5", "BAD is Result 5, in nvrtc.h Result 6"),
            ("NVRTC_LIMIT 7", "NVRTC_LIMIT 8", "NVRTC_LIMIT is 8, in nvrtc.h 7"),
            ("cuOpen cuOpen_v2", "cuOpen cuName", "cuOpen is cuName, in nvrtc.h cuOpen_v2"),
            ("int a[2];\n  const char* name;", "const char* name;\n  int a[2];", "Inner.name is 0"),
            ("int a[2]", "unsigned int a[2]", "Inner.a is 0 unsigned int"),
            ("alignas(8) ", "", "Value is 16 aligned to 4, in nvrtc.h 16 aligned to 8"),
            ("int x;\n    unsigned int y;", "int y;\n    unsigned int x;", "Value.at.x is 4"),
            ("(Handle*, size_t)", "(Handle*, int)", "cuOpen_v2() is Result (*)(Handle_st**, int)"),
            ("struct Handle_st*", "struct Other_st*", "Handle is Other_st*"),
            ("GOOD = 0", "GOODNESS = 0", "GOODNESS"),
        ]:
            with self.subTest(after):
                code, said = self.check(OURS.replace(before, after))
                self.assertEqual(code, 1, said)
                self.assertIn(message, said)

    def test_a_file_that_nothing_is_compared_with_is_refused(self):
        code, said = self.check(name="other.h")
        self.assertEqual(code, 1, said)
        self.assertIn("does not compare it", said)

    def test_without_the_headers_nothing_is_said(self):
        if pathlib.Path("/usr/local/cuda/include/nvrtc.h").exists():
            self.skipTest("the machine has NVIDIA's headers")
        self.assertEqual(self.check(theirs=""), (77, "skipped: no nvrtc.h here\n"))

    def test_another_version_is_not_compared(self):
        version = "#define CUDA_VERSION 13000\n"
        code, said = self.check(version + OURS, version.replace("13000", "12040") + THEIRS, "driver.h")
        self.assertEqual(code, 77, said)
        self.assertIn("cuda.h is of version 12040, csrc/cuda_abi/driver.h of 13000", said)
        gone = THEIRS.replace("cuName", "cuOther")  # what is declared may not be there yet
        self.assertEqual(self.check(version + OURS, version.replace("13000", "12040") + gone, "driver.h")[0], 77)
        self.assertEqual(self.check(version + OURS, version + THEIRS, "driver.h")[0], 0)
        self.assertEqual(self.check(version + OURS, version + gone, "driver.h")[0], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
