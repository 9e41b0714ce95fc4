#!/usr/bin/env python3
"""Writes plait/ops.py: a function for every op that users write, from the tables of docs/ops.md, which come from the
ops' declarations; those whose first operand is `x` are methods of Tensor too, whose types are written for the stub of
the extension (a pattern file of nanobind). Usage: make_ops.py OPS_MD OUTPUT PATTERNS"""
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
# Of an attribute by name: its type, and what of it is refused.
DIM, DIMS = "a dim that is not there", "a dim that is not there or named twice"
LENGTH = "another number of {} than of dims"
ATTRIBUTES = {
    "dim": ("int", DIM), "dims": ("int | Sequence[int]", DIMS),
    "shape": ("Sequence[Extent]", "a shape that does not fit"),
    "shifts": ("Sequence[int]", LENGTH.format("shifts")), "repeats": ("Sequence[int]", "fewer repeats than dims"),
    "low": ("Sequence[Extent]", LENGTH.format("widths")), "high": ("Sequence[Extent]", ""), "start": ("Extent", ""),
    "stop": ("Extent", ""), "step": ("int", "a step below 1"), "rows": ("Extent", "a negative extent"),
    "columns": ("Extent", ""), "classes": ("Extent", "a negative extent"), "keepdim": ("bool", ""),
    "exclusive": ("bool", ""), "reverse": ("bool", ""), "interleaved": ("bool", ""), "causal": ("bool", ""),
    "value": ("float", ""), "p": ("float", "a NaN p"), "eps": ("float", "a negative eps"), "scale": ("float", ""),
    "smoothing": ("float", "a smoothing outside of [0, 1]"), "dtype": ("Any", "what is no dtype"),
    "reduction": ("str", "a reduction that is not none, mean or sum"), "diagonal": ("int", ""),
    "offset": ("int", "a negative offset"), "correction": ("int", "a negative correction"),
    "groups": ("int", "groups that do not divide the channels"),
    "ignore_index": ("int", ""), "sizes": ("Sequence[Extent]", "sizes that do not add up to the dim"),
    "bounds": ("str", "bounds that are not check or assume"), "to": ("Any", "what is no dtype of the same size"),
}
DIMS_TYPE = ATTRIBUTES["dims"][0]
# Where an op's differs.
OF_OP = {
    ("layer_norm", "dims"): ("int", "more dims than x has"), ("rms_norm", "dims"): ("int", "more dims than x has"),
    ("size", "value"): ("Extent", "what is no whole number of sizes"), ("full", "value"): ("float", "a value that the "
    "dtype lacks"), ("dropout", "p"): ("float", "a p outside of [0, 1)"),
}
METHODS = ("matmul",)  # besides those of an operand `x`
NO_OPERANDS = ("full", "iota", "size", "eye", "uniform", "normal")
HEAD = '''"""Every op: a function adds it to the fusion of its operands and returns the result. Made from the tables of
docs/ops.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait._emit import Extent, dims as _dims, dtype as _dtype, emit as _emit, emit_all as _emit_all
from plait._plait import Fusion, Tensor, apply as _apply
from plait.errors import UserError as _UserError
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
    return f"\n\ndef {python_name(name)}({operands}) -> Tensor:\n{doc}{body}"


def type_rules(text):
    """Operands and result by the name of a rule of the pointwise ops."""
    table = text.split("| rule | operands |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {rule: (taken, result) for rule, taken, _, result in rows}


def attribute_of(op, name, known):
    """Type of an attribute, and what of it is refused."""
    key = (op, name) if (op, name) in OF_OP else name
    if key not in OF_OP and key not in ATTRIBUTES:
        fail(f"attribute `{name}` of `{op}` has no type: write it in ATTRIBUTES")
    known.add(key)
    return OF_OP[key] if key in OF_OP else ATTRIBUTES[key]


def attribute(op, word, spelled, refused, known):
    """Signature and value of an attribute: `[eps = 1e-5]`, `dims`."""
    optional = word.startswith("[")
    name, _, value = word.strip("[]").partition(" = ")
    kind, refusal = attribute_of(op, name, known)
    if value and (value in ("true", "false")) != (kind == "bool"):
        fail(f"attribute `{name}` of `{op}` is {kind}, its default {value}")
    given = python_name(name)
    passed = f"_dtype({given})" if name in ("dtype", "to") else f"_dims({given})" if kind == DIMS_TYPE else given
    spelled.append(f"{name!r}: {passed}")
    refused.append(refusal)
    return f"{given}: {kind} | None = None" if optional else f"{given}: {kind}"


def function(op, words, meaning, known, results=(), called=None):
    required, optional, operands, spelled, refused = [], [], [], [], []
    variadic = ""
    for word in words:
        bare = word.strip("[]")
        if bare == "statistics = false":  # a function of its own
            continue
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
            (optional if word.startswith("[") else required).append(attribute(op, word, spelled, refused, known))
    fusion = ""
    if op in NO_OPERANDS and not any("seed" in each for each in required):
        required.insert(0, "fusion: Fusion")
        fusion = ", fusion"
    given = variadic or f"[{', '.join(operands)}]"
    defaults = [word.strip("[]") for word in words if word.startswith("[") and " = " in word and "%" not in word]
    if any("%" in word for word in words):
        refused.insert(0, "operands that are no tensors or do not fit")
    defaults = [each for each in defaults if each != "statistics = false"]
    returned = f"Returns ({', '.join(results)})." if results else ""
    doc = docstring(meaning, returned, f"Left out: {', '.join(defaults)}." if defaults else "", refused=refused)
    if called:
        spelled.append("'statistics': True")
    kind, emit = ("tuple[Tensor, ...]", "_emit_all") if results else ("Tensor", "_emit")
    return (f"\n\ndef {python_name(called or op)}({', '.join(required + optional)}) -> {kind}:\n{doc}"
            f"    return {emit}({op!r}, {given}, {{{', '.join(spelled)}}}{fusion})\n")


def split_arguments(text):
    return [each.strip() for each in re.findall(r"\[[^\]]*\]|[^,\[\]]+", text) if each.strip()]


EXTRA = '''

Operand = Tensor | float | int


def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """a where the condition (bool) holds, else b. A number takes the dtype of the other choice. Raises UserError for
    another condition, choices without a common type or shapes that do not broadcast."""
    return _apply("where", [condition, a, b])


def cast(x: Tensor, to: Any) -> Tensor:
    """x as another dtype, rounded once. Raises UserError for what is no dtype."""
    return _emit("cast", [x], {"to": _dtype(to)})


def gelu(x: Tensor, approx: str = "none") -> Tensor:
    """x Phi(x); approx = "tanh": x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3). Raises UserError for integers
    and bool or another approximation."""
    return _emit("gelu", [x], {"approx": approx})


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
        rest = rest.replace("Operand", "Tensor | float").replace("Extent", "int | str")
        lines = [line and "    " + line for line in f"def {name}(self{rest}) -> {returned}:\n{doc}".split("\n")]
        stub += "\n".join(lines) + "\n\n"
    unknown = set(METHODS) - set(names)
    if unknown or len(found) < 100:
        fail(f"{len(found)} methods, no op has {unknown}")
    words = textwrap.wrap(", ".join(found), 112, initial_indent="    ", subsequent_indent="    ")
    made = "\n\nfor _method in (\n" + "\n".join(words) + ",\n):\n    setattr(Tensor, _method.__name__, _method)\n"
    head = "    \\from collections.abc import Sequence\n    \\from typing import Any\n"
    return made, "^_plait\\.Tensor\\.__suffix__$:\n" + head + stub


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    out, names, known = HEAD + EXTRA, ["cast", "gelu", "transpose", "where"], set()
    rules = type_rules(text)
    for _, cells in tables(text, "pointwise_table"):
        out += pointwise(cells, rules)
        names.append(re.match(r"`(\w+)", cells[0]).group(1))
    for section, cells in tables(text, "op_table"):
        if section == "Communication":
            continue
        for results, op, given in re.findall(r"`(?:([^`=]*) = )?(\w+)\((.*?)\)`(?:<br>|$)", cells[0]):
            words, several = split_arguments(given), [each.strip(" %") for each in results.split(",") if each.strip()]
            always = several and "[statistics = false]" not in words
            out += function(op, words, cells[1], known, several if always else ())
            names.append(op)
            if several and not always:
                names.append(f"{op}_statistics")
                out += function(op, words, cells[1], known, several, names[-1])
    stale = [each for each in [*ATTRIBUTES, *OF_OP] if each not in known]
    stale += [each for each in [*DEFAULTS, *NO_OPERANDS] if each not in names]
    if stale:
        fail(f"no op has {', '.join(map(str, stale))}")
    out += "\n\n__all__ = [\n" + "".join(f'    "{python_name(name)}",\n' for name in sorted(set(names))) + "]\n"
    made, stub = methods(out, names)
    pathlib.Path(sys.argv[2]).write_text(out + made)
    pathlib.Path(sys.argv[3]).write_text(stub)


main()
