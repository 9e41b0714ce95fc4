#!/usr/bin/env python3
"""Files have at most 600 lines, C++ functions at most 60. usage: check_sizes.py [ROOT]"""
import pathlib
import re
import sys

import tree

MAX_FILE, MAX_FUNCTION = 600, 60
FOLDERS = ["csrc", "tests", "tools", "benchmarks"]
# "path" or "path:function" -> (limit, reason)
EXCEPTIONS = {"csrc/capi/plait_ops.h": (2500, "tools/make_c_ops.py writes it, a function for each op")}

SCOPE = re.compile(r"^\s*(?:inline\s+)?(namespace|class|struct|union|enum|extern)\b", re.M)
CONTROL = re.compile(r"^\s*(?:else\s+)?(if|for|while|switch|do|else|try|catch)\b")


def without_groups(header):
    """A declaration with its () groups as @, its [] groups as $, and without its template parameters."""
    for pattern, mark in ((r"\([^()]*\)", " @ "), (r"\[[^\[\]]*\]", " $ ")):
        while re.search(pattern, header):
            header = re.sub(pattern, mark, header)
    while match := re.match(r"\s*template\s*<", header):
        end, depth = match.end(), 1
        while depth and end < len(header):
            depth += (header[end] == "<") - (header[end] == ">")
            end += 1
        header = header[end:]
    return header


def is_function(header):
    """Whether a brace that follows this text, at namespace or class level, opens a function's body."""
    bare = re.sub(r"(alignas|__attribute__)\s*@", "", without_groups(header))
    scope = SCOPE.search(bare)
    if "@" not in bare or CONTROL.match(bare) or (scope and scope.group(1) != "extern"):
        return False
    assigns = re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\S+", "operator", bare))
    return "$" in bare if assigns else True  # `= [...](...) {` is a lambda with a name, other `= {` an initializer


def is_value_brace(header):
    """Whether a brace opens a value within a declaration: a default argument, or a member initializer `A() : x_{`."""
    if header.count("(") > header.count(")"):
        return True
    return bool(re.search(r"@[^:]*:(?!:)", without_groups(header))) and bool(re.search(r"[\w>]\s*$", header))


def function_name(header):
    """`f`, or `Suite.Name` of a test."""
    test = re.search(r"\bTEST\w*\s*\(\s*(\w+),\s*(\w+)", header)
    plain = re.search(r"([\w~:]+|operator\s*\S+?)\s*\(", header)
    return ".".join(test.groups()) if test else plain.group(1) if plain else "?"


def functions(text):
    """(name, first line, lines) of every function of C++ text; lambdas and local classes count to their function."""
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", tree.strip_cxx(text), flags=re.M)
    found, header, line, depth, i = [], "", 1, 0, 0
    start, name = None, ""
    value = 0  # depth inside a value's braces
    while i < len(text):
        c = text[i]
        line += c == "\n"
        if start is not None:
            depth += (c == "{") - (c == "}")
            if depth == 0:
                found.append((name, start, line - start + 1))
                start, header = None, ""
        elif value:
            value += (c == "{") - (c == "}")
            header += "@" if value == 0 else ""
        elif c == "{" and is_value_brace(header):
            value = 1
        elif c == "{":
            if is_function(header):
                start, name, depth = line, function_name(header), 1
            header = ""
        elif c in ";}":
            header = ""
        else:
            header += c
        i += 1
    return found


def check(root):
    problems = []
    for path in tree.files(root, FOLDERS, tree.CXX | {".py", ".cmake", ""}):
        file, text = path.relative_to(root).as_posix(), path.read_text()
        sizes = [(file, file, text.count("\n"), MAX_FILE)]
        if path.suffix in (".h", ".cpp"):
            sizes += [(f"{file}:{name}", f"{file}:{at}: {name}", n, MAX_FUNCTION) for name, at, n in functions(text)]
        for key, place, lines, limit in sizes:
            limit = EXCEPTIONS.get(key, (limit,))[0]
            if lines > limit:
                problems.append(f"{place} has {lines} lines, {limit} allowed")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
