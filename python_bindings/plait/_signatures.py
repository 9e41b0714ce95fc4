"""Signatures of the extension's functions for `inspect.signature` and what is built on it (`help`, notebooks)."""

from __future__ import annotations

import ast
import gc
import inspect
import re
from typing import Any

from plait import _plait

_EMPTY = inspect.Parameter.empty


def _value(node: ast.expr | None, defaults: tuple[Any, ...]) -> Any:
    if node is None:
        return _EMPTY
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_default":
        return defaults[ast.literal_eval(node.args[0])]
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _annotation(node: ast.expr | None) -> Any:
    return _EMPTY if node is None else ast.unparse(node).removeprefix("plait._plait.")


def signature_of(function: Any) -> inspect.Signature:
    """Of a function of the extension, or of its first overload; annotations are text, as in its stub."""
    text, _, defaults = function.__nb_signature__[0]
    text = re.sub(r"\\(\d+)", r"_default(\1)", text)
    made = ast.parse(text + ": ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    given = made.args
    parameters = []

    def add(argument: ast.arg, kind: Any, default: ast.expr | None = None) -> None:
        parameters.append(inspect.Parameter(argument.arg, kind, default=_value(default, defaults or ()),
                                            annotation=_annotation(argument.annotation)))

    placed = [*given.posonlyargs, *given.args]
    missing = len(placed) - len(given.defaults)
    for i, argument in enumerate(placed):
        kind = inspect.Parameter.POSITIONAL_ONLY if i < len(given.posonlyargs) else inspect.Parameter.POSITIONAL_OR_KEYWORD
        add(argument, kind, given.defaults[i - missing] if i >= missing else None)
    if given.vararg:
        add(given.vararg, inspect.Parameter.VAR_POSITIONAL)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        add(argument, inspect.Parameter.KEYWORD_ONLY, default)
    if given.kwarg:
        add(given.kwarg, inspect.Parameter.VAR_KEYWORD)
    return inspect.Signature(parameters, return_annotation=_annotation(made.returns))


def _without_self(bound: Any) -> inspect.Signature:
    signature = signature_of(bound)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


class _OfClassAndCall:
    """`__signature__` of a class whose objects are called: what inspect asks of the class, and of an object."""

    def __init__(self, made: inspect.Signature, call: inspect.Signature):
        self._made, self._call = made, call

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature:
        return self._made if instance is None else self._call


def _begin() -> None:
    method = vars(_plait.Program)["run"]
    for kind, made in ((type(_plait.compile), signature_of), (type(method), signature_of),
                       (type(method.__get__(object.__new__(object), object)), _without_self)):
        (space,) = (each for each in gc.get_referents(vars(kind)) if isinstance(each, dict))  # nanobind's types are closed
        space["__signature__"] = property(made)
        _plait._type_changed(kind)
    for each in vars(_plait).values():
        if isinstance(each, type) and each is not _plait.DType:
            init = vars(each).get("__init__")  # those that only plait makes have none, and take nothing
            made = _without_self(init) if isinstance(init, type(method)) else inspect.Signature()
            call = vars(each).get("__call__")
            each.__signature__ = made if call is None else _OfClassAndCall(made, _without_self(call))  # type: ignore[attr-defined]


_begin()
