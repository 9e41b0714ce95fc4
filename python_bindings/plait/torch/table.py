"""ATen ops as ops of plait: one row each. A row takes the lowering context and the node's arguments, in which tensors are
plait's, and gives plait tensors; it raises Unsupported, or plait.UserError, for what stays eager."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Kind
from torch._prims_common import elementwise_dtypes

import plait
from plait import ops
from plait.torch.sizes import Unsupported, extent, extents

aten, prims = torch.ops.aten, torch.ops.prims

DTYPES = {
    torch.bool: plait.bool_, torch.int8: plait.i8, torch.int16: plait.i16, torch.int32: plait.i32,
    torch.int64: plait.i64, torch.uint8: plait.u8, torch.float16: plait.f16, torch.bfloat16: plait.bf16,
    torch.float32: plait.f32, torch.float64: plait.f64,
}

TABLE: dict[Any, Callable[..., Any]] = {}
VIEWS: set[Any] = set()  # rows that move elements or make them from nothing: alone they are not worth a kernel


def row(*overloads: Any, view: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for overload in overloads:
            TABLE[overload] = function
            if view:
                VIEWS.add(overload)
        return function

    return add


class Context:
    """One node in lowering: its fusion, and what PyTorch says of its operands and result."""

    def __init__(self, fusion: plait.Fusion, node: torch.fx.Node):
        self.fusion = fusion
        self.node = node

    def dtype(self, which: int | None = None) -> plait.DType:
        value = self.node.meta["val"]
        if which is not None:
            value = value[which]
        return dtype(value.dtype)

    def shape(self) -> list[int | str]:
        return extents(self.node.meta["val"].shape)


def dtype(of: torch.dtype) -> plait.DType:
    if of not in DTYPES:
        raise Unsupported(f"dtype {of}")
    return DTYPES[of]


def cast(x: plait.Tensor, to: plait.DType) -> plait.Tensor:
    return x if x.dtype == to else ops.cast(x, to)


def constant(value: Any, to: plait.DType) -> Any:
    """A number as an operand beside a tensor of that dtype; what overflows a float is infinite, as in PyTorch."""
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        raise Unsupported("a symbolic number as an operand")
    if to == plait.bool_:
        return int(bool(value))
    largest = {plait.f16: 65504.0, plait.bf16: 3.3895313892515355e38, plait.f32: 3.4028234663852886e38}.get(to)
    if largest is not None and isinstance(value, (int, float)) and math.isfinite(value) and abs(value) > largest * 1.0001:
        return math.copysign(math.inf, value)
    return float(value) if to in (plait.f16, plait.bf16, plait.f32, plait.f64) else value


def raw(c: Context, index: int) -> Any:
    """What PyTorch knows of an argument: its fake tensor, or the number."""
    value = c.node.args[index]
    return value.meta["val"] if isinstance(value, torch.fx.Node) else value


def promoted(c: Context, operands: Sequence[Any], kind: Kind, raws: Sequence[Any] | None = None) -> list[Any]:
    """Operands in the dtype that PyTorch's promotion gives them."""
    values = list(raws) if raws is not None else [raw(c, i) for i in range(len(operands))]
    _, result = elementwise_dtypes(*[v for v in values if v is not None], type_promotion_kind=kind)
    if kind == Kind.ALWAYS_BOOL:
        result, _ = elementwise_dtypes(*values, type_promotion_kind=Kind.DEFAULT)
        result = elementwise_dtypes(*values, type_promotion_kind=Kind.DEFAULT)[1]
    to = dtype(result)
    return [cast(x, to) if isinstance(x, plait.Tensor) else constant(x, to) for x in operands]


def apply(name: str, operands: Sequence[Any]) -> plait.Tensor:
    return plait._plait.apply(name, list(operands))


def tensor_like(c: Context, x: Any, to: plait.DType) -> plait.Tensor:
    return cast(x, to) if isinstance(x, plait.Tensor) else ops.full(c.fusion, [], constant(x, to), to)


# ---- Pointwise functions under one name.

DEFAULT, TO_FLOAT, TO_BOOL = Kind.DEFAULT, Kind.INT_TO_FLOAT, Kind.ALWAYS_BOOL


def pointwise(overload: Any, name: str, kind: Kind) -> None:
    def lower(c: Context, *operands: Any, **words: Any) -> plait.Tensor:
        if words:
            raise Unsupported(f"the arguments {', '.join(words)}")
        return apply(name, promoted(c, operands, kind))

    TABLE[overload] = lower


for _name in ("abs", "neg", "ceil", "floor", "round", "trunc", "sign", "square", "relu"):
    if hasattr(aten, _name):
        pointwise(getattr(aten, _name).default, _name, DEFAULT)
for _name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan",
              "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma",
              "digamma", "sigmoid", "silu", "mish", "softsign", "frac"):
    if hasattr(aten, _name):
        pointwise(getattr(aten, _name).default, _name, TO_FLOAT)
for _name in ("isnan", "isinf", "signbit"):
    pointwise(getattr(aten, _name).default, _name, TO_BOOL)
for _name, _ours in (("maximum", "max"), ("minimum", "min"), ("fmax", "fmax"), ("fmin", "fmin"), ("fmod", "fmod"),
                     ("remainder", "remainder"), ("mul", "mul"), ("bitwise_and", "bitwise_and"),
                     ("bitwise_or", "bitwise_or"), ("bitwise_xor", "bitwise_xor"), ("hypot", "hypot")):
    for _overload in ("default", "Tensor", "Scalar"):
        if hasattr(getattr(aten, _name), _overload):
            pointwise(getattr(getattr(aten, _name), _overload), _ours, DEFAULT)
pointwise(aten.atan2.default, "atan2", TO_FLOAT)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    for _overload in ("Tensor", "Scalar"):
        pointwise(getattr(getattr(aten, _name), _overload), _name, TO_BOOL)
for _name in ("logical_and", "logical_or", "logical_xor"):
    pointwise(getattr(aten, _name).default, _name, TO_BOOL)


@row(aten.logical_not.default)
def _(c, x):
    return ops.logical_not(x)


@row(aten.bitwise_not.default)
def _(c, x):
    return ops.logical_not(x) if x.dtype == plait.bool_ else ops.bitwise_not(x)


@row(aten.add.Tensor, aten.add.Scalar, aten.sub.Tensor, aten.sub.Scalar)
def _(c, x, y, alpha=1):
    x, y = promoted(c, [x, y], DEFAULT)
    if alpha != 1:
        to = (x if isinstance(x, plait.Tensor) else y).dtype
        y = apply("mul", [y, constant(alpha, to)]) if isinstance(y, plait.Tensor) else y * alpha
    name = "sub" if c.node.target in (aten.sub.Tensor, aten.sub.Scalar) else "add"
    if c.dtype() == plait.bool_:
        if name == "sub":
            raise Unsupported("sub of bool")
        return ops.logical_or(*(tensor_like(c, each, plait.bool_) for each in (x, y)))
    return apply(name, [x, y])


@row(aten.rsub.Tensor, aten.rsub.Scalar)
def _(c, x, y, alpha=1):
    x, y = promoted(c, [x, y], DEFAULT)
    return apply("sub", [y, x if alpha == 1 else apply("mul", [x, constant(alpha, x.dtype)])])


TABLE[aten.mul.Tensor] = TABLE[aten.mul.Scalar] = lambda c, x, y: (
    ops.logical_and(*(tensor_like(c, each, plait.bool_) for each in (x, y))) if c.dtype() == plait.bool_
    else apply("mul", promoted(c, [x, y], DEFAULT)))


@row(aten.div.Tensor, aten.div.Scalar, aten.true_divide.Tensor)
def _(c, x, y):
    return apply("div", promoted(c, [x, y], TO_FLOAT))


@row(aten.div.Tensor_mode, aten.div.Scalar_mode)
def _(c, x, y, rounding_mode=None):
    if rounding_mode is None:
        return apply("div", promoted(c, [x, y], TO_FLOAT))
    x, y = promoted(c, [x, y], DEFAULT)
    if rounding_mode == "floor":
        return apply("floor_divide", [x, y])
    if c.dtype() not in (plait.f16, plait.bf16, plait.f32, plait.f64):
        raise Unsupported("truncating division of integers")
    return ops.trunc(apply("div", [x, y]))


@row(aten.floor_divide.default)
def _(c, x, y):
    return apply("floor_divide", promoted(c, [x, y], DEFAULT))


@row(aten.pow.Tensor_Tensor, aten.pow.Tensor_Scalar, aten.pow.Scalar)
def _(c, x, y):
    if isinstance(y, (int, float)) and isinstance(x, plait.Tensor):
        x, = promoted(c, [x], DEFAULT, [raw(c, 0)]) if c.dtype() == x.dtype else [cast(x, c.dtype())]
        if y == 2:
            return ops.square(x)
        if y == 0.5:
            return ops.sqrt(x)
        if y == 1:
            return ops.set(x)
        if y == 3:
            return ops.mul(ops.square(x), x)
        return apply("pow", [x, constant(y, x.dtype)])
    return apply("pow", promoted(c, [x, y], DEFAULT))


@row(aten.where.self)
def _(c, condition, x, y):
    to = c.dtype()
    return apply("where", [cast(condition, plait.bool_), tensor_like(c, x, to), tensor_like(c, y, to)])


@row(aten.clamp.default, aten.clamp.Tensor, aten.clamp_min.default, aten.clamp_max.default, aten.clamp_min.Tensor,
     aten.clamp_max.Tensor)
def _(c, x, low=None, high=None, min=None, max=None):
    target = c.node.target
    if target in (aten.clamp_max.default, aten.clamp_max.Tensor):
        low, high = None, low
    low, high, to = low if min is None else min, high if max is None else max, c.dtype()
    x = cast(x, to)
    for bound, name in ((low, "max"), (high, "min")):
        if bound is not None:
            x = apply(name, [x, cast(bound, to) if isinstance(bound, plait.Tensor) else constant(bound, to)])
    return x


@row(aten.gelu.default)
def _(c, x, approximate="none"):
    return ops.gelu(x, approximate)


@row(aten.leaky_relu.default)
def _(c, x, slope=0.01):
    return ops.leaky_relu(x, slope)


@row(aten.elu.default)
def _(c, x, alpha=1, scale=1, input_scale=1):
    if scale != 1 or input_scale != 1:
        raise Unsupported("elu with scales")
    return ops.elu(x, alpha)


@row(aten.hardtanh.default)
def _(c, x, low=-1, high=1):
    return apply("min", [apply("max", [x, constant(low, x.dtype)]), constant(high, x.dtype)])


@row(aten._to_copy.default, prims.convert_element_type.default)
def _(c, x, to=None, dtype=None, **words):
    return cast(x, c.dtype())


TABLE[aten.to.dtype] = TABLE[aten._to_copy.default]


@row(aten.addcmul.default)
def _(c, x, a, b, value=1):
    a, b = (cast(each, c.dtype()) for each in (a, b))
    product = ops.mul(a, b)
    return ops.add(cast(x, c.dtype()), product if value == 1 else apply("mul", [product, constant(value, c.dtype())]))


@row(aten.addcdiv.default)
def _(c, x, a, b, value=1):
    quotient = ops.div(cast(a, c.dtype()), cast(b, c.dtype()))
    return ops.add(cast(x, c.dtype()), quotient if value == 1 else apply("mul", [quotient, constant(value, c.dtype())]))


@row(aten.lerp.Scalar, aten.lerp.Tensor)
def _(c, x, y, weight):
    return apply("lerp", [x, y, weight if isinstance(weight, plait.Tensor) else constant(weight, x.dtype)])


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
    return ops.var(x, dims, whole(1 if correction is None else correction), keepdim), ops.mean(x, dims, keepdim)


def whole(value: Any) -> int:
    if int(value) != value:
        raise Unsupported(f"a correction of {value}")
    return int(value)


@row(aten.cumsum.default)
def _(c, x, dim, dtype=None):
    return ops.set(cast(x, c.dtype())) if x.rank == 0 else cast(ops.cumsum(cast(x, c.dtype()), dim), c.dtype())


@row(aten.logsumexp.default)
def _(c, x, dims, keepdim=False):
    return reduction(ops.logsumexp, cast(x, c.dtype()), dims, keepdim)


@row(aten._softmax.default, aten._log_softmax.default)
def _(c, x, dim, half_to_float):
    function = ops.softmax if c.node.target is aten._softmax.default else ops.log_softmax
    x = cast(x, c.dtype())
    if x.rank == 0:
        raise Unsupported("a softmax without dims")
    return function(x, dim)


@row(aten.native_layer_norm.default)
def _(c, x, shape, w, b, eps):
    dims = list(range(x.rank - len(shape), x.rank))
    wide = cast(x, plait.f32) if x.dtype in (plait.f16, plait.bf16) else x
    mean = ops.mean(wide, dims, True)
    rstd = ops.rsqrt(apply("add", [ops.var(wide, dims, 0, True), constant(eps, wide.dtype)]))
    return ops.layer_norm(x, w, b, dims=len(shape), eps=eps), cast(mean, c.dtype(1)), cast(rstd, c.dtype(2))


# ---- Products.

@row(aten.mm.default, aten.bmm.default, aten.matmul.default)
def _(c, a, b):
    return floats(ops.matmul, c, a, b)


@row(aten.addmm.default)
def _(c, bias, a, b, beta=1, alpha=1):
    product = floats(ops.matmul, c, a, b)
    if alpha != 1:
        product = apply("mul", [product, constant(alpha, product.dtype)])
    return ops.add(product, bias if beta == 1 else apply("mul", [bias, constant(beta, bias.dtype)]))


@row(aten.linear.default)
def _(c, x, w, b=None):
    return floats(lambda x, w: ops.linear(x, w, b), c, x, w)


def floats(function: Callable[..., plait.Tensor], c: Context, a: plait.Tensor, b: plait.Tensor) -> plait.Tensor:
    if c.dtype() not in (plait.f16, plait.bf16, plait.f32, plait.f64):
        raise Unsupported(f"a product of {c.node.meta['val'].dtype}")
    return function(a, b)


@row(aten.dot.default, aten.mv.default)
def _(c, a, b):
    x = ops.matmul(ops.unsqueeze(a, [0]) if a.rank == 1 else a, ops.unsqueeze(b, [1]))
    return ops.squeeze(x, list(range(2 - (a.rank == 1), 2)) if a.rank == 2 else [0, 1])


# ---- Moves.

@row(aten.view.default, aten.reshape.default, aten._unsafe_view.default, view=True)
def _(c, x, shape):
    return ops.reshape(x, c.shape())


@row(aten.permute.default, view=True)
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


@row(aten.flip.default, view=True)
def _(c, x, dims):
    return ops.flip(x, list(dims)) if x.rank else ops.set(x)


@row(aten.roll.default, view=True)
def _(c, x, shifts, dims=()):
    if not dims:
        raise Unsupported("a roll over all elements")
    return ops.roll(x, list(shifts), list(dims))


@row(aten.repeat.default, view=True)
def _(c, x, repeats):
    return ops.repeat(x, [int(r) for r in repeats])


@row(aten.constant_pad_nd.default, view=True)
def _(c, x, pad, value=0):
    pads = extents(pad)
    if any(isinstance(p, int) and p < 0 for p in pads):
        raise Unsupported("a negative pad")
    missing = x.rank - len(pads) // 2
    low, high = [0] * missing, [0] * missing
    for i in range(len(pads) // 2 - 1, -1, -1):
        low.append(pads[2 * i])
        high.append(pads[2 * i + 1])
    return ops.pad(x, low, high, float(value))


@row(aten.clone.default, aten.alias.default, aten.detach.default, aten.contiguous.default, aten.lift_fresh_copy.default,
     view=True)
def _(c, x, memory_format=None):
    return ops.set(x)


@row(aten.tril.default, view=True)
def _(c, x, diagonal=0):
    return ops.tril(x, int(diagonal))


@row(aten.triu.default, view=True)
def _(c, x, diagonal=0):
    return ops.triu(x, int(diagonal))


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
    if step != 1 or not all(isinstance(each, (int, type(None))) for each in (start, end)) or not isinstance(size, int):
        raise Unsupported("a slice with steps, or of symbolic ends")
    start, stop, _ = slice(start, end).indices(size)
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
        raise Unsupported("gather without dims")
    return ops.gather(x, cast(index, plait.i64), dim)


@row(aten.index_select.default)
def _(c, x, dim, index):
    if x.rank == 0 or index.rank == 0:
        raise Unsupported("index_select without dims")
    return ops.index_select(x, cast(index, plait.i64), dim)


@row(aten.scatter_add.default)
def _(c, x, dim, index, src):
    if [str(e) for e in index.shape] != [str(e) for e in src.shape] or x.rank == 0:
        raise Unsupported("scatter_add of a larger source")
    return ops.scatter_add(x, cast(index, plait.i64), src, dim)


@row(aten.index_put.default, aten._unsafe_index_put.default)
def _(c, x, indices, values, accumulate=False):
    if not accumulate or len(indices) != 1 or indices[0] is None or indices[0].dtype == plait.bool_:
        raise Unsupported("index_put of several indices, or that does not add")
    index = indices[0]
    lead, rest = list(index.shape), list(x.shape[1:])
    count = 1
    for each in lead:
        count = each if count == 1 else f"({count})*({each})"
    values = ops.reshape(ops.expand(cast(values, x.dtype), lead + rest), [count] + rest)
    where = ops.reshape(cast(index, plait.i64), [count] + [1] * len(rest))
    return ops.scatter_add(x, ops.expand(where, [count] + rest), values, 0)


# ---- Attention, as PyTorch's CPU kernel has it: causal from the top left, log sum exp of the scores beside the result.

def scores(c: Context, q: plait.Tensor, k: plait.Tensor, causal: bool, mask: Any, scale: Any) -> plait.Tensor:
    """scale q k^T + mask in f32 or f64."""
    if not isinstance(q.shape[-1], int):
        raise Unsupported("attention over a symbolic head size")
    s = ops.matmul(q, ops.transpose(k, -1, -2))
    s = apply("mul", [s, float(q.shape[-1] ** -0.5 if scale is None else scale)])
    if causal:
        rows, columns = q.shape[-2], k.shape[-2]
        row_of = ops.unsqueeze(ops.iota(c.fusion, [rows], 0, plait.i64), [1])
        column_of = ops.unsqueeze(ops.iota(c.fusion, [columns], 0, plait.i64), [0])
        s = apply("where", [ops.le(column_of, row_of), s, -math.inf])
    if mask is not None:
        s = apply("where", [mask, s, -math.inf]) if mask.dtype == plait.bool_ else ops.add(s, cast(mask, s.dtype))
    return s


def wide(x: plait.Tensor) -> plait.Tensor:
    return cast(x, plait.f32) if x.dtype in (plait.f16, plait.bf16) else x


@row(aten._scaled_dot_product_flash_attention_for_cpu.default)
def _(c, q, k, v, dropout=0.0, causal=False, attn_mask=None, scale=None):
    if dropout:
        raise Unsupported("attention with dropout")
    out = ops.scaled_dot_product_attention(q, k, v, attn_mask, causal, scale)
    s = scores(c, wide(q), wide(k), causal, attn_mask, scale)
    return out, cast(ops.logsumexp(s, [-1]), c.dtype(1))


@row(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def _(c, grad, q, k, v, out, lse, dropout, causal, attn_mask=None, scale=None):
    if dropout:
        raise Unsupported("attention with dropout")
    q, k, v, out, grad, lse = (wide(each) for each in (q, k, v, out, grad, lse))
    factor = float(q.shape[-1] ** -0.5 if scale is None else scale)
    p = ops.exp(ops.sub(scores(c, q, k, causal, attn_mask, scale), ops.unsqueeze(lse, [-1])))
    grad_v = ops.matmul(ops.transpose(p, -1, -2), grad)
    grad_p = ops.matmul(grad, ops.transpose(v, -1, -2))
    grad_s = ops.mul(p, ops.sub(grad_p, ops.sum(ops.mul(grad, out), [-1], True)))
    grad_q = apply("mul", [ops.matmul(grad_s, k), factor])
    grad_k = apply("mul", [ops.matmul(ops.transpose(grad_s, -1, -2), q), factor])
    return tuple(cast(each, c.dtype(i)) for i, each in enumerate((grad_q, grad_k, grad_v)))
