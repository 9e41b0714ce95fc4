"""Rows of the table: ops element by element."""

from __future__ import annotations

import math
from typing import Any

import torch._inductor.inductor_prims  # noqa: F401: registers prims.fma
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Kind

import plait
from plait import ops
from plait.torch.rows import (
    TABLE, Context, apply, aten, cast, constant, operand, prims, promoted, row, tensor_like, wide,
)
from plait.torch.sizes import Unsupported

# ---- Pointwise functions under one name.

DEFAULT, TO_FLOAT, TO_BOOL = Kind.DEFAULT, Kind.INT_TO_FLOAT, Kind.ALWAYS_BOOL


# What ops of numbers are of bool, which plait refuses.
OF_BOOL = {"max": ops.logical_or, "fmax": ops.logical_or, "min": ops.logical_and, "fmin": ops.logical_and,
           "sign": ops.set, "relu": ops.set, "abs": ops.set}


def pointwise(overload: Any, name: str, kind: Kind) -> None:
    def lower(c: Context, *operands: Any, **words: Any) -> plait.Tensor:
        if words:
            raise Unsupported(f"the arguments {', '.join(words)}")
        operands = promoted(c, operands, kind)
        if kind == DEFAULT and c.dtype() == plait.bool_ and name in OF_BOOL:
            return OF_BOOL[name](*(tensor_like(c, each, plait.bool_) for each in operands))
        return apply(name, operands)

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
TABLE[aten.sgn.default] = TABLE[aten.sign.default]
pointwise(aten.atan2.default, "atan2", TO_FLOAT)
for _name, _ours in (("copysign", "copysign"), ("xlogy", "xlogy")):
    for _overload in ("Tensor", "Scalar", "Scalar_Self", "Scalar_Other"):
        if hasattr(getattr(aten, _name), _overload):
            pointwise(getattr(getattr(aten, _name), _overload), _ours, TO_FLOAT)
for _name, _ours in (("bitwise_left_shift", "shift_left"), ("bitwise_right_shift", "shift_right")):
    for _overload in ("Tensor", "Tensor_Scalar", "Scalar_Tensor"):
        pointwise(getattr(getattr(aten, _name), _overload), _ours, DEFAULT)
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
        return apply("floor_divide", [apply("sub", [x, apply("fmod", [x, y])]), y])
    return ops.trunc(apply("div", [x, y]))


@row(aten.floor_divide.default)
def _(c, x, y):
    return apply("floor_divide", promoted(c, [x, y], DEFAULT))


@row(aten.pow.Tensor_Tensor, aten.pow.Tensor_Scalar, aten.pow.Scalar)
def _(c, x, y):
    if isinstance(y, (int, float)) and isinstance(x, plait.Tensor):
        x = cast(x, c.dtype())
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
        if bound is not None and to == plait.bool_:
            x = OF_BOOL[name](x, tensor_like(c, bound, to))
        elif bound is not None:
            x = apply(name, [x, operand(c, bound, to)])
    return x


@row(aten.gelu.default)
def _(c, x, approximate="none"):
    return ops.gelu(x, approximate)


@row(aten.leaky_relu.default)
def _(c, x, slope=0.01):
    return ops.leaky_relu(x, slope)


@row(aten.elu.default)
def _(c, x, alpha=1, scale=1, input_scale=1):
    if scale == 1 and input_scale == 1:
        return ops.elu(x, alpha)
    to, x = x.dtype, wide(x)
    negative = apply("mul", [ops.expm1(apply("mul", [x, float(input_scale)])), float(alpha * scale)])
    return cast(apply("where", [ops.le(x, 0), negative, apply("mul", [x, float(scale)])]), to)


@row(aten.angle.default)
def _(c, x):
    x = cast(x, c.dtype())
    turned = apply("where", [ops.lt(x, 0), constant(math.pi, x.dtype), ops.full(c.fusion, [], 0, x.dtype)])
    return apply("where", [ops.isnan(x), x, turned])


@row(aten.round.decimals)
def _(c, x, decimals=0):
    if x.dtype not in (plait.f16, plait.bf16, plait.f32, plait.f64):
        raise Unsupported("decimals of integers")
    to, x, ten = x.dtype, wide(x), float(10 ** abs(decimals))
    first, last = ("mul", "div") if decimals > 0 else ("div", "mul")
    return cast(apply(last, [ops.round(apply(first, [x, ten])), ten]), to)


@row(aten.hardtanh.default)
def _(c, x, low=-1, high=1):
    return apply("min", [apply("max", [x, constant(low, x.dtype)]), constant(high, x.dtype)])


@row(aten._to_copy.default, prims.convert_element_type.default)
def _(c, x, to=None, dtype=None, **words):
    if x.dtype == plait.f64 and c.dtype() in (plait.f8e4m3, plait.f8e5m2):  # PyTorch goes by f32
        x = cast(x, plait.f32)
    return cast(x, c.dtype())


TABLE[aten.to.dtype] = TABLE[aten._to_copy.default]


@row(aten.addcmul.default)
def _(c, x, a, b, value=1):
    a, b = (cast(each, c.dtype()) for each in (a, b))
    product = ops.mul(a, b)
    return ops.add(cast(x, c.dtype()), product if value == 1 else apply("mul", [product, constant(value, c.dtype())]))


@row(*([prims.fma.default] if hasattr(prims, "fma") else []))  # what Dynamo makes of addcmul_ from PyTorch 2.13 on
def _(c, a, b, x):
    return apply("fma", [operand(c, each, c.dtype()) for each in (a, b, x)])


@row(aten.addcdiv.default)
def _(c, x, a, b, value=1):
    quotient = ops.div(cast(a, c.dtype()), cast(b, c.dtype()))
    return ops.add(cast(x, c.dtype()), quotient if value == 1 else apply("mul", [quotient, constant(value, c.dtype())]))


@row(aten.ldexp.Tensor)
def _(c, x, y):
    to = c.dtype()
    return ops.mul(cast(x, to), apply("pow", [2.0, cast(y, to)]))


@row(aten.lerp.Scalar, aten.lerp.Tensor)
def _(c, x, y, weight):
    return apply("lerp", [x, y, weight if isinstance(weight, plait.Tensor) else constant(weight, x.dtype)])
