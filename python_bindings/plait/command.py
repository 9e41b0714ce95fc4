"""The command `plait` that lies in the package."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from plait import _plait

_BINARY = pathlib.Path(_plait.__file__).parent / "bin" / "plait"


def doctor() -> str:
    """What this machine has: CPU, GPUs, libraries, and what is missing. The text of `plait doctor`."""
    return subprocess.run([_BINARY, "doctor"], capture_output=True, check=True, encoding="utf-8",
                          errors="backslashreplace").stdout


def main() -> None:
    """The command itself, for the entry point `plait`."""
    os.execv(_BINARY, [str(_BINARY), *sys.argv[1:]])
