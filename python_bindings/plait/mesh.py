"""Named mesh axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Mesh:
    """Axes by name: a size, -1 for what `ranks` leaves, or the name of one that `ranks` or `sizes` of `compile` give.
    `groups` names several axes at once: `Mesh(dp_replicate=2, dp_shard=-1, tp="t", groups={"dp": ["dp_replicate",
    "dp_shard"]})`. `links` says of each axis what a rank's link along it does, in GB/s and microseconds, so that plans of
    moves keep bytes off slow ones: `Mesh(dp=2, tp=8, links={"dp": (50, 12), "tp": (450, 3)})`."""

    def __init__(
        self,
        axes: Mapping[str, int | str] | None = None,
        name: str = "m",
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        links: Mapping[str, tuple[int, int]] | None = None,
        **more: int | str,
    ):
        self.name = name
        self.axes: dict[str, int | str] = {**(axes or {}), **more}
        self.links: dict[str, tuple[int, int]] = dict(links or {})
        for axis in self.links:
            if axis not in self.axes:
                raise ValueError(f"links says what axis {axis!r} does, the mesh has {', '.join(self.axes)}")
        self.groups: dict[str, list[str]] = {group: list(names) for group, names in (groups or {}).items()}

    def __str__(self) -> str:
        axes = ", ".join(f"{axis} = {size}{self._link(axis)}" for axis, size in self.axes.items())
        groups = ", ".join(f"{group} = [{', '.join(names)}]" for group, names in self.groups.items())
        return f"@{self.name} ({axes})" + (f" with {groups}" if groups else "")

    def _link(self, axis: str) -> str:
        if axis not in self.links:
            return ""
        bandwidth, latency = self.links[axis]
        return f" bandwidth {bandwidth} latency {latency}"

    def __repr__(self) -> str:
        groups = f", groups={self.groups!r}" if self.groups else ""
        links = f", links={self.links!r}" if self.links else ""
        return f"plait.Mesh({self.axes!r}, name={self.name!r}{groups}{links})"

    def _key(self) -> tuple[object, ...]:
        groups = tuple((group, tuple(names)) for group, names in self.groups.items())
        return (self.name, tuple(self.axes.items()), groups, tuple(self.links.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
