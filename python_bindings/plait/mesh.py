"""Named mesh axes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from plait.errors import UserError

_MOST_LINK = 1_000_000  # GB/s, microseconds: as the text form has it


class Mesh:
    """Axes by name: a size, -1 for what `ranks` leaves, or the name of one that `ranks` or `sizes` of `compile` give.
    `groups` names several axes at once: `Mesh(dp_replicate=2, dp_shard=-1, tp="t", groups={"dp": ["dp_replicate",
    "dp_shard"]})`. `links` says of each axis what a rank's link along it does, in whole GB/s and microseconds, so that plans
    of moves keep bytes off slow ones: `Mesh(dp=2, tp=8, links={"dp": (50, 12), "tp": (450, 3)})`. Raises UserError for what
    is none of these; whether groups and links fit the axes is checked by `Fusion`."""

    def __init__(
        self,
        axes: Mapping[str, int | str] | None = None,
        name: str = "m",
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        links: Mapping[str, tuple[int, int]] | None = None,
        **more: int | str,
    ):
        if not _is_name(name):
            raise UserError(f"a mesh cannot be named {name!r}", "plait.Mesh", "give a word of letters, digits and `_`: name=\"m\"")
        self.name = name
        where = f"mesh @{name}"
        given = _mapping(axes, "axes", where, "name axes and their sizes: plait.Mesh(dp=2, tp=\"t\"), or plait.Mesh({\"dp\": 2})")
        for axis in more:
            if axis in given:
                raise UserError(f"mesh axis `{axis}` is given twice", where, "name it once")
        self.axes: dict[str, int | str] = {axis: _size(axis, size, where) for axis, size in {**given, **more}.items()}
        if not self.axes:
            raise UserError("a mesh of no axes", where, "name them: plait.Mesh(dp=2, tp=\"t\")")
        links = _mapping(links, "links", where, "give GB/s and microseconds of each axis: links={\"dp\": (50, 12)}")
        for axis in links:
            if axis not in self.axes:
                raise UserError(f"links says what axis {axis!r} does, the mesh has {', '.join(self.axes)}", where,
                                "give a link to each of the mesh's axes, or none")
        self.links: dict[str, tuple[int, int]] = {axis: _checked_link(axis, links[axis], where) for axis in self.axes if axis in links}
        groups = _mapping(groups, "groups", where, "give the axes of each: groups={\"dp\": [\"dp_replicate\", \"dp_shard\"]}")
        self.groups: dict[str, list[str]] = {group: _checked_group(group, names, where) for group, names in groups.items()}

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
        groups = tuple(sorted((group, tuple(names)) for group, names in self.groups.items()))
        return (self.name, tuple(self.axes.items()), groups, tuple(sorted(self.links.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isidentifier()


def _mapping(value: Any, what: str, where: str, remedy: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise UserError(f"{what} is {value!r}, no dict", where, remedy)
    made = dict(value or {})
    for name in made:
        if not _is_name(name):
            raise UserError(f"{what} has {name!r}, which is no name", where, "give words of letters, digits and `_`")
    return made


def _whole(value: Any) -> int | None:
    """As an int, of whatever library; None where it is no whole number."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _size(axis: str, size: Any, where: str) -> int | str:
    if _is_name(size):
        return str(size)
    number = _whole(size)
    if number is None or (number < 1 and number != -1):
        raise UserError(f"mesh axis `{axis}` has size {size!r}", where,
                        f"give a whole number of at least 1, -1 for what the ranks leave, or a name: {axis}=\"t\"")
    return number


def _checked_link(axis: str, link: Any, where: str) -> tuple[int, int]:
    numbers = [_whole(each) for each in link] if isinstance(link, (tuple, list)) else []
    if len(numbers) == 2:
        bandwidth, latency = numbers
        if bandwidth is not None and latency is not None and 1 <= bandwidth <= _MOST_LINK and 0 <= latency <= _MOST_LINK:
            return bandwidth, latency
    raise UserError(f"the link of mesh axis `{axis}` is {link!r}", where,
                    f"give whole numbers of GB/s, from 1 on, and of microseconds, from 0 on: links={{{axis!r}: (50, 12)}}")


def _checked_group(group: str, names: Any, where: str) -> list[str]:
    made = [names] if isinstance(names, str) else list(names) if isinstance(names, (tuple, list)) else []
    if not made or not all(isinstance(each, str) for each in made):
        raise UserError(f"group `{group}` is {names!r}", where, f"name its axes: groups={{{group!r}: [\"dp_replicate\", \"dp_shard\"]}}")
    return made
