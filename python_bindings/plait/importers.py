"""Models of other formats as fusions (docs/importing.md)."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from plait import _plait
from plait._plait import Array, Fusion
from plait.errors import UserError


class Imported(NamedTuple):
    """A model as a fusion, and what a run of it takes beside its inputs: `compile(m.fusion).run(m.weights, x=x)`."""

    fusion: Fusion
    weights: dict[str, Array]
    """Of each parameter, by its name in the fusion."""
    names: dict[str, str]
    """Inputs, outputs and parameters: name in the fusion -> name in the model."""
    notes: list[str]
    """What the model says and the fusion does not."""
    format: str
    """`ONNX, opset 17, of pytorch 2.1`."""


def import_onnx(
    model: str | os.PathLike[str] | bytes,
    *,
    sizes: Mapping[str, int] | None = None,
    constants: Mapping[str, Any] | None = None,
    name: str = "",
) -> Imported:
    """A model of ONNX: the path of its file, or its bytes.

    Dims that it leaves open are sizes of the fusion; `sizes` makes numbers of them. `constants` are arrays for inputs of
    the model that always have these values, as ops ask for them. `name` is the fusion's. Raises UserError, which lists
    all that cannot be imported.
    """
    data, file, folder = model, "<model>", ""
    if not isinstance(model, (bytes, bytearray, memoryview)):
        path = pathlib.Path(model)
        data, file, folder = path.read_bytes(), str(path), str(path.absolute().parent)
    return Imported(*_plait._import_onnx(bytes(data), file, folder, name, dict(sizes or {}), dict(constants or {})))


def import_stablehlo(text: Any, *, constants: Mapping[str, Any] | None = None, name: str = "") -> Imported:
    """A module of StableHLO: MLIR's text, the path of a file of it (`pathlib.Path`), or what jax lowered.

    `import_stablehlo(jax.jit(f).lower(x))`; `constants` and `name` as of `import_onnx`. Raises UserError with line and
    column where the text is no module, else listing all that cannot be imported.
    """
    file = "<model>"
    if isinstance(text, os.PathLike):
        file = os.fspath(text)
        text = pathlib.Path(file).read_text()
    elif hasattr(text, "as_text"):
        text = text.as_text()
    if not isinstance(text, str):
        raise UserError(f"a {type(text).__name__} is no module of StableHLO", "import_stablehlo",
                        "give its text, a pathlib.Path of it, or jax.jit(f).lower(x)")
    return Imported(*_plait._import_stablehlo(text, file, name, dict(constants or {})))
