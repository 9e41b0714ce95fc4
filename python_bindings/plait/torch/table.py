"""ATen ops as ops of plait: one row each, here, in table_pointwise.py and in table_indexing.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import plait
import plait.torch.table_indexing  # noqa: F401: its rows
import plait.torch.table_pointwise  # noqa: F401: its rows
from plait import ops
from plait.torch.rows import DTYPES, TABLE, VIEWS, Context, apply, aten, cast, constant, dtype, number, prims, raw, row, wide
from plait.torch.sizes import Unsupported, extent, extents

__all__ = ["DTYPES", "TABLE", "VIEWS", "Context", "dtype"]

# ---- Reductions.

def all_dims(x: plait.Tensor, dims: Any) -> list[int]:
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(x.rank))
    return [dims] if isinstance(dims, int) else list(dims)


def reduction(function: Callable[..., plait.Tensor], x: plait.Tensor, dims: Any, keepdim: bool) -> plait.Tensor:
    if x.rank == 0:
        dims = []
    return function(x, all_dims(x, dims) if x.rank else None, keepdim)


@row(aten.sum.default, aten.sum.dim_IntList)
def _(c, x, dims=None, keepdim=False, dtype=None):
    to = c.dtype()
    return cast(reduction(ops.sum, cast(x, to), dims, keepdim), to)


@row(aten.mean.default, aten.mean.dim)
def _(c, x, dims=None, keepdim=False, dtype=None):
    return reduction(ops.mean, cast(x, c.dtype()), dims, keepdim)


@row(aten.prod.default, aten.prod.dim_int)
def _(c, x, dims=None, keepdim=False, dtype=None):
    to = c.dtype()
    return cast(reduction(ops.prod, cast(x, to), dims, keepdim), to)


@row(aten.amax.default)
def _(c, x, dims=(), keepdim=False):
    return reduction(ops.amax, x, dims, keepdim)


@row(aten.amin.default)
def _(c, x, dims=(), keepdim=False):
    return reduction(ops.amin, x, dims, keepdim)


@row(aten.max.default)
def _(c, x):
    return reduction(ops.amax, x, None, False)


@row(aten.min.default)
def _(c, x):
    return reduction(ops.amin, x, None, False)


@row(aten.max.dim, aten.min.dim)
def _(c, x, dim, keepdim=False):
    if x.rank == 0:
        return ops.set(x), ops.full(c.fusion, [], 0, plait.i64)
    return (ops.max_with_argmax if c.node.target is aten.max.dim else ops.min_with_argmin)(x, [dim], keepdim)


@row(aten.linalg_vector_norm.default)
def _(c, x, ord=2, dims=None, keepdim=False, dtype=None):
    return reduction(lambda x, dims, keep: ops.norm(x, float(ord), dims, keep), cast(x, c.dtype()), dims, keepdim)


@row(aten.any.default, aten.any.dim, aten.any.dims)
def _(c, x, dims=None, keepdim=False):
    return cast(reduction(ops.any, x, dims, keepdim), c.dtype())


@row(aten.all.default, aten.all.dim, aten.all.dims)
def _(c, x, dims=None, keepdim=False):
    return cast(reduction(ops.all, x, dims, keepdim), c.dtype())


@row(aten.argmax.default)
def _(c, x, dim=None, keepdim=False):
    return reduction(ops.argmax, x, dim, keepdim)


@row(aten.argmin.default)
def _(c, x, dim=None, keepdim=False):
    return reduction(ops.argmin, x, dim, keepdim)


@row(aten.var.correction)
def _(c, x, dims=None, correction=None, keepdim=False):
    return ops.var(x, all_dims(x, dims), whole(1 if correction is None else correction), keepdim)


@row(aten.var_mean.correction)
def _(c, x, dims=None, correction=None, keepdim=False):
    dims = all_dims(x, dims)
    mean, var = ops.var_mean(x, dims, whole(1 if correction is None else correction), keepdim)
    return var, mean


def whole(value: Any) -> int:
    if int(value) != value:
        raise Unsupported(f"a correction of {value}")
    return int(value)


@row(aten.cumsum.default)
def _(c, x, dim, dtype=None):
    return ops.set(cast(x, c.dtype())) if x.rank == 0 else cast(ops.cumsum(cast(x, c.dtype()), dim), c.dtype())


@row(aten.cumprod.default)
def _(c, x, dim, dtype=None):
    return ops.set(cast(x, c.dtype())) if x.rank == 0 else cast(ops.cumprod(cast(x, c.dtype()), dim), c.dtype())


@row(aten.logcumsumexp.default)
def _(c, x, dim):
    return ops.set(x) if x.rank == 0 else ops.logcumsumexp(x, dim)


def of_one(c: Any, x: plait.Tensor) -> tuple[plait.Tensor, plait.Tensor]:
    """Values and indices of a tensor of no dims."""
    return ops.set(x), ops.full(c.fusion, [], 0, plait.i64)


@row(aten.cummax.default, aten.cummin.default)
def _(c, x, dim):
    if x.rank == 0:
        return of_one(c, x)
    return (ops.cummax if c.node.target is aten.cummax.default else ops.cummin)(x, dim)


@row(aten.sort.default)
def _(c, x, dim=-1, descending=False):
    return ops.sort(x, dim, descending) if x.rank else of_one(c, x)


@row(aten.sort.stable)
def _(c, x, stable=None, dim=-1, descending=False):
    return ops.sort(x, dim, descending) if x.rank else of_one(c, x)


@row(aten.argsort.default)
def _(c, x, dim=-1, descending=False):
    return ops.argsort(x, dim, descending) if x.rank else of_one(c, x)[1]


@row(aten.argsort.stable)
def _(c, x, stable=None, dim=-1, descending=False):
    return ops.argsort(x, dim, descending) if x.rank else of_one(c, x)[1]


@row(aten.topk.default)
def _(c, x, k, dim=-1, largest=True, sorted=True):
    if x.rank == 0 or not isinstance(k, int):
        raise Unsupported("the greatest of a tensor of no dims, or as many as a size says")
    return ops.topk(x, k, dim, largest)


@row(aten.logsumexp.default)
def _(c, x, dims, keepdim=False):
    return reduction(ops.logsumexp, cast(x, c.dtype()), dims, keepdim)


@row(aten._softmax.default, aten._log_softmax.default)
def _(c, x, dim, half_to_float):
    function = ops.softmax if c.node.target is aten._softmax.default else ops.log_softmax
    x = cast(x, c.dtype())
    return function(x, dim) if x.rank else ops.reshape(function(ops.reshape(x, [1]), 0), [])


@row(aten.native_layer_norm.default)
def _(c, x, shape, w, b, eps):
    dims = list(range(x.rank - len(shape), x.rank))
    wide = cast(x, plait.f32) if x.dtype in (plait.f16, plait.bf16) else x
    mean = ops.mean(wide, dims, True)
    centered = ops.sub(wide, mean)
    rstd = ops.rsqrt(apply("add", [ops.mean(ops.square(centered), dims, True), constant(eps, wide.dtype)]))
    out = ops.mul(centered, rstd)
    if w is not None:
        out = ops.mul(out, cast(w, wide.dtype))
    if b is not None:
        out = ops.add(out, cast(b, wide.dtype))
    return cast(out, x.dtype), cast(mean, c.dtype(1)), cast(rstd, c.dtype(2))


# ---- Products.

@row(aten.mm.default, aten.bmm.default, aten.matmul.default)
def _(c, a, b):
    return product(c, a, b)


def scaled_sum(bias: plait.Tensor, made: plait.Tensor, beta: Any, alpha: Any) -> plait.Tensor:
    """beta * bias + alpha * made. A bias whose beta is 0 is not read: it may be NaN."""
    if alpha != 1:
        made = apply("mul", [made, constant(alpha, made.dtype)])
    if beta == 0:
        return made
    return ops.add(made, bias if beta == 1 else apply("mul", [bias, constant(beta, bias.dtype)]))


@row(aten.addmm.default)
def _(c, bias, a, b, beta=1, alpha=1):
    return scaled_sum(bias, product(c, a, b), beta, alpha)


@row(aten.addbmm.default)
def _(c, bias, a, b, beta=1, alpha=1):
    made = ops.sum(product(c, a, b) if bias.dtype not in (plait.f16, plait.bf16) else ops.matmul(wide(a), wide(b)), [0])
    return cast(scaled_sum(cast(bias, made.dtype), made, beta, alpha), c.dtype())


@row(aten.linear.default)
def _(c, x, w, b=None):
    if c.dtype() == plait.bool_:
        raise Unsupported("a product of bool")
    return ops.linear(x, w, b)


def product(c: Context, a: plait.Tensor, b: plait.Tensor) -> plait.Tensor:
    """a b of matrices."""
    if c.dtype() == plait.bool_:
        raise Unsupported("a product of bool")
    return ops.matmul(a, b)


@row(aten.dot.default, aten.mv.default)
def _(c, a, b):
    x = product(c, ops.unsqueeze(a, [0]) if a.rank == 1 else a, ops.unsqueeze(b, [1]))
    return ops.squeeze(x, [1] if a.rank == 2 else [0, 1])


# ---- Moves.

@row(aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.view_copy.default, view=True)
def _(c, x, shape):
    return ops.reshape(x, c.shape())


@row(aten.permute.default, aten.permute_copy.default, view=True)
def _(c, x, dims):
    return ops.permute(x, list(dims)) if x.rank else ops.set(x)


@row(aten.t.default, view=True)
def _(c, x):
    return ops.transpose(x, 0, 1) if x.rank == 2 else ops.set(x)


@row(aten.transpose.int, view=True)
def _(c, x, a, b):
    return ops.transpose(x, a, b) if x.rank else ops.set(x)


@row(aten.unsqueeze.default, view=True)
def _(c, x, dim):
    return ops.unsqueeze(x, [dim])


@row(aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.expand.default, view=True)
def _(c, x, *words, **more):
    if c.node.target is aten.expand.default:
        return ops.expand(x, c.shape())
    return ops.reshape(x, c.shape())


@row(aten.slice.Tensor, view=True)
def _(c, x, dim=0, start=None, end=None, step=1):
    last = 9223372036854775807
    start = None if start is None else extent(start)
    end = None if end is None or end == last else extent(end)
    return ops.slice(x, dim, start, end, step)


@row(aten.select.int, view=True)
def _(c, x, dim, index):
    index = extent(index)
    if not isinstance(index, int):
        raise Unsupported("select of a symbolic index")
    return ops.squeeze(ops.slice(x, dim, index, index + 1 if index != -1 else None), [dim])


@row(aten.cat.default, view=True)
def _(c, tensors, dim=0):
    rank = len(c.shape())
    kept = [cast(t, c.dtype()) for t in tensors if t.rank == rank]
    return ops.cat(kept, dim) if len(kept) > 1 else ops.set(kept[0])


@row(aten.stack.default, view=True)
def _(c, tensors, dim=0):
    return ops.stack([cast(t, c.dtype()) for t in tensors], dim)


@row(aten.unbind.int, aten.unbind_copy.int, view=True)
def _(c, x, dim=0):
    return tuple(ops.squeeze(ops.slice(x, dim, i, i + 1), [dim]) for i in range(len(c.node.meta["val"])))


@row(aten.narrow_copy.default, view=True)
def _(c, x, dim, start, length):
    if not isinstance(start, int) or not isinstance(length, int):
        raise Unsupported("narrow_copy of symbolic ends")
    start = start % x.shape[dim] if start < 0 else start
    return ops.slice(x, dim, start, start + length)


@row(aten.flip.default, view=True)
def _(c, x, dims):
    return ops.flip(x, list(dims)) if x.rank else ops.set(x)


@row(aten.roll.default, view=True)
def _(c, x, shifts, dims=()):
    shifts = [number(each, "shift") for each in shifts]
    if not dims:
        return ops.reshape(ops.roll(ops.reshape(x, [-1]), list(shifts), [0]), c.shape())
    return ops.roll(x, list(shifts), list(dims))


@row(aten.repeat.default, view=True)
def _(c, x, repeats):
    return ops.repeat(x, [number(each, "number of copies") for each in repeats])


@row(aten.constant_pad_nd.default, view=True)
def _(c, x, pad, value=0):
    pads = extents(pad)
    missing = x.rank - len(pads) // 2
    low, high = [0] * missing, [0] * missing
    for i in range(len(pads) // 2 - 1, -1, -1):
        low.append(pads[2 * i])
        high.append(pads[2 * i + 1])
    for d in range(x.rank):
        first, last = (-p if isinstance(p, int) and p < 0 else 0 for p in (low[d], high[d]))
        if first or last:
            x = ops.slice(x, d, first, -last if last else None)
            low[d], high[d] = (0 if cut else p for cut, p in ((first, low[d]), (last, high[d])))
    return ops.pad(x, low, high, float(value))


@row(aten.clone.default, aten.alias.default, aten.detach.default, aten.contiguous.default, aten.lift_fresh_copy.default,
     view=True)
def _(c, x, memory_format=None):
    return ops.set(x)


@row(aten.tril.default, view=True)
def _(c, x, diagonal=0):
    return ops.tril(x, number(diagonal, "diagonal"))


@row(aten.triu.default, view=True)
def _(c, x, diagonal=0):
    return ops.triu(x, number(diagonal, "diagonal"))


@row(aten.split_with_sizes.default, aten.split.Tensor, view=True)
def _(c, x, sizes, dim=0):
    parts, start = [], 0
    for value in c.node.meta["val"]:
        size = value.shape[dim]
        if not isinstance(size, int):
            raise Unsupported("parts of symbolic sizes")
        parts.append(ops.slice(x, dim, start, start + size))
        start += size
    return tuple(parts)


def between(x: plait.Tensor, part: plait.Tensor, dim: int, start: Any, stop: Any) -> plait.Tensor:
    """x with `part` in place of what lies in [start, stop) of a dim."""
    return ops.cat([ops.slice(x, dim, 0, start), cast(part, x.dtype), ops.slice(x, dim, stop, None)], dim)


@row(aten.slice_scatter.default)
def _(c, x, part, dim=0, start=None, end=None, step=1):
    size = raw(c, 0).shape[dim]
    if not all(isinstance(each, (int, type(None))) for each in (start, end)) or not isinstance(size, int):
        raise Unsupported("a slice of symbolic ends")
    start, stop, _ = slice(start, end).indices(size)
    if step != 1 and start < stop:
        last = (stop - start - 1) // step
        at = apply("sub", [ops.iota(c.fusion, [size], 0, plait.i64), start])
        place = apply("min", [apply("max", [apply("floor_divide", [at, step]), 0]), last])
        hit = ops.logical_and(ops.eq(apply("mul", [place, step]), at), ops.lt(at, stop - start))
        rows = [size if d == dim % x.rank else 1 for d in range(x.rank)]
        return apply("where", [ops.reshape(hit, rows), ops.index_select(cast(part, x.dtype), place, dim), x])
    return between(x, part, dim, start, max(start, stop))


@row(aten.select_scatter.default)
def _(c, x, part, dim, index):
    size = raw(c, 0).shape[dim]
    if not isinstance(index, int) or not isinstance(size, int):
        raise Unsupported("select of a symbolic index")
    at = index % size
    return between(x, ops.unsqueeze(part, [dim]), dim, at, at + 1)


@row(aten.copy.default)
def _(c, x, source, non_blocking=False):
    return ops.expand(cast(source, c.dtype()), c.shape())


# ---- From nothing.

@row(aten.full.default, view=True)
def _(c, shape, value, **words):
    return ops.full(c.fusion, c.shape(), constant(value, c.dtype()), c.dtype())


@row(aten.full_like.default, view=True)
def _(c, x, value, **words):
    return ops.full(c.fusion, c.shape(), constant(value, c.dtype()), c.dtype())


@row(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default, view=True)
def _(c, *words, **more):
    return ops.full(c.fusion, c.shape(), 0, c.dtype())


@row(aten.ones.default, aten.ones_like.default, aten.new_ones.default, view=True)
def _(c, *words, **more):
    return ops.full(c.fusion, c.shape(), 1, c.dtype())


@row(aten.empty.memory_format, aten.empty_like.default, aten.empty_permuted.default, aten.new_empty.default,
     aten.empty_strided.default, aten.new_empty_strided.default, aten._efficientzerotensor.default, view=True)
def _(c, *words, **more):
    return ops.full(c.fusion, c.shape(), 0, c.dtype())


@row(aten.scalar_tensor.default, view=True)
def _(c, value, **words):
    return ops.full(c.fusion, [], constant(value, c.dtype()), c.dtype())


@row(prims.iota.default, aten.arange.start_step, aten.arange.default, aten.arange.start, view=True)
def _(c, *words, **more):
    if c.node.target is prims.iota.default:
        start, step = more["start"], more["step"]
    else:
        start, step = (words[0], words[2] if len(words) > 2 else 1) if len(words) > 1 else (0, 1)
    x = ops.iota(c.fusion, c.shape(), 0, c.dtype())
    if step != 1:
        x = apply("mul", [x, constant(step, x.dtype)])
    return x if start == 0 else apply("add", [x, constant(start, x.dtype)])


# ---- Indexing.

@row(aten.embedding.default)
def _(c, table, index, padding=-1, scale=False, sparse=False):
    return ops.embedding(cast(index, plait.i64), table)


@row(aten.gather.default)
def _(c, x, dim, index, sparse_grad=False):
    if x.rank == 0:
        return ops.expand(x, c.shape())
    if index.rank == 0:
        return ops.reshape(ops.gather(x, ops.reshape(cast(index, plait.i64), [1]), 0), [])
    return ops.gather(x, cast(index, plait.i64), dim)


@row(aten.index_select.default)
def _(c, x, dim, index):
    index = cast(index, plait.i64)
    if x.rank == 0 or index.rank == 0:
        x, index = (ops.reshape(each, [1]) if each.rank == 0 else each for each in (x, index))
        return ops.reshape(ops.index_select(x, index, dim), c.shape())
    return ops.index_select(x, index, dim)


# ---- Attention, as PyTorch's CPU kernel has it: causal from the top left, log sum exp of the scores beside the result.

def scale_of(c: Context, q: plait.Tensor, scale: float | None) -> Any:
    """What the scores of queries (f32 or f64) are multiplied by."""
    width = q.shape[-1]
    if scale is not None or isinstance(width, int):
        return float(width ** -0.5 if scale is None else scale)
    return ops.rsqrt(ops.size(c.fusion, width, q.dtype))


def visible(c: Context, x: plait.Tensor, causal: bool, otherwise: float) -> plait.Tensor:
    """x[..., query, key], and another value where the key comes behind the query."""
    if not causal:
        return x
    query = ops.iota(c.fusion, [x.shape[-2], 1], 0, plait.i64)
    key = ops.iota(c.fusion, [x.shape[-1]], 0, plait.i64)
    return apply("where", [ops.le(key, query), x, otherwise])


def scores(c: Context, q: plait.Tensor, k: plait.Tensor, causal: bool, mask: Any, scale: Any) -> plait.Tensor:
    """scale q k^T + mask in f32 or f64."""
    s = ops.matmul(q, ops.transpose(k, -1, -2))
    s = apply("mul", [s, scale_of(c, q, scale)])
    if mask is not None:
        s = apply("where", [mask, s, -math.inf]) if mask.dtype == plait.bool_ else ops.add(s, cast(mask, s.dtype))
    return visible(c, s, causal, -math.inf)


def heads_per_key_head(q: plait.Tensor, k: plait.Tensor) -> int:
    heads, key_heads = q.shape[-3], k.shape[-3]
    if heads == key_heads:
        return 1
    if not isinstance(heads, int) or not isinstance(key_heads, int) or key_heads == 0 or heads % key_heads:
        raise Unsupported(f"{heads} heads that share {key_heads} heads of keys")
    return heads // key_heads


def grouped(x: plait.Tensor, share: int) -> plait.Tensor:
    """[..., h, s, t] beside the key heads that heads share, in order: [..., h / share, share, s, t]."""
    return ops.reshape(x, [*x.shape[:-3], x.shape[-3] // share, share, *x.shape[-2:]])


@row(aten._scaled_dot_product_flash_attention_for_cpu.default)
def _(c, q, k, v, dropout=0.0, causal=False, attn_mask=None, scale=None):
    if dropout:
        raise Unsupported("attention with dropout")
    out, logsumexp = ops.scaled_dot_product_attention_statistics(q, k, v, attn_mask, causal, scale)
    return out, cast(logsumexp, c.dtype(1))


@row(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def _(c, grad, q, k, v, out, lse, dropout, causal, attn_mask=None, scale=None):
    if dropout:
        raise Unsupported("attention with dropout")
    q, k, v, out, grad, lse = (wide(each) for each in (q, k, v, out, grad, lse))
    factor = scale_of(c, q, scale)
    shape, share = q.shape, heads_per_key_head(q, k)
    if share > 1:
        q, out, grad = (grouped(each, share) for each in (q, out, grad))
        lse = ops.squeeze(grouped(ops.unsqueeze(lse, [-1]), share), [-1])
        k, v = (ops.unsqueeze(each, [-3]) for each in (k, v))
        if attn_mask is not None and attn_mask.rank > 2:
            attn_mask = ops.unsqueeze(attn_mask, [-3]) if attn_mask.shape[-3] == 1 else grouped(attn_mask, share)
    s = scores(c, q, k, causal, attn_mask, scale)
    p = visible(c, ops.exp(ops.sub(s, ops.unsqueeze(lse, [-1]))), causal, 0.0)
    grad_v = ops.matmul(ops.transpose(p, -1, -2), grad)
    grad_p = ops.matmul(grad, ops.transpose(v, -1, -2))
    grad_s = ops.mul(p, ops.sub(grad_p, ops.sum(ops.mul(grad, out), [-1], True)))
    grad_s = visible(c, grad_s, causal, 0.0)
    grad_q = apply("mul", [ops.matmul(grad_s, k), factor])
    grad_k = apply("mul", [ops.matmul(ops.transpose(grad_s, -1, -2), q), factor])
    if share > 1:
        grad_q = ops.reshape(grad_q, shape)
        grad_k, grad_v = (ops.sum(each, [-3], False) for each in (grad_k, grad_v))
    return tuple(cast(each, c.dtype(i)) for i, each in enumerate((grad_q, grad_k, grad_v)))
