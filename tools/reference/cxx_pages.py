"""Pages of the public C++ headers, one each, and of the C header, one a group of functions."""
import re

import cxx_reader
import rst

SCOPES = ("class", "struct", "union")


def public_headers(root):
    """Paths below csrc/ of the headers that tools/public_headers.cmake installs: the roots of csrc/CMakeLists.txt, and all
    that they include."""
    roots = re.search(r"set\(public_headers ([^)]*)\)", (root / "csrc/CMakeLists.txt").read_text())[1].split()
    found, waiting = set(), roots
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            waiting += re.findall(r'#include "([^"]+)"', (root / "csrc" / header).read_text())
    return sorted(header for header in found if header.endswith(".h"))


def needs_words(declaration, of):
    """Not what its class or its kind says: members that are data, constructors, operators, what has the name of what it
    returns, and fields(), which is for base/node.h."""
    text, name = declaration.text, declaration.name
    if of is None:
        return not name.startswith("operator")
    getter = declaration.kind == "function" and re.search(r"\(\) const(?: = 0| override)?$", text)
    return not (declaration.kind == "variable" or getter or name in ("fields", "operator") or name.startswith("operator")
                or name.lstrip("~") == of)


def groups(declarations, of):
    """Public declarations, those that share the comment above a run of lines together."""
    found, last, head = [], None, None  # head: whose comment speaks of what follows
    for each in declarations:
        if not each.public:
            last = head = None
            continue
        run = last is not None and each.line - last.last_line <= 1 and (of is None or last.kind not in SCOPES)
        said = of is not None and (each.words or not needs_words(each, of))  # of a class: others speak for themselves
        head = each if each.above else head if run and not said else None
        covered = head is not None and not each.words and needs_words(each, of)
        each.words_of = each if each.words else head if covered else None
        if covered and found[-1][0] is head and each.kind == head.kind and each.kind in ("function", "variable"):
            found[-1].append(each)
        else:
            found.append([each])
        last = each
    return found


def split_variables(text):
    """`T a = 0, b;` as one declaration a name."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "(<{[") - (char in ")>}]") if not text[at - 1 : at + 1] == "->" else 0
        if char == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    first = re.match(r"(.*?[\s&*>])(\w+\s*(?:\[[^\]]*\])*\s*(?:=.*|\{.*\})?)$", parts[0])
    if not first:
        return [text]
    base = first[1].rstrip("*& ")
    return [parts[0], *(f"{base} {part.strip()}" for part in parts[1:])]


class Pages:
    def __init__(self, root, ops=()):
        self.ops = ops  # of which build/ has functions
        self.root, self.missing, self.names, self.shown = root, [], set(), set()

    def page(self, header):
        words, declarations = cxx_reader.read((self.root / "csrc" / header).read_text())
        self.header, self.opened = header, ""
        lines = [*rst.title(f"plait/{header}"), "", f"``#include <plait/{header}>``", *rst.body(words), ""]
        for each in declarations:
            lines += self.namespace(each, "") if each.kind == "namespace" else []
        return "\n".join(lines) + "\n"

    def namespace(self, declaration, outer):
        name = f"{outer}::{declaration.name}" if outer else declaration.name
        if not declaration.name or name.startswith("std"):
            return []
        out, inner = [], [each for each in declaration.members if each.kind == "namespace"]
        out += ["", f".. cpp:namespace:: {name}", ""]
        out += self.members([each for each in declaration.members if each.kind != "namespace"], name, None, "")
        for each in inner:
            out += self.namespace(each, name)
        return out

    def members(self, declarations, scope, of, indent):
        out = []
        for group in groups(declarations, of):
            for each in group:
                if each.words_of is None and needs_words(each, of):
                    self.missing.append(f"csrc/{self.header}:{each.line}: {scope}::{each.name} has no words")
            shown = [each for each in group if not hidden(each)]
            if shown:
                out += self.entry(shown, scope, indent)
        return out

    def entry(self, group, scope, indent):
        first = group[0]
        self.names.add(f"{scope}::{first.name}")
        if first.kind.startswith("enum"):
            return self.enumeration(first, scope, indent)
        if first.kind in SCOPES:
            kind = "class" if first.kind == "class" else "struct" if first.kind == "struct" else "union"
            head = re.sub(r"^((?:template\s*<.*?>\s*)?)(?:class|struct|union) ", r"\1", first.text)
            lines = ["", f"{indent}.. cpp:{kind}:: {head}", *rst.body(first.words, indent + "   "), ""]
            return lines + self.members(first.members, f"{scope}::{first.name}", first.name, indent + "   ")
        directive = {"function": "function", "variable": "member", "alias": "type", "concept": "concept"}[first.kind]
        texts = []
        for each in group:
            self.names.add(f"{scope}::{each.name}")
            texts += [signature(text, each) for text in (split_variables(each.text) if each.kind == "variable" else [each.text])]
        texts = [text for text in dict.fromkeys(texts) if (scope, text) not in self.shown]  # declared, then defined
        if not texts:
            return []
        self.shown |= {(scope, text) for text in texts}
        gap = " " * len(f".. cpp:{directive}:: ")
        lines = ["", f"{indent}.. cpp:{directive}:: {texts[0]}", *(f"{indent}{gap}{text}" for text in texts[1:])]
        builds = self.header.startswith("build/") and directive == "function" and not indent
        names = [each.name for each in group if builds and each.name in self.ops]
        links = ", ".join(f":op:`{name}`" for name in dict.fromkeys(names))
        return [*lines, *rst.body(first.words, indent + "   "), "", *([f"{indent}   Op: {links}.", ""] if links else [])]

    def enumeration(self, declaration, scope, indent):
        kind = "enum-class" if "class" in declaration.kind else "enum"
        head = re.sub(r"^enum (?:class )?", "", declaration.text)
        lines = ["", f"{indent}.. cpp:{kind}:: {head}", *rst.body(declaration.words, indent + "   "), ""]
        for name, words in self.enumerators(declaration):
            lines += [f"{indent}   .. cpp:enumerator:: {name}", *rst.body(words, indent + "      "), ""]
        return lines

    def enumerators(self, declaration):
        source = (self.root / "csrc" / self.header).read_text().split("\n")
        found = []
        for line in source[declaration.line - 1 : declaration.last_line]:
            if match := re.search(r'#include "([^"]+)"', line):
                listed = (self.root / "csrc" / match[1]).read_text()
                found += [(name, "") for name in re.findall(r"^(?:X|PLAIT_\w+)\((\w+)", listed, re.M)]
                continue
            code, _, words = line.partition("//")
            if line.lstrip().startswith("#"):
                continue
            names = re.findall(r"(?:^|[{,])\s*(\w+)\s*(?:=[^,}]*)?(?=[,}]|\s*$)", re.sub(r"^.*?\{", "{", code))
            found += [(name, words.strip() if name == names[-1] else "") for name in names]
        return found


def hidden(declaration):
    return declaration.name == "fields" or re.search(r"= (default|delete)$", declaration.text) \
        or declaration.name == "kKind" or re.match(r"(template <[^>]*> )?\w+\(.*\) ->", declaration.text)


def signature(text, declaration):
    """As Sphinx reads it."""
    text = re.sub(r"\busing (?=\w+ =)", "", text)
    text = re.sub(r"\bconcept (\w+) = .*", r"\1", text)
    text = re.sub(r"\b(inline|extern|mutable) ", "", text)
    text = re.sub(r"\[\[.*?\]\] ?", "", text)
    if declaration.kind == "variable":
        text = re.sub(r"(?<!operator)\{.*\}$", "", text)
        text = re.sub(r" =(?: .{60,})?$", "", text.strip())
    return text.strip()
