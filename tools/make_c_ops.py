#!/usr/bin/env python3
"""Writes csrc/capi/plait_ops.h, a function of C for every op that users write, and csrc/capi/op_words.h, what each op
computes in a sentence: from the schema of the ops (plait_op_schema) and the tables of docs/ops.md.
usage: make_c_ops.py SCHEMA_JSON [--check]; with --check it writes nothing and fails where a file is not as it would be."""
import json
import keyword
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python_bindings"))
from op_tables import tables  # noqa: E402

MADE = ("communication", "local_move")  # by the compiler
# Of C's parameters: type where it must be given, type where it may be left out (NULL), and who makes the argument.
WORD = ("const char*", "const char*", "word")
TYPES = {
    "tensor": ("const char*", "const char*", "tensor"),
    "int": ("int64_t", "const int64_t*", "integer"),
    "bool": ("bool", "const bool*", "flag"),
    "float": ("double", "const double*", "number"),
    "constant": ("double", None, "number"),
    "extent": WORD, "dtype": WORD, "reduction": WORD, "bounds": WORD, "update": WORD, "approx": WORD, "reduce": WORD,
    "string": ("const char*", None, "string"),
}
LISTS = {"tensors": ("const char* const*", "tensors"), "ints": ("const int64_t*", "integers"),
         "extents": ("const char* const*", "words")}
# Functions that make an argument: name, its value in C, the fields of plait_argument.
MAKERS = [("tensor", "const char* value", "TENSOR", "0, 0, value, NULL, NULL, 0"),
          ("tensors", "const char* const* values, size_t count", "TENSORS", "0, 0, NULL, NULL, values, count"),
          ("integer", "int64_t value", "INTEGER", "value, 0, NULL, NULL, NULL, 0"),
          ("integers", "const int64_t* values, size_t count", "INTEGERS", "0, 0, NULL, values, NULL, count"),
          ("number", "double value", "NUMBER", "0, value, NULL, NULL, NULL, 0"),
          ("flag", "bool value", "FLAG", "value ? 1 : 0, 0, NULL, NULL, NULL, 0"),
          ("word", "const char* value", "WORD", "0, 0, value, NULL, NULL, 0"),
          ("words", "const char* const* values, size_t count", "WORDS", "0, 0, NULL, NULL, values, count"),
          ("string", "const char* value", "STRING", "0, 0, value, NULL, NULL, 0")]
HEAD = """/* A function for every op, over plait_fusion_op (plait_c.h). Written by tools/make_c_ops.py from the schema of the ops
   and the words of docs/ops.md, which have more of each.

   `names` are those of the results, "y" or "mean, var", NULL: named after the op. Operands are names of tensors, "x";
   those of pointwise ops may be numbers, "0.5". Attributes are values; those that may be left out are pointers, sizes
   and dtypes are words: "768", "b", "f32". What may be left out stands behind "May be NULL": NULL, and a count of 0,
   leave it out. An operand is not left out where a later one is given: a bias needs a weight. `result`, where not NULL,
   gets the names. Errors are those of plait_fusion_statement(). */
/* clang-format off */
#ifndef PLAIT_OPS_H
#define PLAIT_OPS_H

#include <stdbool.h>

#include "plait_c.h"

#ifdef __cplusplus
extern "C" {
#endif

"""
TAIL = """#ifdef __cplusplus
}
#endif
#endif
"""


def fail(text):
    sys.exit(f"make_c_ops.py: {text}")


def c_name(name):
    return "x" if name == "in" else name + "_" if keyword.iskeyword(name) or name in ("default", "register", "auto") else name


def parameter(op, it, later):
    """(parameters of C, the statement that adds the argument). later: optional operands behind this one; where one of
    them is given, a NULL goes along, which plait_fusion_op refuses."""
    name, operand = c_name(it["name"]), it["role"] in ("operand", "optional")
    given = it["role"] in ("operand", "required")
    label = "NULL" if operand else f'"{it["name"]}"'
    if it["type"] in LISTS:
        kind, maker = LISTS[it["type"]]
        taken, value = [f"{kind} {name}", f"size_t {name}_count"], f"{name}, {name}_count"
    elif it["type"] in TYPES:
        required, optional, maker = TYPES[it["type"]]
        kind = required if given else optional
        if kind is None:
            fail(f"attribute `{it['name']}` of `{op}` may be left out, a {it['type']}: write how in TYPES")
        taken, value = [f"{kind} {name}"], name if given or kind == required else f"*{name}"
    else:
        fail(f"attribute `{it['name']}` of `{op}` is a {it['type']}: write its type in TYPES")
    add = f"plait_given[plait_count++] = plait_{maker}_argument({label}, {value});"
    if it["type"] in LISTS:  # a count without values goes along, and is refused
        return taken, f"  {add}" if given else f"  if ({name} != NULL || {name}_count != 0) {add}"
    asked = " || ".join(f"{each} != NULL" for each in [name] + later)
    return taken, f"  {add}" if given else f"  if ({asked}) {add}"


def makers():
    out = ""
    for name, takes, kind, fields in MAKERS:
        out += f"static inline plait_argument plait_{name}_argument(const char* name, {takes}) {{\n"
        out += f"  const plait_argument out = {{name, PLAIT_ARGUMENT_{kind}, {fields}}};\n  return out;\n}}\n"
    return out + "\n"


def exact(schema):
    """The same op, whose constant is an integer."""
    return {**schema, "parameters": [{**it, "type": "int" if it["type"] == "constant" else it["type"]}
                                     for it in schema["parameters"]]}


def function(schema, words, suffix=""):
    op, takes, body = schema["name"], ["plait_fusion* fusion", "const char* names"], []
    optional = [c_name(it["name"]) for it in schema["parameters"] if it["role"] == "optional"]
    for it in schema["parameters"]:
        place = optional.index(c_name(it["name"])) + 1 if it["role"] == "optional" else len(optional)
        taken, statement = parameter(op, it, optional[place:])
        takes += taken
        body.append(statement)
    takes.append("plait_text** result")
    initial = ", ".join(f"{it['name']} = {it['initial']}" for it in schema["parameters"] if "initial" in it)
    results = f"Results: {', '.join(schema['results']) or 'part, ...'}." if len(schema["results"]) != 1 else ""
    absent = ", ".join(c_name(it["name"]) for it in schema["parameters"] if it["role"] not in ("operand", "required"))
    said = " ".join(each for each in (words, results, f"Left out: {initial}." if initial else "",
                                      f"May be NULL: {absent}." if absent else "") if each)
    comment = "\n   ".join(textwrap.wrap(said.replace("*/", "* /"), 112))
    lines, line = [], f"static inline plait_error* plait_op_{op}{suffix}("
    for i, take in enumerate(takes):
        word = take + (", " if i + 1 < len(takes) else ") {")
        if len(line + word.rstrip()) > 118:
            lines.append(line.rstrip())
            line = " " * 4
        line += word
    return "\n".join([f"/* {comment} */", *lines, line, f"  plait_argument plait_given[{max(1, len(schema['parameters']))}];",
                      "  size_t plait_count = 0;", *body,
                      f'  return plait_fusion_op(fusion, "{op}", names, plait_given, plait_count, result);', "}", "", ""])


def plain(text):
    """A cell of a table as a sentence without marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("`", "").replace("<br>", " ")).strip()
    return text if not text or text.endswith(".") else text + "."


def meanings(text):
    out = {}
    for cells in tables(text, "pointwise_table"):
        op, said = re.match(r"`(\w+)\(\w+(?:, (\w+ = \w+))?", cells[0]).groups()
        out[op] = f"{out[op]} {said}: {plain(cells[2])}" if op in out else plain(cells[2])
    for cells in tables(text, "op_table"):
        for op in re.findall(r"`(?:[^`=]* = )?(\w+)\(.*?\)`(?:<br>|$)", cells[0]):
            out[op] = plain(cells[1])
    return out


def main(args):
    schemas = [each for each in json.loads(pathlib.Path(args[0]).read_text())["ops"] if each["property"] not in MADE]
    words = meanings((ROOT / "docs/ops.md").read_text())
    for each in schemas:
        if each["name"] not in words:
            fail(f"docs/ops.md has no row for `{each['name']}`")
    header = HEAD + makers()
    for each in schemas:
        header += function(each, words[each["name"]])
        if any(it["type"] == "constant" for it in each["parameters"]):
            header += function(exact(each), f"plait_op_{each['name']} of an integer, exactly; one beyond int64_t is a word of "
                               "plait_fusion_op.", "_integer")
    header += TAIL
    table = "#pragma once\n// clang-format off\n// What each op computes, in a sentence. Written by tools/make_c_ops.py from docs/ops.md.\n#include <string_view>\n\n"
    table += "namespace plait {\n\nstruct OpWords {\n  std::string_view op;\n  const char* words;\n};\n\n"
    table += "inline constexpr OpWords kOpWords[] = {\n"
    for each in schemas:
        table += f'    {{"{each["name"]}", {json.dumps(words[each["name"]])}}},\n'
    table += "};\n\n}  // namespace plait\n"
    status = 0
    for name, text in (("plait_ops.h", header), ("op_words.h", table)):
        path = ROOT / "csrc/capi" / name
        if "--check" not in args:
            path.write_text(text)
        elif path.read_text() != text:
            print(f"{path.relative_to(ROOT)} is not what the schema and docs/ops.md say: run tools/make_c_ops.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
