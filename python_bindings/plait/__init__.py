"""plait: fusion graphs compiled for CPUs and GPUs, on one rank or many.

    f = plait.Fusion("softmax")
    x = f.input("x", ["rows", 1000], plait.f32)
    f.output("y", plait.ops.softmax(x, dim=-1))
    y = plait.compile(f).run({"x": array})["y"]      # any array with DLPack in, plait.Array out
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plait import _plait, ops
from plait._plait import Array, Device, DType, Fusion, Kernel, Program, Step, Tensor, TunedSchedule, array, compile, devices, dtype, format, load
from plait import _log, _signatures
from plait._jit import jit
from plait._names import guess as _guess
from plait._profile import Profile, profile
from plait.command import doctor
from plait.errors import BoundsError, CommError, Error, InternalError, MissingError, OutOfMemoryError, UserError
from plait.importers import Imported, import_onnx, import_stablehlo
from plait.mesh import Mesh
from plait.size import Size

__version__ = _plait.version()

bool_ = DType.bool_
i8, i16, i32, i64 = DType.i8, DType.i16, DType.i32, DType.i64
u8, u16, u32, u64 = DType.u8, DType.u16, DType.u32, DType.u64
f8e4m3, f8e5m2, f16, bf16, f32, f64 = (DType.f8e4m3, DType.f8e5m2, DType.f16, DType.bf16, DType.f32, DType.f64)


def parse(text: str, file: str = "<text>", set: Mapping[str, Any] | None = None) -> Fusion:
    """Reads a fusion in the text form of docs/ir.md; `set` gives other values to its lets, and to sizes that it does not let.
    Raises UserError with the place, and where `set` names what the text does not have."""
    return Fusion.parse(text, file, dict(set or {}))


def from_array(object: Any) -> Array:
    """An `Array` over the memory of any array, without a copy: the same as `plait.array`. Raises UserError."""
    return array(object)


def _array_of_bytes(dtype: str, shape: tuple[int, ...], elements: bytes) -> Array:
    """For pickle, which finds functions of Python alone."""
    return _plait._array_of_bytes(dtype, shape, elements)


def run_ranks(fusion: Fusion, inputs: Mapping[str, Any], ranks: int, *, device: str | None = None,
              comm: str = "local:threads", **how: Any) -> dict[str, Array]:
    """Runs a fusion on ranks of this process, each a thread: global arrays in and out. `how`: as for compile()."""
    if not isinstance(inputs, Mapping):
        raise UserError(f"inputs are {type(inputs).__name__}, no dict", "run_ranks", "name them: {\"x\": x}")
    return compile(fusion, device=device, comm=comm, ranks=ranks, **how).run(dict(inputs))


if not TYPE_CHECKING:  # checkers would let every name pass

    def __getattr__(name: str) -> Any:
        if name.startswith("_") or name == "torch":
            raise AttributeError(f"module 'plait' has no `{name}`" + (": import plait.torch" if name == "torch" else ""))
        if name in ops.__all__:
            raise AttributeError(f"plait has no `{name}`: ops are in plait.ops, plait.ops.{name}")
        own, meant = _guess(name, __all__), _guess(name, ops.__all__)
        text = f"; did you mean `{own}`?" if own else f"; did you mean `plait.ops.{meant}`?" if meant else ""
        raise AttributeError(f"plait has no `{name}`{text}")


__all__ = [
    "Array", "BoundsError", "CommError", "DType", "Device", "Error", "Fusion", "Imported", "InternalError", "Kernel", "Mesh", "MissingError", "OutOfMemoryError", "Profile", "Program",
    "Size", "Step", "Tensor", "TunedSchedule", "UserError", "array", "bf16", "bool_", "compile", "devices", "doctor", "dtype", "f16", "f32", "f64", "f8e4m3",
    "f8e5m2", "format", "from_array", "i16", "i32", "i64", "i8", "import_onnx", "import_stablehlo", "jit", "load", "ops", "parse", "profile", "run_ranks", "u16", "u32", "u64", "u8",
]
