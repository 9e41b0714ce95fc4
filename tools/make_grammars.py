#!/usr/bin/env python3
"""Writes the highlighting of .plait files for VS Code, Vim and Pygments from editors/grammar.py.
usage: make_grammars.py [--check] [ROOT]; --check writes nothing, and fails where a file is not what would be written.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import sys

import tree

MADE = "Made by tools/make_grammars.py from editors/grammar.py"


def load_grammar(root):
    spec = importlib.util.spec_from_file_location("plait_grammar", root / "editors/grammar.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = bytecode
    return module


def as_json(value):
    return json.dumps(value, indent=2) + "\n"


# ---- VS Code


def text_mate(grammar, contexts):
    def scope(kind):
        return f"{grammar.CLASSES[kind][1]}.{grammar.NAME}"

    def pattern(rule):
        if not rule.inside:
            return {"name": scope(rule.kind), "match": rule.pattern}
        captures = {"0": {"name": scope(rule.kind)}}
        return {"begin": rule.pattern, "beginCaptures": captures, "end": rule.end, "endCaptures": captures,
                "patterns": [{"include": f"#{rule.inside}"}]}

    first = next(iter(contexts))
    return as_json({
        "comment": MADE + ".",
        "name": grammar.NAME,
        "scopeName": grammar.SCOPE,
        "fileTypes": [suffix[1:] for suffix in grammar.SUFFIXES],
        "patterns": [{"include": f"#{first}"}],
        "repository": {name: {"patterns": [pattern(rule) for rule in rules]} for name, rules in contexts.items()},
    })


def vscode_package(grammar, version):
    language = {"id": grammar.NAME, "aliases": [grammar.NAME], "extensions": list(grammar.SUFFIXES),
                "configuration": "./language-configuration.json"}
    syntax = {"language": grammar.NAME, "scopeName": grammar.SCOPE, "path": f"./syntaxes/{grammar.NAME}.tmLanguage.json"}
    return as_json({
        "name": grammar.NAME, "displayName": grammar.NAME, "description": "Highlighting of plait's text forms",
        "version": version, "publisher": grammar.NAME, "license": "BSD-3-Clause", "private": True,
        "engines": {"vscode": "^1.60.0"}, "categories": ["Programming Languages"],
        "contributes": {"languages": [language], "grammars": [syntax]},
    })


def vscode_configuration(grammar):
    pairs = [list(pair) for pair in grammar.BRACKETS]
    return as_json({
        "comments": {"lineComment": grammar.COMMENT}, "brackets": pairs,
        "autoClosingPairs": [*pairs, ['"', '"']], "surroundingPairs": [*pairs, ['"', '"']],
        "wordPattern": "[%@]?[A-Za-z_0-9]+",
        "indentationRules": {"increaseIndentPattern": "[({]\\s*$", "decreaseIndentPattern": "^\\s*[)}]"},
    })


# ---- Vim

GROUPS = {"(?:": ("%(", ")"), "(?=": ("(", ")@="), "(?!": ("(", ")@!"), "(?<=": ("(", ")@<="), "(?<!": ("(", ")@<!")}


def vim_pattern(pattern):
    """An expression of the grammar in Vim's words ("very magic")."""
    out, ends, at = "\\v", [], 0
    while at < len(pattern):
        group = next((each for each in sorted(GROUPS, key=len, reverse=True) if pattern.startswith(each, at)), None)
        char = pattern[at]
        if group:
            begin, end = GROUPS[group]
            out, ends, at = out + begin, [*ends, end], at + len(group)
        elif char == "\\":
            following = pattern[at + 1]
            out += "%(<|>)" if following == "b" else "\\" + following
            at += 2
        elif char == "[":
            end = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]").match(pattern, at).end()
            out, at = out + pattern[at:end], end
        elif char == "(":
            raise ValueError(f"a group that captures: {pattern}")
        else:
            out += ends.pop() if char == ")" else char if char.isalnum() or char in "_ *+?|." else "\\" + char
            at += 1
    if "/" in out:
        raise ValueError(f"a slash: {pattern}")
    return f"/{out}/"


def vim_syntax(grammar, contexts):
    """Of what matches at one place, Vim takes what is defined last: rules stand in the reverse order."""
    lines = [f'" {MADE}.', "if exists('b:current_syntax')", "  finish", "endif", "syntax case match",
             "syntax sync minlines=200", ""]
    links, first = {}, next(iter(contexts))
    for context, rules in contexts.items():
        inside = []
        prefix = grammar.NAME + ("" if context == first else context.title())
        contained = "" if context == first else " contained"
        for rule in reversed(rules):
            kind = "".join(word.title() for word in rule.kind.split("_"))
            if rule.inside:
                inside.append(f"{prefix}Open{rule.inside.title()}")
                lines.append(f"syntax region {inside[-1]}{contained} matchgroup={grammar.NAME}{kind} "
                             f"start={vim_pattern(rule.pattern)} end={vim_pattern(rule.end)} "
                             f"contains=@{grammar.NAME}In{rule.inside.title()}")
            else:
                inside.append(prefix + kind)
                links[prefix + kind] = grammar.CLASSES[rule.kind][2]
                lines.append(f"syntax match {prefix}{kind}{contained} {vim_pattern(rule.pattern)}")
        if context != first:
            lines.append(f"syntax cluster {grammar.NAME}In{context.title()} contains={','.join(dict.fromkeys(inside))}")
        lines.append("")
    lines += [f"highlight default link {group} {link}" for group, link in sorted(links.items()) if link != "Normal"]
    return "\n".join([*lines, "", f"let b:current_syntax = '{grammar.NAME}'", ""])


def vim_ftdetect(grammar):
    patterns = ",".join("*" + suffix for suffix in grammar.SUFFIXES)
    return f'" {MADE}.\nautocmd BufRead,BufNewFile {patterns} setfiletype {grammar.NAME}\n'


def vim_ftplugin(grammar):
    return (f"\" {MADE}.\nif exists('b:did_ftplugin')\n  finish\nendif\nlet b:did_ftplugin = 1\n"
            f"setlocal commentstring={grammar.COMMENT}\\ %s comments=:{grammar.COMMENT} shiftwidth=2 expandtab\n"
            "let b:undo_ftplugin = 'setlocal commentstring< comments< shiftwidth< expandtab<'\n")


# ---- Pygments


def pygments_lexer(grammar, contexts):
    first = next(iter(contexts))
    ends = {rule.inside: rule for rules in contexts.values() for rule in rules if rule.inside}
    lines = [f'"""Pygments\' lexer of the text forms (docs/ir.md). {MADE}."""', "",
             "from pygments.lexer import RegexLexer", "from pygments.token import (", "    Comment, Keyword, Name, Number,"
             " Operator, Punctuation, String, Whitespace,", ")", "", "", "class PlaitLexer(RegexLexer):",
             '    """Fusions, kernels and programs of plait."""', "", f'    name = "{grammar.NAME}"',
             f'    aliases = ["{grammar.NAME}"]', f"    filenames = {['*' + suffix for suffix in grammar.SUFFIXES]!r}",
             "    tokens = {"]
    for context, rules in contexts.items():
        state = "root" if context == first else context
        lines.append(f"        {state!r}: [")
        lines.append("            (r'\\s+', Whitespace),")
        if context in ends:
            rule = ends[context]
            lines.append(f"            ({rule.end!r}, {grammar.CLASSES[rule.kind][0]}, '#pop'),")
        for rule in rules:
            state = f", {rule.inside!r}" if rule.inside else ""
            lines += wrapped(rule.pattern, f", {grammar.CLASSES[rule.kind][0]}{state}),")
        lines.append("        ],")
    return "\n".join([*lines, "    }", ""])


def wrapped(pattern, rest, width=110):
    """A rule as lines of Python; long patterns in parts, cut behind a bar."""
    parts = [""]
    for piece in re.split(r"(?<=\|)", pattern):
        if len(parts[-1] + piece) > width - 20:
            parts.append("")
        parts[-1] += piece
    lines = [f"             {part!r}" for part in parts]
    lines[0] = lines[0].replace(" " * 13, " " * 12 + "(", 1)
    lines[-1] += rest
    return lines


def made(root, grammar):
    """(path, text) of all that is made."""
    contexts = grammar.contexts(grammar.read_words(root))
    version = re.search(r'^version = "(.*)"$', (root / "pyproject.toml").read_text(), re.M)[1]
    vscode, vim, name = "editors/vscode", "editors/vim", grammar.NAME
    return {
        f"{vscode}/package.json": vscode_package(grammar, version),
        f"{vscode}/language-configuration.json": vscode_configuration(grammar),
        f"{vscode}/syntaxes/{name}.tmLanguage.json": text_mate(grammar, contexts),
        f"{vim}/syntax/{name}.vim": vim_syntax(grammar, contexts),
        f"{vim}/ftdetect/{name}.vim": vim_ftdetect(grammar),
        f"{vim}/ftplugin/{name}.vim": vim_ftplugin(grammar),
        "python_bindings/plait/_pygments.py": pygments_lexer(grammar, contexts),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=tree.ROOT)
    args = parser.parse_args()
    problems = []
    grammar = load_grammar(args.root)
    try:
        files = made(args.root, grammar)
    except grammar.NotFound as error:
        print(f"{error}; editors/grammar.py reads words there")
        return 1
    for file, text in files.items():
        path = args.root / file
        if path.exists() and path.read_text() == text:
            continue
        if args.check:
            problems.append(f"{file} is not what editors/grammar.py says; run tools/make_grammars.py")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {file}")
    return tree.report(problems)


if __name__ == "__main__":
    sys.exit(main())
