"""What rows of the table are made of. A row takes the lowering context and the node's arguments, in which tensors are
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
from plait.torch.sizes import Unsupported, expression, extent, extents, promised

aten, prims = torch.ops.aten, torch.ops.prims

DTYPES = {
    torch.bool: plait.bool_, torch.int8: plait.i8, torch.int16: plait.i16, torch.int32: plait.i32,
    torch.int64: plait.i64, torch.uint8: plait.u8, torch.float16: plait.f16, torch.bfloat16: plait.bf16,
    torch.float32: plait.f32, torch.float64: plait.f64, torch.float8_e4m3fn: plait.f8e4m3, torch.float8_e5m2: plait.f8e5m2,
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


SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool, torch.fx.Node)


class Context:
    """One node in lowering: its fusion, and what PyTorch says of its operands and result."""

    def __init__(self, fusion: plait.Fusion, node: torch.fx.Node, indices: dict[str, tuple[str, ...]]):
        self.fusion = fusion
        self.node = node
        self.indices = indices  # by name, tensors that rows make of indices, and the tensors that they were

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


def number(value: Any, what: str) -> int:
    """An attribute that plait needs as a number when it compiles."""
    if isinstance(value, torch.fx.Node):
        value = value.meta["val"]
    if isinstance(value, torch.SymInt):
        size = extent(value)
        if isinstance(size, int):
            return size
        raise Unsupported(f"the {what} is {size}, which differs from call to call, and plait compiles it as a number")
    return int(value)


def constant(value: Any, to: plait.DType) -> Any:
    """A number as an operand beside a tensor of that dtype; what overflows a float is infinite, as in PyTorch."""
    if isinstance(value, SYMBOLIC):
        value = value.meta["val"] if isinstance(value, torch.fx.Node) else value
        raise Unsupported(f"the number {value}, which differs from call to call, as this operand")
    if to == plait.bool_:
        return int(bool(value))
    largest = {plait.f16: 65504.0, plait.bf16: 3.3895313892515355e38, plait.f32: 3.4028234663852886e38}.get(to)
    if largest is not None and isinstance(value, (int, float)) and math.isfinite(value) and abs(value) > largest * 1.0001:
        return math.copysign(math.inf, value)
    return float(value) if to in (plait.f16, plait.bf16, plait.f32, plait.f64) else value


def operand(c: Context, value: Any, to: plait.DType) -> Any:
    """A tensor in that dtype, or a number beside tensors of it: of sizes too."""
    if isinstance(value, plait.Tensor):
        return cast(value, to)
    if not isinstance(value, SYMBOLIC):
        return constant(value, to)
    number = value.meta["val"] if isinstance(value, torch.fx.Node) else value
    if not isinstance(number, torch.SymInt) or to not in (plait.i64, plait.f32, plait.f64):
        raise Unsupported(f"the number {number} as an operand of {to}")
    if not all(promised(number, symbol) for symbol in expression(number).free_symbols):
        raise Unsupported(f"the number {number}, which may be below 0, as an operand")
    return ops.size(c.fusion, str(extent(number)), to)


def raw(c: Context, index: int) -> Any:
    """What PyTorch knows of an argument: its fake tensor, or the number."""
    value = c.node.args[index]
    return value.meta["val"] if isinstance(value, torch.fx.Node) else value


def promoted(c: Context, operands: Sequence[Any], kind: Kind) -> list[Any]:
    """Operands in the dtype that PyTorch's promotion gives them; of comparisons that in which they are compared."""
    values = [value for value in (raw(c, i) for i in range(len(operands))) if value is not None]
    _, result = elementwise_dtypes(*values, type_promotion_kind=Kind.DEFAULT if kind == Kind.ALWAYS_BOOL else kind)
    to = dtype(result)
    return [operand(c, x, to) for x in operands]


def apply(name: str, operands: Sequence[Any]) -> plait.Tensor:
    return plait._plait.apply(name, list(operands))


def tensor_like(c: Context, x: Any, to: plait.DType) -> plait.Tensor:
    made = operand(c, x, to)
    return made if isinstance(made, plait.Tensor) else ops.full(c.fusion, [], made, to)


def wide(x: plait.Tensor) -> plait.Tensor:
    return cast(x, plait.f32) if x.dtype in (plait.f16, plait.bf16) else x
