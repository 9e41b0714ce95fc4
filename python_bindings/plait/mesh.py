"""Named mesh axes."""

from __future__ import annotations

from collections.abc import Mapping


class Mesh:
    """Axes by name: a size, or the name of one that `ranks` or `sizes` of `compile` give. `Mesh(dp=2, tp="t")`."""

    def __init__(self, axes: Mapping[str, int | str] | None = None, name: str = "m", **more: int | str):
        self.name = name
        self.axes: dict[str, int | str] = {**(axes or {}), **more}

    def __str__(self) -> str:
        return f"@{self.name} ({', '.join(f'{axis} = {size}' for axis, size in self.axes.items())})"

    def __repr__(self) -> str:
        return f"plait.Mesh({self.axes!r}, name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and (self.name, list(self.axes.items())) == (other.name, list(other.axes.items()))

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.axes.items())))
