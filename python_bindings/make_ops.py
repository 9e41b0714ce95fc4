#!/usr/bin/env python3
"""Writes plait/ops.py: a function for every op that users write, from the tables of docs/ops.md, which come from the
ops' declarations. Usage: make_ops.py OPS_MD OUTPUT"""
import keyword
import pathlib
import re
import sys
import textwrap

# PyTorch's defaults of the functions that have some, by operand.
DEFAULTS = {
    "leaky_relu": {"y": 0.01}, "elu": {"y": 1.0}, "celu": {"y": 1.0}, "hardtanh": {"y": -1.0, "z": 1.0},
    "hardshrink": {"y": 0.5}, "softshrink": {"y": 0.5},
}
# Types of attributes by name; the others are integers.
TYPES = {
    "dims": "Sequence[int]", "shifts": "Sequence[int]", "repeats": "Sequence[int]", "shape": "Sequence[Extent]",
    "low": "Sequence[Extent]", "high": "Sequence[Extent]", "start": "Extent", "stop": "Extent", "rows": "Extent",
    "columns": "Extent", "classes": "Extent", "keepdim": "bool", "exclusive": "bool", "reverse": "bool",
    "interleaved": "bool", "causal": "bool", "value": "float", "p": "float", "eps": "float", "smoothing": "float",
    "scale": "float", "dtype": "Any", "to": "Any", "reduction": "str", "approx": "str",
}
INTEGER_DIMS = ("layer_norm", "rms_norm")  # `dims` is a count there
NO_OPERANDS = ("full", "iota", "size", "eye", "uniform", "normal")
HEAD = '''"""Every op: a function adds it to the fusion of its operands and returns the result. Made from the tables of
docs/ops.md. All raise plait.UserError for what the op refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait._emit import Extent, dtype as _dtype, emit as _emit
from plait._plait import Fusion, Tensor, apply as _apply
'''


def python_name(name):
    return "x" if name == "in" else name + "_" if keyword.iskeyword(name) else name


def tables(text, mark):
    """Rows of the tables behind a mark, cells by column."""
    part = text.split(f"<!-- generated: tests/docs/{mark} -->")[1].split("<!-- end -->")[0]
    section = ""
    for line in part.splitlines():
        if line.startswith("### "):
            section = line[4:]
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].startswith("`"):
            yield section, cells


def docstring(*parts):
    text = " ".join(part.strip() for part in parts if part.strip()).replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.wrap(text.replace("`in`", "`x`"), 112)
    end = " " if text.endswith(chr(34)) else ""
    return '    """' + "\n    ".join(lines) + end + '"""\n'


def pointwise(cells):
    call, rule, meaning, special, error = cells[:5]
    name, operands = re.match(r"`(\w+)\((.*?)\)`", call).groups()
    names = [each.strip() for each in operands.split(",")]
    names = [each for each in names if "=" not in each]
    if name in ("cast", "where", "gelu"):
        return ""
    operands = ", ".join(f"{each}: Operand = {DEFAULTS[name][each]!r}" if each in DEFAULTS.get(name, {})
                         else f"{each}: Operand" for each in names)
    doc = docstring(meaning + ".", f"Special: {special}." if special else "", f"Types: {rule}.",
                    f"Error: {error} ulp.")
    return f"\n\ndef {python_name(name)}({operands}) -> Tensor:\n{doc}    return _apply({name!r}, [{', '.join(names)}])\n"


def attribute(op, word, spelled):
    """Signature and value of an attribute: `[eps = 1e-5]`, `dims`."""
    optional = word.startswith("[")
    name, _, value = word.strip("[]").partition(" = ")
    kind = "int" if name == "dims" and op in INTEGER_DIMS else TYPES.get(name, "int")
    given = python_name(name)
    passed = f"_dtype({given})" if name in ("dtype", "to") else given
    spelled.append(f"{name!r}: {passed}")
    return f"{given}: {kind} | None = None" if optional else f"{given}: {kind}"


def function(op, words, meaning):
    required, optional, operands, spelled = [], [], [], []
    variadic = ""
    for word in words:
        bare = word.strip("[]")
        if bare.endswith("..."):
            variadic = "tensors"
            required.append(f"{variadic}: Sequence[Tensor]")
        elif bare.startswith("%"):
            name = python_name(bare[1:])
            operands.append(name)
            (optional if word.startswith("[") else required).append(
                f"{name}: Tensor | None = None" if word.startswith("[") else f"{name}: Tensor")
        elif "= %" in bare:
            name = bare.partition(" = ")[0]
            spelled.append(f"{name!r}: {name}")
            (optional if word.startswith("[") else required).append(
                f"{name}: Tensor | None = None" if word.startswith("[") else f"{name}: Tensor")
        else:
            (optional if word.startswith("[") else required).append(attribute(op, word, spelled))
    fusion = ""
    if op in NO_OPERANDS and not any("seed" in each for each in required):
        required.insert(0, "fusion: Fusion")
        fusion = ", fusion"
    given = variadic or f"[{', '.join(operands)}]"
    defaults = [word.strip("[]") for word in words if word.startswith("[") and " = " in word and "%" not in word]
    doc = docstring(meaning, f"Left out: {', '.join(defaults)}." if defaults else "")
    return (f"\n\ndef {python_name(op)}({', '.join(required + optional)}) -> Tensor:\n{doc}"
            f"    return _emit({op!r}, {given}, {{{', '.join(spelled)}}}{fusion})\n")


def split_arguments(text):
    return [each.strip() for each in re.findall(r"\[[^\]]*\]|[^,\[\]]+", text) if each.strip()]


EXTRA = '''

Operand = Tensor | float | int


def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """a where the condition (bool) holds, else b. A number takes the dtype of the other choice."""
    return _apply("where", [condition, a, b])


def cast(x: Tensor, to: Any) -> Tensor:
    """x as another dtype, rounded once."""
    return _emit("cast", [x], {"to": _dtype(to)})


def gelu(x: Tensor, approx: str = "none") -> Tensor:
    """x Phi(x); approx = "tanh": x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3)."""
    return _emit("gelu", [x], {"approx": approx})


def transpose(x: Tensor, a: int, b: int) -> Tensor:
    """permute that swaps two dims."""
    dims = list(range(x.rank))
    dims[a], dims[b] = dims[b], dims[a]
    return permute(x, dims)


def var_mean(x: Tensor, dims: Sequence[int] | None = None, correction: int | None = None,
             keepdim: bool | None = None) -> tuple[Tensor, Tensor]:
    """(var, mean) over `dims`."""
    return var(x, dims, correction, keepdim), mean(x, dims, keepdim)
'''


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    out, names = HEAD + EXTRA, ["cast", "gelu", "transpose", "var_mean", "where"]
    for _, cells in tables(text, "pointwise_table"):
        out += pointwise(cells)
        names.append(re.match(r"`(\w+)", cells[0]).group(1))
    for section, cells in tables(text, "op_table"):
        if section == "Communication":
            continue
        for call in re.findall(r"`(\w+)\((.*?)\)`(?:<br>|$)", cells[0]):
            out += function(call[0], split_arguments(call[1]), cells[1])
            names.append(call[0])
    out += "\n\n__all__ = [\n" + "".join(f'    "{python_name(name)}",\n' for name in sorted(set(names))) + "]\n"
    pathlib.Path(sys.argv[2]).write_text(out)


main()
