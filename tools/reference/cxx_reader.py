"""Declarations of a C++ header of this tree, with the comments that belong to them: those above, and those behind on the
same line. Reads the style of csrc/ (clang-format, `//` comments), not all of C++."""
import dataclasses
import re

TOKEN = re.compile(
    r'(?P<directive>^[ \t]*#(?:\\\n|[^\n])*)|(?P<comment>//[^\n]*|/\*(?:.|\n)*?\*/)'
    r'|(?P<literal>R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\')'
    r"|(?P<mark>[{}();:])|(?P<text>[^#/\"'{}();:]+|.)", re.M)
SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(namespace|class|struct|union|enum(?:\s+class)?)\s*([\w:]*)")


@dataclasses.dataclass
class Declaration:
    kind: str  # namespace, class, struct, union, enum, function, variable, alias, concept
    name: str
    text: str  # without comments and bodies, single blanks
    words: str  # of its comments
    above: bool  # one of them stands above it, and speaks of those that follow without an empty line too
    line: int
    last_line: int
    public: bool
    members: list = dataclasses.field(default_factory=list)
    body: str = ""  # of an enum


def tidy(text):
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*\[\[[^\]]*\]\]\s*", " ", text).strip()
    return text.replace("decltype(auto)", "auto")


class Comments:
    """By line: comments that stand alone, and those behind code."""

    def __init__(self, text):
        self.alone, self.behind = {}, {}
        for number, line in enumerate(text.split("\n"), 1):
            match = re.match(r"^(\s*)//+ ?(.*)$", line)
            if match:
                self.alone[number] = (len(match[1]), match[2])
                continue
            match = re.search(r"//+ ?((?:[^\"]|\"[^\"]*\")*)$", re.sub(r'"(?:\\.|[^"\\])*"', lambda m: "_" * len(m[0]), line))
            if match:
                self.behind[number] = (match.start(), line[match.start():].lstrip("/").strip())

    def above(self, line):
        found = []
        while (line := line - 1) in self.alone:
            found.insert(0, self.alone[line][1])
        return "\n".join(found)

    def after(self, line):
        if line not in self.behind:
            return ""
        column, text = self.behind[line]
        found = [text]
        while (line := line + 1) in self.alone and self.alone[line][0] == column:
            found.append(self.alone[line][1])
        text = " ".join(found)
        return "" if text.startswith("NOLINT") and ":" not in text else re.sub(r"^NOLINT(\([\w.,-]+\))?: ?", "", text)


class Reader:
    def __init__(self, text):
        self.comments = Comments(text)
        self.tokens = [(match.lastgroup, match[0], text.count("\n", 0, match.start()) + 1)
                       for match in TOKEN.finditer(text)]
        self.at = 0
        self.top = []

    def run(self):
        self.scope(self.top, True, "")
        return self.top

    def words(self, first, last):
        above, behind = self.comments.above(first), self.comments.after(last)
        return "\n".join(filter(None, (above, behind))), bool(above)

    def scope(self, out, public, of):
        """Declarations up to the brace that closes."""
        buffer, begin, depth = "", 0, 0
        while self.at < len(self.tokens):
            kind, token, line = self.tokens[self.at]
            self.at += 1
            if kind in ("comment", "directive"):
                continue
            if not buffer.strip() and not token.isspace() and token != ";":
                begin = line + (len(token) - len(token.lstrip()) and token[: len(token) - len(token.lstrip())].count("\n"))
            depth += (token == "(") - (token == ")")
            if token == "}" and depth == 0:
                return
            if token == ":" and depth == 0 and buffer.strip() in ("public", "private", "protected"):
                public, buffer = buffer.strip() == "public", ""
            elif token == "{" and depth == 0 and self.opens_scope(buffer):
                out.append(self.read_scope(tidy(buffer), begin, line, public))
                buffer, begin = "", out[-1].last_line
                if out[-1].kind != "namespace" and self.rest_of_line():  # `enum class Kind {...} kind = ...;`
                    buffer = out[-1].name
            elif token == "{":
                body, line = self.skip_body()
                if depth == 0 and self.is_function(buffer):
                    while self.initializer_follows():  # `A() : a{1}, b{2} {}`
                        line = self.skip_body()[1]
                    self.declare(out, buffer, begin, line, public, of)
                    buffer = ""
                else:
                    buffer += body
            elif token == ";" and depth == 0:
                self.declare(out, buffer, begin, line, public, of)
                buffer = ""
            else:
                buffer += token

    def initializer_follows(self):
        """Whether braces stand next, behind members that are initialized; they are what is read next then."""
        at = self.at
        if self.tokens[at][0] == "text" and self.tokens[at][1].lstrip().startswith(","):
            while self.tokens[at][1] not in ("{", ";"):
                at += 1
        elif self.tokens[at][1].isspace() and "\n" not in self.tokens[at][1]:
            at += 1
        if self.tokens[at][1] == "{":
            self.at = at + 1
        return self.tokens[at][1] == "{"

    def rest_of_line(self):
        kind, token, _ = self.tokens[self.at]
        return kind == "text" and token.strip() != ""

    def skip_body(self):
        """(text, last line) of what braces hold; the first one is read."""
        text, depth = "{", 1
        while depth:
            kind, token, line = self.tokens[self.at]
            self.at += 1
            depth += (token == "{") - (token == "}")
            text += "" if kind in ("comment", "directive") else token
        return text, line

    @staticmethod
    def opens_scope(buffer):
        head = tidy(buffer)
        return bool(SCOPE.match(head)) and "(" not in re.sub(r"<.*?>|alignas\(\w+\)", "", head) and "=" not in head

    @staticmethod
    def is_function(buffer):
        bare = re.sub(r"operator\s*\S+", "operator", tidy(buffer))
        return "(" in bare and not re.search(r"(?<![=!<>])=(?!=)", bare.partition("(")[0]) and ") " not in bare[:0]

    def read_scope(self, head, begin, line, public):
        kind, name = SCOPE.match(head).groups()
        made = Declaration(kind, name, head, *self.words(begin, line), begin, line, public)
        if kind.startswith("enum"):
            made.body, made.last_line = self.skip_body()
        else:
            self.scope(made.members, kind != "class", name)
            made.last_line = self.tokens[self.at - 1][2]
        made.words = made.words or self.comments.after(made.last_line)
        return made

    def declare(self, out, buffer, begin, line, public, of):
        text = tidy(buffer)
        unnamed = ("friend ", "static_assert", "extern template", "PLAIT_")
        if not text or text.startswith(unnamed) or re.match(r"using [^=]*$", text):
            return
        if re.match(r"(class|struct) \w+$|enum class \w+ : \w+$", text):  # declared, not defined
            return
        kind, name = classify(text)
        if kind == "function":
            text = without_initializers(text)
        out.append(Declaration(kind, name, text, *self.words(begin, line), begin, line, public))


def without_angles(text):
    """Without arguments of templates."""
    out, depth = "", 0
    for at, char in enumerate(text):
        if char == "<" and re.match(r"\w", text[at - 1 : at]):
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth:
            out += char
    return out


def classify(text):
    bare = re.sub(r"^template\s*<.*?>\s*(?=\S)", "", text) if not text.startswith("template <class Fn> using") else text
    bare = re.sub(r"^(requires .*?\) )?", "", bare)
    if match := re.match(r"using (\w+) =", bare):
        return "alias", match[1]
    if match := re.match(r"concept (\w+) =", bare):
        return "concept", match[1]
    if match := re.search(r"(operator\s*(?:\(\)|\[\]|[^\s\w(]+|\w[\w: ]*))\s*\(", bare):
        return "function", re.sub(r"\s+", "", match[1]) if not match[1][8:].strip()[:1].isalpha() else match[1]
    head = without_angles(bare)
    match = re.search(r"(~?\w+)\s*\(", head)
    if match and "=" not in head[: match.start()] and not head[: match.start()].rstrip().endswith("alignas"):
        return "function", match[1]
    match = re.search(r"(\w+)\s*(?:\[[^\]]*\])*\s*(?:=.*|\{.*\})?(?:,.*)?$", head)
    return "variable", match[1] if match else "?"


def without_initializers(text):
    """A function's text up to its parameters' end and what qualifies it."""
    depth = 0
    begin = text.index("(", text.find("operator()") + 10 if "operator()" in text else 0)
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0 and text[at] == ")":
            rest = re.match(r"\)((?:\s*(?:const|noexcept|override|final|&&|&))*(?:\s*->\s*[\w:<>*& ,]+)?"
                            r"(?:\s*=\s*(?:default|delete|0))?)", text[at:])
            return (text[: at + 1] + rest[1].rstrip()).strip()
    return text


def read(text):
    """(words of the file, its declarations)."""
    head = re.match(r"#pragma once\n((?://[^\n]*\n)*)", text)
    words = "\n".join(re.sub(r"^// ?", "", line) for line in head[1].splitlines()) if head else ""
    return words, Reader(text).run()
