"""Pages of the C ABI: one for each group of csrc/capi/plait_c.h (`/* ---- Name ... */`)."""
import re

import rst

PIECE = re.compile(
    r"/\*(?P<comment>(?:.|\n)*?)\*/|^#define (?P<macro>\w+) (?P<value>[^\n]*)|(?P<blank>\n[ \t]*\n)"
    r"|(?P<code>^(?:typedef struct \w+ \{[^}]*\} \w+|enum \{[^}]*\}|typedef struct \w+ \w+|PLAIT_API [^;]*|struct \w+);)"
    r"(?P<behind>[ \t]*/\*(?:.|\n)*?\*/)?", re.M)


def tidy(comment):
    comment = re.sub(r"^\s*/\*|\*/\s*$", "", comment)
    return "\n".join(line.strip() for line in comment.strip().split("\n"))


class Group:
    def __init__(self, name, words):
        self.name, self.words, self.lines = name, words, []


class Pages:
    def __init__(self, root):
        self.text = (root / "csrc/capi/plait_c.h").read_text()
        self.missing, self.names, self.groups = [], [], [Group("Versions and handles", "")]
        self.above = ""
        self.read()

    def lack(self, name):
        self.missing.append(f"csrc/capi/plait_c.h: {name} has no words")

    def read(self):
        head, body = self.text.split("#endif", 1)[0], self.text[self.text.index("#define PLAIT_API"):]
        self.words = tidy(re.match(r"/\*(?:.|\n)*?\*/", head)[0])
        body = body[body.index("\n") : body.rindex("#ifdef __cplusplus")]
        for match in PIECE.finditer(body):
            if match["blank"]:
                self.above = ""
            elif match["comment"] is not None:
                text = tidy(match["comment"])
                if text.startswith("---- "):
                    name, *words = re.split(r"[:.]\s", text[5:], maxsplit=1)
                    self.groups.append(Group(name.rstrip("."), " ".join(words)[:1].upper() + " ".join(words)[1:]))
                    self.above = ""
                else:
                    self.above = text
            elif match["macro"]:
                self.emit("c:macro", match["macro"], match["macro"], f"{self.above}\n\nValue: {match['value']}.")
            else:
                self.declaration(match["code"], tidy(match["behind"] or ""))

    def emit(self, directive, text, name, words, indent=""):
        self.names.append(name)
        if not words.strip() and not self.groups[-1].words:
            self.lack(name)
        self.groups[-1].lines += ["", f"{indent}.. {directive}:: {text}", *rst.body(words, indent + "   "), ""]

    def declaration(self, code, behind):
        words = "\n".join(filter(None, (self.above, behind)))
        flat = re.sub(r"\s+", " ", re.sub(r"/\*(?:.|\n)*?\*/", "", code)).strip().rstrip(";")
        if flat.startswith("PLAIT_API"):
            text = flat.removeprefix("PLAIT_API ")
            self.emit("c:function", text, re.search(r"(\w+)\(", text)[1], words)
        elif match := re.match(r"typedef struct (\w+) \{(.*)\} \1", code.rstrip(";"), re.S):
            self.emit("c:struct", match[1], match[1], words)
            for text, said in self.members(match[2]):
                self.groups[-1].lines += [f"   .. c:member:: {text}", *rst.body(said, "      "), ""]
        elif flat.startswith("enum {"):
            for name, value, said in re.findall(r"(\w+) = (\d+),?\s*(?:/\*(.*?)\*/)?", code):
                self.emit("c:macro", name, name, f"{said.strip() or words}\n\nValue: {value}.")
        elif match := re.fullmatch(r"typedef struct (\w+) \1", flat):
            self.emit("c:struct", match[1], match[1], words or "Opaque.")

    @staticmethod
    def members(body):
        """(declaration, words) of the members of a struct; several names of one line apart."""
        out, above = [], ""
        for match in re.finditer(r"/\*(?P<comment>(?:.|\n)*?)\*/|(?P<code>[^;/]+);[ \t]*(?P<behind>/\*(?:.|\n)*?\*/)?", body):
            if match["comment"] is not None:
                above = tidy(match["comment"])
                continue
            code = re.sub(r"\s+", " ", match["code"]).strip()
            said = "\n".join(filter(None, (above, tidy(match["behind"] or ""))))
            names = [code] if "(" in code else code.split(", ")
            base = names[0].rpartition(" ")[0]
            out += [(text if at == 0 else f"{base} {text}", said) for at, text in enumerate(names)]
            above = ""
        return out

    def pages(self):
        """(name, text)."""
        for number, group in enumerate(self.groups):
            name = re.sub(r"\W+", "_", group.name.lower()).strip("_")
            lines = [*rst.title(f"C: {group.name}"), *rst.body(group.words), *group.lines]
            yield f"{number}_{name}", "\n".join(lines) + "\n"
