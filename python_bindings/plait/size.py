"""Extents that have names."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import Any

from plait import _plait
from plait.errors import UserError


def _written(value: Any, beside: str) -> str | None:
    """The text of a whole number or of sizes; None where it is left to the other side."""
    if isinstance(value, str):
        try:
            _plait._size(value)
        except UserError as error:
            raise TypeError(f"{value!r} is no size to compute with beside `{beside}` ({error.what}): "
                            "f-strings make texts with sizes in them") from None
        return value
    try:
        return str(operator.index(value))
    except TypeError:
        return None


def _made(form: str, a: Any, b: Any) -> Any:
    """form of a and b, in its canonical text: a Size, or an int where no name is left."""
    beside = str(a if isinstance(a, Size) else b)
    words = _written(a, beside), _written(b, beside)
    if None not in words:
        return _plait._size(form.format(*words))
    if isinstance(b if isinstance(a, Size) else a, numbers.Number):
        raise TypeError(_no_number(beside))
    return NotImplemented


def _divided(form: str, a: Any, b: Any) -> Any:
    if isinstance(b, numbers.Integral) and b < 1:
        raise ValueError(f"`{a}` is divided by {b}: sizes are divided by 1 and more")
    return _made(form, a, b)


def _no_number(text: str) -> str:
    return (f"`{text}` is a size, a number only when a program runs: + - * // % with sizes and integers make sizes of it, "
            f"plait.ops.size({text!r}, plait.f32) makes a tensor of its value, and so does an operator beside a tensor")


class Size(str):
    """The extent of a dim that has a name: its text, as `"n"` or `"2*n + 1"`, equal to that text and taken wherever it is.
    `+ - * // %` with integers, sizes and texts of sizes make sizes, or an integer where no name is left; beside a tensor
    it is a tensor of its value. All that needs the number raises TypeError."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's integers leave it to the operators here
    __hash__ = str.__hash__

    def __new__(cls, text: str) -> Size:
        return super().__new__(cls, text)

    def __add__(self, other: int | str) -> int | Size:  # type: ignore[override]
        return _made("({}) + ({})", self, other)

    def __radd__(self, other: int | str) -> int | Size:  # type: ignore[misc]
        return _made("({}) + ({})", other, self)

    def __sub__(self, other: int | str) -> int | Size:
        return _made("({}) - ({})", self, other)

    def __rsub__(self, other: int | str) -> int | Size:
        return _made("({}) - ({})", other, self)

    def __mul__(self, other: int | str) -> int | Size:  # type: ignore[override]
        return _made("({}) * ({})", self, other)

    def __rmul__(self, other: int | str) -> int | Size:  # type: ignore[override]
        return _made("({}) * ({})", other, self)

    def __floordiv__(self, other: int | str) -> int | Size:
        return _divided("floordiv({}, {})", self, other)

    def __rfloordiv__(self, other: int | str) -> int | Size:
        return _divided("floordiv({}, {})", other, self)

    def __mod__(self, other: int | str) -> int | Size:  # type: ignore[override]
        return _divided("mod({}, {})", self, other)

    def __rmod__(self, other: int | str) -> Any:
        if isinstance(other, str) and "%" in other:  # no size has one
            return other % str(self)
        return _divided("mod({}, {})", other, self)

    def __neg__(self) -> int | Size:
        return _made("({}) - ({})", 0, self)

    def __pos__(self) -> Size:
        return self


def _refusal(word: str) -> Callable[..., Any]:
    def refuse(self: Size, *others: Any) -> Any:
        if any(isinstance(each, _plait.Tensor) for each in others):
            return NotImplemented
        raise TypeError(_no_number(str(self)))

    refuse.__name__ = f"__{word}__"
    return refuse


for _word in ("truediv", "rtruediv", "pow", "rpow", "divmod", "rdivmod", "lshift", "rlshift", "rshift", "rrshift", "and",
              "rand", "or", "ror", "xor", "rxor", "lt", "le", "gt", "ge", "int", "float", "complex", "index", "round",
              "trunc", "floor", "ceil", "abs", "invert"):
    setattr(Size, f"__{_word}__", _refusal(_word))
