"""Symbolic sizes of PyTorch (sympy) as extents of plait."""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch


class Unsupported(Exception):
    """A node that stays eager, with the reason."""


class Refused(Unsupported):
    """A node that would be in a fusion alone, but not in this one."""

    def __init__(self, node: torch.fx.Node, why: str):
        super().__init__(why)
        self.node = node


class MissingSizes(Unsupported):
    """Tensors of a fusion have sizes that none of its arguments is."""

    def __init__(self, symbols: list[str]):
        super().__init__(f"no argument is the size {', '.join(symbols)}")
        self.symbols = symbols


_same: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()  # by ShapeEnv: symbols, and what they are


def same_as(env: Any, expr: Any, other: Any = None) -> Any:
    """A sympy expression with one name for what is equal; with `other`, the symbol `expr` is that from now on."""
    known = _same.setdefault(env, {})
    if other is not None:
        known[expr] = other
    for _ in range(len(known) + 1):
        before, expr = expr, env.replace(expr.xreplace(known))
        if expr == before:
            break
    return expr


def expression(size: torch.SymInt) -> Any:
    return same_as(size.node.shape_env, size.node.expr)


def extent(value: Any) -> int | str:
    """An int, or the text of a size."""
    if isinstance(value, torch.fx.Node):
        value = value.meta["val"]
    if isinstance(value, int):
        return value
    if isinstance(value, torch.SymInt):
        expr = expression(value)
        return int(expr) if expr.is_number else text(expr)
    raise Unsupported(f"{value!r} is no size")


def extents(values: Any) -> list[int | str]:
    return [extent(value) for value in values]


def text(expr: Any) -> str:
    """A sympy expression in plait's words."""
    kind = type(expr).__name__
    if expr.is_Integer:
        return str(int(expr))
    if expr.is_Symbol:
        return str(expr)
    words = [text(arg) for arg in expr.args]
    if expr.is_Add:
        return "(" + " + ".join(words) + ")"
    if expr.is_Mul:
        return "*".join(words)
    if expr.is_Pow and expr.args[1].is_Integer and 0 < int(expr.args[1]) < 8:
        return "*".join([words[0]] * int(expr.args[1]))
    if kind in ("FloorDiv", "CleanDiv"):
        return f"floordiv({words[0]}, {words[1]})"
    if kind in ("Mod", "PythonMod"):
        return f"mod({words[0]}, {words[1]})"
    if kind in ("Max", "Min"):
        return f"{kind.lower()}({', '.join(words)})"
    raise Unsupported(f"the size {expr}")


def symbols(value: Any) -> set[str]:
    """Names of the symbols in a size."""
    if isinstance(value, torch.fx.Node):
        value = value.meta["val"]
    if isinstance(value, torch.SymInt):
        return {str(symbol) for symbol in expression(value).free_symbols}
    return set()


def promised(size: torch.SymInt, symbol: Any) -> bool:
    """Whether PyTorch's guards keep a symbol of a number at 0 or above, as they keep sizes."""
    span = size.node.shape_env.var_to_range.get(symbol)
    return span is not None and bool(span.lower.is_Integer) and int(span.lower) >= 0


def _factor(size: torch.SymInt, symbol: Any) -> int:
    """What PyTorch's guards say that a symbol is a multiple of."""
    divisors = [each.args[1] for each in size.node.shape_env.divisible if each.args[0] == symbol]
    return math.lcm(*(int(each) for each in divisors if each.is_Integer and int(each) > 0))


def facts(nodes: Any) -> str:
    """What PyTorch's guards promise of the sizes of some nodes: `s3: 1 in 2..`."""
    rows = {}
    for node in nodes:
        value = node.meta.get("val")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            for size in [each] if isinstance(each, torch.SymInt) else getattr(each, "shape", ()):
                if not isinstance(size, torch.SymInt):
                    continue
                for symbol in expression(size).free_symbols:
                    span = size.node.shape_env.var_to_range.get(symbol)
                    if span is None or not promised(size, symbol):
                        continue
                    high = int(span.upper) if span.upper.is_Integer else 2**63
                    rows[str(symbol)] = f"{symbol}: {_factor(size, symbol)} in {int(span.lower)}..{'' if high > 2**62 else high}"
    return ", ".join(rows[name] for name in sorted(rows))
