#!/usr/bin/env python3
"""Writes plait/ops.py: a function for every op that users write, with the parameters that the schema of its fields has
(plait_op_schema) and the words of docs/ops.md; those whose first operand is `x` are methods of Tensor too, whose types
are written for the stub of the extension (a pattern file of nanobind).
Usage: make_ops.py SCHEMA_JSON OPS_MD OUTPUT PATTERNS"""
import json
import keyword
import pathlib
import re
import sys
import textwrap

from op_tables import tables

# PyTorch's defaults of the functions that have some, by operand.
DEFAULTS = {
    "leaky_relu": {"y": 0.01}, "elu": {"y": 1.0}, "celu": {"y": 1.0}, "hardtanh": {"y": -1.0, "z": 1.0},
    "hardshrink": {"y": 0.5}, "softshrink": {"y": 0.5},
}
# Python's types of the schema's.
TYPES = {
    "tensor": "Tensor", "tensors": "Sequence[Tensor]", "bool": "bool", "int": "int", "ints": "Sequence[int]",
    "extent": "Extent", "extents": "Sequence[Extent]", "float": "float", "constant": "float", "dtype": "Any",
    "reduction": "str", "bounds": "str", "update": "str",
}
DIMS_TYPE = "int | Sequence[int]"  # of attributes `dims`
# What is refused of an attribute, by name.
DIM, DIMS = "a dim that is not there", "a dim that is not there or named twice"
LENGTH = "another number of {} than of dims"
REFUSED = {
    "dim": DIM, "dims": DIMS, "shape": "a shape that does not fit", "shifts": LENGTH.format("shifts"),
    "repeats": "fewer repeats than dims", "low": LENGTH.format("widths"), "high": "", "start": "", "stop": "",
    "step": "a step below 1", "rows": "a negative extent", "columns": "", "classes": "a negative extent", "keepdim": "",
    "exclusive": "", "reverse": "", "descending": "", "largest": "", "k": "a negative extent", "interleaved": "", "causal": "", "value": "", "p": "a NaN p", "eps": "a negative eps",
    "scale": "", "smoothing": "a smoothing outside of [0, 1]", "dtype": "what is no dtype",
    "reduction": "a reduction that is not none, mean or sum", "diagonal": "", "offset": "a negative offset",
    "correction": "a negative correction", "groups": "groups that do not divide the channels", "ignore_index": "",
    "sizes": "sizes that do not add up to the dim", "size": "a negative extent", "bounds": "bounds that are not check or assume",
    "update": "an update that is not set, add, max, min or mul",
    "to": "what is no dtype of the same size",
}
# Where an op's differs.
OF_OP = {
    ("layer_norm", "dims"): "more dims than x has", ("rms_norm", "dims"): "more dims than x has",
    ("size", "value"): "what is no whole number of sizes", ("full", "value"): "a value that the dtype lacks",
    ("dropout", "p"): "a p outside of [0, 1)", ("slice_update", "start"): "an update beyond the dim",
}
# What the stub leaves out: checkers would let every name pass.
OPEN = "^_plait\\.(Tensor|Array)\\.__(getattr|setitem)__$:\n\n"
METHODS = ("matmul",)  # besides those of an operand `x`
HEAD = '''"""Every op: a function adds it to the fusion of its operands and returns the result. Made from the schema of
their fields and the words of docs/ops.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plait._emit import Extent, checked as _checked, creating as _creating, dims as _dims, dtype as _dtype, emit as _emit
from plait._emit import emit_all as _emit_all, traced as _traced
from plait._names import unknown_op as _unknown_op
from plait._plait import Fusion, Tensor, apply as _apply
from plait.errors import UserError as _UserError
from plait.size import Size
'''


def python_name(name):
    return "x" if name == "in" else name + "_" if keyword.iskeyword(name) else name


def fail(text):
    sys.exit(f"make_ops.py: {text}")


def docstring(*parts, refused):
    text = " ".join(part.strip() for part in parts if part.strip())
    clauses = list(dict.fromkeys(clause for clause in refused if clause))
    said = f"Raises UserError for {', '.join(clauses[:-1])}{' or ' if clauses[1:] else ''}{clauses[-1]}."
    lines = [line for part in (text, said) for line in textwrap.wrap(part.replace("`in`", "`x`"), 112)]
    text = "\n    ".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'    """{text}"""\n'


def pointwise(cells, rules):
    call, rule, meaning, special, error = cells[:5]
    name, operands = re.match(r"`(\w+)\((.*?)\)`", call).groups()
    names = [each.strip() for each in operands.split(",")]
    names = [each for each in names if "=" not in each]
    if name in ("cast", "where", "gelu"):
        return ""
    defaults = DEFAULTS.get(name, {})
    operands = ", ".join(f"{each}: Operand = {defaults[each]!r}" if each in defaults else f"{each}: Operand"
                         for each in names)
    several = len(names) > 1
    taken, result = rules[rule]
    if not several:
        taken = taken.partition("; an integer beside")[0]
    promoted = "the promoted dtype" if several else "x's dtype"
    dtype = {"p": promoted, "the same": f"{promoted}, f32 for integers and bool", "bool": "bool"}[result]
    doc = docstring(meaning + ".", f"Special: {special}." if special else "", f"Operands: {taken}.",
                    f"Result: {dtype}; of {'the broadcast' if several else 'the same'} shape.", f"Error: {error} ulp.",
                    refused=["shapes that do not broadcast" if several else "",
                             "" if taken.split(",")[0] == "any" else "other dtypes", "operands without a tensor"])
    body = f"    return _apply({name!r}, [{', '.join(names)}])\n"
    return f"\n\n@_checked\ndef {python_name(name)}({operands}) -> Tensor:\n{doc}{body}"


def type_rules(text):
    """Operands and result by the name of a rule of the pointwise ops."""
    table = text.split("| rule | operands |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {rule: (taken, result) for rule, taken, _, result in rows}


def refusal_of(op, name, known):
    key = (op, name) if (op, name) in OF_OP else name
    if key not in OF_OP and key not in REFUSED:
        fail(f"nothing says what is refused of attribute `{name}` of `{op}`: write it in REFUSED")
    known.add(key)
    return OF_OP[key] if key in OF_OP else REFUSED[key]


def python_type(op, it):
    if it["type"] not in TYPES:
        fail(f"attribute `{it['name']}` of `{op}` is a {it['type']}: write its type in TYPES")
    return DIMS_TYPE if (it["name"], it["type"]) == ("dims", "ints") else TYPES[it["type"]]


def function(schema, meaning, known, with_all=False):
    """The function of an op; `with_all`: the one that returns all results of an op that is asked for them."""
    op, operands, spelled, refused, defaults = schema["name"], [], [], [], []
    required, optional = [], []
    variadic = ""
    parameters = [it for it in schema["parameters"] if it["name"] != schema.get("with")]  # a function of its own
    for it in parameters:
        name, role = python_name(it["name"]), it["role"]
        kind = python_type(op, it)
        if it["type"] == "tensors":
            name = variadic = "tensors"
        elif role in ("operand", "optional"):
            operands.append(name)
        elif it["type"] == "tensor":
            spelled.append(f"{it['name']!r}: {name}")
        else:
            passed = f"_dtype({name})" if kind == "Any" else f"_dims({name})" if kind == DIMS_TYPE else name
            spelled.append(f"{it['name']!r}: {passed}")
            refused.append(refusal_of(op, it["name"], known))
        left_out = role not in ("operand", "required")
        (optional if left_out else required).append(f"{name}: {kind} | None = None" if left_out else f"{name}: {kind}")
        if "initial" in it:
            defaults.append(f"{it['name']} = {it['initial']}")
    fusion, said, checked = "", "", "checked"
    if not any(it["type"].startswith("tensor") for it in parameters):
        optional.append("*, fusion: Fusion | None = None")
        fusion, checked = f", _traced({op!r}, fusion)", "creating"
        said = "`fusion`, which may come first too, is the one that plait.jit traces where it is left out."
        refused.append("no fusion where none is traced")
    else:
        refused.insert(0, "operands that are no tensors or do not fit")
    given = variadic or f"[{', '.join(operands)}]"
    results = schema["results"] or ["part", "..."]
    several = len(results) > 1 and (with_all or "with" not in schema)
    returned = f"Returns ({', '.join(results)})." if several else ""
    doc = docstring(meaning, said, returned, f"Left out: {', '.join(defaults)}." if defaults else "", refused=refused)
    if with_all:
        spelled.append(f"{schema['with']!r}: True")
    kind, emit = ("tuple[Tensor, ...]", "_emit_all") if several else ("Tensor", "_emit")
    name = f"{op}_{schema['with']}" if with_all else op
    return name, (f"\n\n@_{checked}\ndef {python_name(name)}({', '.join(required + optional)}) -> {kind}:\n{doc}"
                  f"    return {emit}({op!r}, {given}, {{{', '.join(spelled)}}}{fusion})\n")


EXTRA = '''

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise AttributeError(_unknown_op(name))


Operand = Tensor | float | int | Size


@_checked
def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """a where the condition (bool) holds, else b. A number takes the dtype of the other choice. Raises UserError for
    another condition, choices without a common type or shapes that do not broadcast."""
    return _apply("where", [condition, a, b])


@_checked
def cast(x: Tensor, to: Any) -> Tensor:
    """x as another dtype, rounded once. Raises UserError for what is no dtype."""
    return _emit("cast", [x], {"to": _dtype(to)})


@_checked
def gelu(x: Tensor, approx: str = "none") -> Tensor:
    """x Phi(x); approx = "tanh": x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3). Raises UserError for integers
    and bool or another approximation."""
    return _emit("gelu", [x], {"approx": approx})


@_checked
def einsum(equation: str, *tensors: Tensor) -> Tensor:
    """NumPy's einsum, its words in docs/ops.md. Raises UserError for operands that are no tensors and an equation that
    does not fit them."""
    if not isinstance(equation, str) or '"' in equation:
        raise _UserError(f"{equation!r} is no equation", "einsum", "write e.g. einsum('ij,jk->ik', a, b)")
    return _emit("einsum", tensors, {"equation": f'"{equation}"'})


@_checked
def transpose(x: Tensor, a: int, b: int) -> Tensor:
    """permute that swaps two dims. Raises UserError for a dim that is not there."""
    dims = list(range(x.rank))
    for dim in (a, b):
        if not -x.rank <= dim < x.rank:
            raise _UserError(f"there is no dim {dim} of %{x.name}: {x.type}", "transpose", f"x has {x.rank} dims")
    dims[a], dims[b] = dims[b], dims[a]
    return permute(x, dims)
'''


def methods(functions, names):
    """(what makes methods of functions, their types and words in the stub of Tensor)."""
    found, stub = [], ""
    for name, first, rest, returned, doc in re.findall(
            r'^def (\w+)\((\w+): (?:Tensor|Operand)(.*?)\) -> (.*?):\n(    """.*?""")$', functions, re.M | re.S):
        if first != "x" and name not in METHODS:
            continue
        found.append(name)
        rest = rest.replace("Operand", "Tensor | float | Size").replace("Extent", "int | str")
        lines = [line and "    " + line for line in f"def {name}(self{rest}) -> {returned}:\n{doc}".split("\n")]
        stub += "\n".join(lines) + "\n\n"
    unknown = set(METHODS) - set(names)
    if unknown or len(found) < 100:
        fail(f"{len(found)} methods, no op has {unknown}")
    words = textwrap.wrap(", ".join(found), 112, initial_indent="    ", subsequent_indent="    ")
    made = "\n\nfor _method in (\n" + "\n".join(words) + ",\n):\n    setattr(Tensor, _method.__name__, _method)\n"
    head = "    \\from collections.abc import Sequence\n    \\from typing import Any\n    \\from plait.size import Size\n"
    return made, OPEN + "^_plait\\.Tensor\\.__suffix__$:\n" + head + stub


def main():
    schemas = json.loads(pathlib.Path(sys.argv[1]).read_text())["ops"]
    text = pathlib.Path(sys.argv[2]).read_text()
    out, names, known = HEAD + EXTRA, ["cast", "einsum", "gelu", "transpose", "where"], set()
    rules = type_rules(text)
    for cells in tables(text, "pointwise_table"):
        out += pointwise(cells, rules)
        names.append(re.match(r"`(\w+)", cells[0]).group(1))
    for each in schemas:
        if each["property"] == "pointwise" and each["name"] not in names:
            fail(f"docs/ops.md has no row for `{each['name']}`")
    meanings = {}
    for cells in tables(text, "op_table"):
        for op in re.findall(r"`(?:[^`=]* = )?(\w+)\(.*?\)`(?:<br>|$)", cells[0]):
            meanings[op] = cells[1]
    for each in schemas:
        if each["property"] in ("pointwise", "communication", "local_move") or each["name"] == "einsum":
            continue
        if each["name"] not in meanings:
            fail(f"docs/ops.md has no row for `{each['name']}`")
        for with_all in (False, True) if "with" in each else (False,):
            name, words = function(each, meanings[each["name"]], known, with_all)
            names.append(name)
            out += words
    stale = [each for each in [*REFUSED, *OF_OP] if each not in known]
    stale += [each for each in DEFAULTS if each not in names]
    if stale:
        fail(f"no op has {', '.join(map(str, stale))}")
    out += "\n\n__all__ = [\n" + "".join(f'    "{python_name(name)}",\n' for name in sorted(set(names))) + "]\n"
    made, stub = methods(out, names)
    pathlib.Path(sys.argv[3]).write_text(out + made)
    pathlib.Path(sys.argv[4]).write_text(stub)


main()
