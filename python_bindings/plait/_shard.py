"""What `shard=` of `plait.jit` says: cuts of dims over axes of a mesh, for arrays within arguments and results."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from plait._plait import Tensor

Cuts = Mapping[int, "str | Sequence[str]"]

_HOW = 'give cuts, dims by number and axes of the mesh by name, {0: "tp"}, or a structure of them as the argument has'


def checked(spec: Any, path: str) -> Any:
    """A copy of cuts, or of a structure of them: dicts, tuples, None. TypeError, with the path, for what is neither."""
    if spec is None:
        return None
    if isinstance(spec, (tuple, list)):
        return tuple(checked(each, f"{path}[{i}]") for i, each in enumerate(spec))
    if not isinstance(spec, Mapping):
        raise TypeError(f"{path} is {spec!r}: {_HOW}")
    cuts = [key for key, value in spec.items() if _is_dim(key) and _are_axes(value)]
    for key, value in spec.items():
        if key in cuts:
            continue
        if _is_dim(key) and (cuts or not isinstance(value, (Mapping, tuple, list, type(None)))):
            raise TypeError(f"{path}[{key!r}] is {value!r}: name axes of the mesh, one or a list of them, {{{key!r}: \"tp\"}}")
        if cuts:
            raise TypeError(f"{path} has {key!r} beside the dim {cuts[0]}: {_HOW}")
    if cuts:
        return {key: value if isinstance(value, str) else tuple(value) for key, value in spec.items()}
    return {key: checked(value, f"{path}[{key!r}]") for key, value in spec.items()}


def spread(spec: Any, place: Any, path: str, leaf: type, put: Callable[[Any, Cuts, str], None]) -> None:
    """Calls `put` with each leaf of a structure that `spec`, which is checked, says cuts of. What is said of a structure holds
    for all of its leaves. TypeError, with the path, where the structures differ."""
    if not spec:
        return
    if _are_cuts(spec):
        found = list(_leaves(place, leaf))
        if not found and place is not None and not isinstance(place, (dict, tuple, list)):
            raise TypeError(f"{path} cuts {place!r}, which is no array")
        for each in found:
            put(each, spec, path)
    elif isinstance(spec, dict) and isinstance(place, dict):
        for key, each in spec.items():
            if key not in place:
                close = difflib.get_close_matches(str(key), list(map(str, place)), 1)
                raise TypeError(f"{path} has {key!r}, which is not there: "
                                + (f"did you mean {close[0]!r}?" if close else f"there are {', '.join(map(repr, place))}"))
            spread(each, place[key], f"{path}[{key!r}]", leaf, put)
    elif isinstance(spec, tuple) and isinstance(place, (tuple, list)) and len(spec) == len(place):
        for i, each in enumerate(spec):
            spread(each, place[i], f"{path}[{i}]", leaf, put)
    elif place is not None:
        said, there = _kind(spec, leaf), _kind(place, leaf)
        raise TypeError(f"{path} is {said}, and what it cuts is {there}: {_HOW}")


def cut(tensor: Tensor, cuts: Cuts) -> None:
    for dim, axes in cuts.items():
        for axis in [axes] if isinstance(axes, str) else axes:
            tensor.shard(dim, axis, inner=True)


def _is_dim(key: Any) -> bool:
    return isinstance(key, int) and not isinstance(key, bool)


def _are_axes(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (tuple, list)) and all(isinstance(each, str) for each in value))


def _are_cuts(spec: Any) -> bool:
    return isinstance(spec, dict) and all(_is_dim(key) and _are_axes(value) for key, value in spec.items())


def _leaves(place: Any, leaf: type) -> Iterable[Any]:
    if isinstance(place, leaf):
        yield place
    elif isinstance(place, (dict, tuple, list)):
        for each in place.values() if isinstance(place, dict) else place:
            yield from _leaves(each, leaf)


def _kind(value: Any, leaf: type) -> str:
    if isinstance(value, leaf):
        return "one array"
    if isinstance(value, dict):
        return f"a dict of {', '.join(map(repr, value))}"
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, (tuple, list)) else repr(value)
