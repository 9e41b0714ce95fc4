"""Ops as statements of the text form (docs/ir.md), for the functions of plait.ops."""

from __future__ import annotations

import contextlib
import contextvars
import difflib
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from plait import _plait
from plait.errors import UserError

Extent = int | str
_P = ParamSpec("_P")
_R = TypeVar("_R")
_TRACED: contextvars.ContextVar[_plait.Fusion | None] = contextvars.ContextVar("plait_traced", default=None)


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or what there is."""
    known = list(known)
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean `{close[0]}`?" if close else f"; there are {', '.join(known)}"


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, with a sentence for a keyword that it does not have and for arguments too many."""
    parameters = inspect.signature(function).parameters
    known = list(parameters)
    placed = [each for each in parameters.values() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    any_number = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in placed)

    @functools.wraps(function)
    def call(*args: _P.args, **named: _P.kwargs) -> _R:
        for word in named:
            if word not in known:
                raise TypeError(f"{function.__name__}() has no parameter `{word}`{nearest(word, known)}")
        if len(args) > len(placed) and not any_number:
            raise TypeError(f"{function.__name__}() takes {', '.join(each.name for each in placed)}, and {len(args)} were given"
                            f"{_as_list(placed, args)}")
        return function(*args, **named)

    return call


def _as_list(placed: Sequence[inspect.Parameter], args: Sequence[Any]) -> str:
    """What is said of numbers that stand where a list of them does."""
    at = next((i for i, each in enumerate(placed) if "Sequence" in str(each.annotation)), len(args))
    alone = all(isinstance(each, (int, str)) for each in args[at:])
    return f": several numbers are one list, {placed[at].name}={list(args[at:])}" if at < len(args) and alone else ""


class Creation(Protocol[_P]):
    """A function of an op without tensors: its fusion may come first."""

    @overload
    def __call__(self, fusion: _plait.Fusion, /, *args: _P.args, **named: _P.kwargs) -> _plait.Tensor: ...
    @overload
    def __call__(self, *args: _P.args, **named: _P.kwargs) -> _plait.Tensor: ...


def creating(function: Callable[_P, _plait.Tensor]) -> Creation[_P]:
    """The function, checked, that takes its keyword `fusion` as the first argument too."""
    call = checked(function)

    @functools.wraps(function)
    def create(*args: Any, **named: Any) -> _plait.Tensor:
        if args and isinstance(args[0], _plait.Fusion):
            return call(*args[1:], fusion=args[0], **named)  # type: ignore[arg-type]
        return call(*args, **named)

    return create  # type: ignore[return-value]


@contextlib.contextmanager
def tracing(fusion: _plait.Fusion) -> Iterator[None]:
    """Ops without tensors are of this fusion, in this thread."""
    token = _TRACED.set(fusion)
    try:
        yield
    finally:
        _TRACED.reset(token)


def traced(op: str, fusion: _plait.Fusion | None) -> _plait.Fusion:
    """The fusion of an op without tensors: the one given, or the one that is traced."""
    fusion = _TRACED.get() if fusion is None else fusion
    if fusion is None:
        raise UserError(f"{op} has no tensor that tells its fusion", op,
                        f"give the fusion, plait.ops.{op}(f, ...); in a function of plait.jit it is the one that is traced")
    return fusion


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, _plait.DType):
        return value.name.rstrip("_")
    if isinstance(value, _plait.Tensor):
        return "%" + value.name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_word(each) for each in value) + "]"
    return str(value)


def emit(op: str, operands: Sequence[_plait.Tensor | None], attributes: dict[str, Any],
         fusion: _plait.Fusion | None = None) -> _plait.Tensor:
    """Adds an op with one result to the fusion of its operands. What is None is left out."""
    return emit_all(op, operands, attributes, fusion)[0]


def emit_all(op: str, operands: Sequence[_plait.Tensor | None], attributes: dict[str, Any],
             fusion: _plait.Fusion | None = None) -> tuple[_plait.Tensor, ...]:
    """Adds an op to the fusion of its operands: its results. What is None is left out."""
    words = []
    for operand in operands:
        if operand is None:
            continue
        if not isinstance(operand, _plait.Tensor):
            raise UserError(f"{operand!r} is no tensor", op, "give a tensor of the fusion")
        fusion = _same(op, fusion, operand)
        words.append("%" + operand.name)
    for name, value in attributes.items():
        if value is None:
            continue
        if isinstance(value, _plait.Tensor):
            fusion = _same(op, fusion, value)
        words.append(f"{name} = {_word(value)}")
    if fusion is None:
        raise UserError(f"{op} has no operand", op, "give at least one tensor")
    results = fusion.statement(f"{op}({', '.join(words)})")
    return results if isinstance(results, tuple) else (results,)


def _same(op: str, fusion: _plait.Fusion | None, tensor: _plait.Tensor) -> _plait.Fusion:
    if fusion is not None and not fusion.owns(tensor):
        raise UserError(f"%{tensor.name} is of another fusion", op, "use the tensors of one fusion")
    return fusion or tensor.fusion


def dims(value: int | Sequence[int] | None) -> Sequence[int] | None:
    """Dims as a list, also where one is given alone."""
    return [value] if isinstance(value, int) else value


def dtype(value: Any) -> _plait.DType | None:
    return None if value is None else _plait.dtype(value)
