"""Rows of the table: reads and writes where integer tensors say, diagonals, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    """An index that may count from the end as one that does not."""
    index = cast(index, plait.i64)
    size = size if isinstance(size, int) else ops.size(c.fusion, size, plait.i64)
    return apply("where", [ops.lt(index, 0), apply("add", [index, size]), index])


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


PAIRS = 1 << 22  # of a place and an index that are compared, at most


def last_of(c: Context, x: plait.Tensor, index: plait.Tensor, values: plait.Tensor, dim: int) -> plait.Tensor:
    """x with values[.., k, ..] at index[k] along a dim, the last k of those that meet."""
    places, count = static([x.shape[dim], index.shape[0]], "an index_put that does not add")
    if places * count > PAIRS:
        raise Unsupported(f"an index_put that does not add, of {count} into {places}")
    if count == 0:
        return ops.set(x)
    hit = ops.eq(ops.unsqueeze(ops.iota(c.fusion, [places], 0, plait.i64), [1]), ops.unsqueeze(index, [0]))
    which = ops.unsqueeze(ops.iota(c.fusion, [count], 0, plait.i64), [0])
    last = ops.amax(apply("where", [hit, which, -1]), [1])
    taken = ops.index_select(values, apply("max", [last, 0]), dim)
    ones = ops.full(c.fusion, [count], 1, plait.i64)
    hits = ops.scatter_add(ops.full(c.fusion, [places], 0, plait.i64), index, ones, 0)  # checks the indices
    found = ops.reshape(ops.gt(hits, 0), [places if d == dim else 1 for d in range(x.rank)])
    return apply("where", [found, taken, x])


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
    if accumulate:
        index = ops.reshape(index, [1] * dim + [lead] + [1] * (len(rest) - dim))
        made = scattered(flat, ops.expand(index, values.shape), values, dim)
    else:
        made = last_of(c, flat, ops.reshape(index, [lead]), values, dim)
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


def scattered(x: plait.Tensor, index: plait.Tensor, src: plait.Tensor, dim: int) -> plait.Tensor:
    """x with src added where the index points; bool adds as or does."""
    index = cast(index, plait.i64)
    if x.dtype != plait.bool_:
        return ops.scatter_add(x, index, src, dim)
    return ops.ne(ops.scatter_add(cast(x, plait.i64), index, cast(src, plait.i64), dim), 0)


def put(x: plait.Tensor, dim: int, index: plait.Tensor, value: Any) -> plait.Tensor:
    """x with `value` where the index points."""
    index = cast(index, plait.i64)
    zeros = ops.full(x.fusion, x.shape, 0, plait.i64)
    hits = ops.scatter_add(zeros, index, ops.full(x.fusion, index.shape, 1, plait.i64), dim)
    return apply("where", [ops.gt(hits, 0), value, x])


@row(aten.scatter.value)
def _(c, x, dim, index, value):
    if x.rank == 0 or index.rank == 0:
        raise Unsupported("scatter without dims")
    return put(x, dim, index, constant(value, x.dtype))


@row(aten.scatter.src)
def _(c, x, dim, index, src):
    if x.rank == 0 or index.rank == 0:
        raise Unsupported("scatter without dims")
    if index.shape[dim] != 1:  # elsewhere two may meet, and the last wins
        raise Unsupported("scatter of more than one element along the dim")
    zeros = ops.full(c.fusion, x.shape, 0, x.dtype)
    return put(x, dim, index, scattered(zeros, index, cut_to(src, index), dim))


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
