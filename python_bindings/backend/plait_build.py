"""The build back end of the wheel: scikit-build-core's, which asks pip for NVIDIA's header wheels only where the headers
are not on the machine (tools/cuda_headers.cmake), as some of these wheels are hundreds of MB. With the definition
PLAIT_CUDA=OFF, or PLAIT_BUILT, whose build has settled it, for none."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403: the other hooks

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The wheel of a header.
WHEELS = {
    "cuda.h": "nvidia-cuda-runtime", "nvrtc.h": "nvidia-cuda-nvrtc", "cublasLt.h": "nvidia-cublas",
    "nccl.h": "nvidia-nccl-cu13", "crt/host_defines.h": "nvidia-cuda-crt", "nv/target": "nvidia-cuda-cccl",
    "nvtx3/nvToolsExt.h": "nvidia-nvtx",
}


def missing_headers() -> list[str]:
    """Those of CUDA that are not found here; all, where there is no CMake yet to look for them."""
    cmake = shutil.which("cmake")
    if cmake is None:
        return list(WHEELS)
    command = [cmake, f"-DPython_EXECUTABLE={sys.executable}", "-P", ROOT / "tools/cuda_headers.cmake"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def header_wheels(settings: dict[str, str] | None) -> list[str]:
    """Requirements of a build for the headers that are missing, in the versions of tools/python-packages.txt."""
    defined = {name.removeprefix("cmake.define."): value for name, value in (settings or {}).items()}
    if defined.get("PLAIT_BUILT") or str(defined.get("PLAIT_CUDA", "ON")).upper() in ("OFF", "0", "FALSE", "NO"):
        return []
    lines = (ROOT / "tools/python-packages.txt").read_text().split("\n")
    versions = {line.partition("==")[0]: line for line in lines}
    return [f"{versions[WHEELS[header]]}; sys_platform == 'linux'" for header in missing_headers()]


def get_requires_for_build_wheel(config_settings=None):
    return [*_build.get_requires_for_build_wheel(config_settings), *header_wheels(config_settings)]


def get_requires_for_build_editable(config_settings=None):
    return [*_build.get_requires_for_build_editable(config_settings), *header_wheels(config_settings)]
