"""Rows of the table: reads and writes where integer tensors say, diagonals, windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

import plait
from plait import ops
from plait.torch.rows import Context, apply, aten, cast, constant, raw, row
from plait.torch.sizes import Unsupported, extents


def static(values: Sequence[Any], what: str) -> list[int]:
    sizes = extents(values)
    if not all(isinstance(each, int) for each in sizes):
        raise Unsupported(f"{what} of symbolic sizes")
    return sizes


def counted(index: plait.Tensor, size: Any, c: Context) -> plait.Tensor:
    """An index that may count from the end as one that does not. One outside stays as it is, for the error that names it."""
    given, index = index, cast(index, plait.i64)
    size = size if isinstance(size, int) else ops.size(c.fusion, size, plait.i64)
    place = apply("add", [index, size])
    made = apply("where", [ops.logical_and(ops.lt(index, 0), ops.ge(place, 0)), place, index])
    c.indices[made.name] = (given.name,)
    return made


def joined(c: Context, x: plait.Tensor, indices: Sequence[Any]) -> tuple[plait.Tensor, plait.Tensor, int, list[int]]:
    """x[indices] as one index along one dim: x with the indexed dims next to each other and merged, the index, the dim,
    and how the dims of x were permuted."""
    at = [d for d, index in enumerate(indices) if index is not None]
    if not at or any(indices[d].dtype == plait.bool_ for d in at):
        raise Unsupported("a mask as an index")
    if len(at) == 1:
        return x, counted(indices[at[0]], x.shape[at[0]], c), at[0], list(range(x.rank))
    shape = static(x.shape, "several indices")
    first, order = at[0], list(range(x.rank))
    if at != list(range(first, first + len(at))):  # PyTorch puts the indexed dims first
        order = at + [d for d in order if d not in at]
        first = 0
    index = counted(indices[at[0]], shape[at[0]], c)
    outside = [ops.lt(index, 0), ops.ge(index, shape[at[0]])]
    merged = shape[at[0]]
    for d in at[1:]:
        along = counted(indices[d], shape[d], c)
        outside += [ops.lt(along, 0), ops.ge(along, shape[d])]
        index = ops.add(apply("mul", [index, shape[d]]), along)
        merged *= shape[d]
    for each in outside:  # no place of another index, but one that the run names
        index = apply("where", [each, merged, index])
    c.indices[index.name] = tuple(indices[d].name for d in at)
    x = ops.permute(x, order)
    sizes = [shape[d] for d in order]
    return ops.reshape(x, sizes[:first] + [merged] + sizes[first + len(at):]), index, first, order


@row(aten.index.Tensor)
def _(c, x, indices):
    x, index, dim, _ = joined(c, x, indices)
    return ops.index_select(x, index, dim)


@row(aten._unsafe_index.Tensor)
def _(c, x, indices):
    x, index, dim, _ = joined(c, x, indices)
    return ops.index_select(x, index, dim, bounds="assume")


@row(aten.index_put.default, aten._unsafe_index_put.default)
def _(c, x, indices, values, accumulate=False):
    shape = x.shape
    flat, index, dim, order = joined(c, x, indices)
    rest = list(flat.shape[:dim]) + list(flat.shape[dim + 1:])
    lead: Any = 1
    for size in index.shape:
        lead = lead * size if isinstance(lead, int) and isinstance(size, int) else f"({lead})*({size})"
    taken = list(flat.shape[:dim]) + list(index.shape) + list(flat.shape[dim + 1:])
    values = ops.expand(cast(values, x.dtype), taken)
    values = ops.reshape(values, list(flat.shape[:dim]) + [lead] + list(flat.shape[dim + 1:]))
    names = c.indices[index.name]
    index = ops.expand(ops.reshape(index, [1] * dim + [lead] + [1] * (len(rest) - dim)), values.shape)
    c.indices[index.name] = names
    made = scattered(flat, index, values, dim, "add" if accumulate else "set")
    if flat is x:
        return made
    if order == list(range(len(order))):
        return ops.reshape(made, shape)
    made = ops.reshape(made, [shape[d] for d in order])
    return ops.permute(made, [order.index(d) for d in range(len(order))])


def cut_to(src: plait.Tensor, index: plait.Tensor) -> plait.Tensor:
    """The elements of a source that an index of a scatter has."""
    for d, (theirs, ours) in enumerate(zip(src.shape, index.shape)):
        if str(theirs) != str(ours):
            src = ops.slice(src, d, 0, ours)
    return src


def scattered(x: plait.Tensor, index: plait.Tensor, src: plait.Tensor, dim: int, update: str) -> plait.Tensor:
    """x with src put, added, ... where the index points, also without dims; bool adds as or does, multiplies as and."""
    if x.rank == 0 or index.rank == 0:
        shape = x.shape
        x, index, src = (ops.reshape(each, [1]) if each.rank == 0 else each for each in (x, index, src))
        return ops.reshape(scattered(x, index, src, dim, update), shape)
    if x.dtype == plait.bool_:
        update = {"add": "max", "mul": "min"}.get(update, update)
    return ops.scatter(x, cast(index, plait.i64), cut_to(cast(src, x.dtype), index), dim, update)


def everywhere(index: plait.Tensor, value: Any, dtype: Any) -> plait.Tensor:
    """A source of a scatter that is one number."""
    return ops.full(index.fusion, index.shape, constant(value, dtype), dtype)


@row(aten.scatter.value)
def _(c, x, dim, index, value):
    return scattered(x, index, everywhere(index, value, x.dtype), dim, "set")


@row(aten.scatter.src)
def _(c, x, dim, index, src):
    return scattered(x, index, src, dim, "set")


@row(aten.scatter_add.default)
def _(c, x, dim, index, src):
    return scattered(x, index, src, dim, "add")


@row(aten.scatter.reduce)
def _(c, x, dim, index, src, reduce):
    return scattered(x, index, src, dim, {"add": "add", "multiply": "mul"}[reduce])


@row(aten.scatter.value_reduce)
def _(c, x, dim, index, value, reduce):
    return scattered(x, index, everywhere(index, value, x.dtype), dim, {"add": "add", "multiply": "mul"}[reduce])


UPDATES = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


def nothing(reduce: str, like: torch.dtype) -> Any:
    """What a reduction of nothing is."""
    if reduce in ("sum", "prod"):
        return int(reduce == "prod")
    if like.is_floating_point:
        return -math.inf if reduce == "amax" else math.inf
    if like == torch.bool:
        return reduce == "amin"
    return torch.iinfo(like).min if reduce == "amax" else torch.iinfo(like).max


@row(aten.scatter_reduce.two)
def _(c, x, dim, index, src, reduce, include_self=True):
    if reduce not in UPDATES:
        raise Unsupported(f"scatter_reduce with {reduce}")
    if not include_self:
        x = scattered(x, index, everywhere(index, nothing(reduce, raw(c, 0).dtype), x.dtype), dim, "set")
    return scattered(x, index, src, dim, UPDATES[reduce])


@row(aten.index_reduce.default)
def _(c, x, dim, index, src, reduce, include_self=True):
    update = {"prod": "mul", "amax": "max", "amin": "min"}.get(reduce)
    if update is None or x.rank == 0:
        raise Unsupported(f"index_reduce with {reduce}")
    dim %= x.rank
    index = ops.reshape(index, [1] * dim + [src.shape[dim]] + [1] * (x.rank - dim - 1))
    index = ops.expand(index, src.shape)
    if not include_self:
        x = scattered(x, index, everywhere(index, nothing(reduce, raw(c, 0).dtype), x.dtype), dim, "set")
    return scattered(x, index, src, dim, update)


@row(aten.diagonal.default, view=True)
def _(c, x, offset=0, dim1=0, dim2=1):
    dim1, dim2 = dim1 % x.rank, dim2 % x.rank
    rest = [d for d in range(x.rank) if d not in (dim1, dim2)]
    sizes = static(x.shape, "a diagonal")
    length = static(c.shape(), "a diagonal")[-1]
    x = ops.reshape(ops.permute(x, rest + [dim1, dim2]), [sizes[d] for d in rest] + [sizes[dim1] * sizes[dim2]])
    start, step = max(offset, 0) + max(-offset, 0) * sizes[dim2], sizes[dim2] + 1
    return ops.slice(x, -1, start, start + (length - 1) * step + 1, step) if length else ops.slice(x, -1, 0, 0)


@row(aten.diagonal_scatter.default)
def _(c, x, part, offset=0, dim1=0, dim2=1):
    dim1, dim2 = dim1 % x.rank, dim2 % x.rank
    order = [d for d in range(x.rank) if d not in (dim1, dim2)] + [dim1, dim2]
    rows, columns = static([x.shape[dim1], x.shape[dim2]], "a diagonal")
    along = -2 if offset < 0 else -1  # rows count the diagonal from the first; below the main one columns do
    length = static([part.shape[-1]], "a diagonal")[0]
    missing = (columns if offset < 0 else rows) - length
    part = ops.pad(cast(part, x.dtype), [0] * part.rank, [0] * (part.rank - 1) + [missing])
    row_of = ops.unsqueeze(ops.iota(c.fusion, [rows], 0, plait.i64), [1])
    column_of = ops.unsqueeze(ops.iota(c.fusion, [columns], 0, plait.i64), [0])
    hit = ops.eq(apply("add", [row_of, offset]), column_of)
    made = apply("where", [hit, ops.unsqueeze(part, [along if along == -1 else part.rank - 1]), ops.permute(x, order)])
    return ops.permute(made, [order.index(d) for d in range(x.rank)])


@row(aten.unfold.default, view=True)
def _(c, x, dim, size, step):
    if x.rank == 0:
        raise Unsupported("windows of a tensor without dims")
    dim %= x.rank
    windows = static([c.shape()[dim]], "windows")[0]
    first = ops.unsqueeze(apply("mul", [ops.iota(c.fusion, [windows], 0, plait.i64), step]), [1])
    index = ops.add(first, ops.unsqueeze(ops.iota(c.fusion, [size], 0, plait.i64), [0]))
    made = ops.index_select(x, index, dim)
    return ops.permute(made, [d for d in range(made.rank) if d != dim + 1] + [dim + 1])
