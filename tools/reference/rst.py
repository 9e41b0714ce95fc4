"""reStructuredText from the words of comments and docstrings."""
import re

# What Sphinx would take for markup outside of backticks.
MARKUP = re.compile(r"[\\*|_](?=\W|$)|(?<!\w)[*|_]|\\|(?<=\w)\*|\*")


def inline(text, links):
    """One paragraph: what stands between backticks is code, or a link where `links` knows the name."""
    out = ""
    for at, part in enumerate(text.split("`")):
        if at % 2 == 0:
            part = MARKUP.sub(lambda match: "\\" + match[0], part)
            part = re.sub(r"\b(?:plait\.)?([A-Z]\w*Error)\b", lambda match: links.get(match[1], match[0]), part)
            out += part
        elif part:
            bare = part[:-2] if part.endswith("()") else part
            code = links[bare] if bare in links else f"``{part.strip()}``"
            out += ("\\ " if out[-1:].strip() else "") + code + "\\ "
    return re.sub(r"\\ (?=\s|[.,;:!?)\]]|$)", "", out)


def blocks(words):
    """(kind, lines): paragraphs, items of lists, and code (what is indented by two or more)."""
    found = []
    for line in words.split("\n"):
        indented = line.startswith("  ")
        item = line.startswith("- ")
        if not line.strip():
            found.append(("end", []))
        elif item:
            found.append(("item", [line[2:]]))
        elif indented and found and found[-1][0] == "item":
            found[-1][1].append(line.strip())
        elif indented and found and found[-1][0] == "code":
            found[-1][1].append(line)
        elif indented and (not found or found[-1][0] == "end" or found[-1][1][-1].endswith(":")):
            found.append(("code", [line]))
        elif found and found[-1][0] == "text":
            found[-1][1].append(line)
        else:
            found.append(("text", [line]))
    return [(kind, lines) for kind, lines in found if kind != "end"]


def body(words, indent="", links={}):
    """Lines of the words, each block with an empty line before."""
    lines = []
    for kind, block in blocks(words):
        lines.append("")
        if kind == "code":
            lines += [f"{indent}::", "", *(f"{indent}   {line}" for line in block)]
        else:
            mark = "- " if kind == "item" else ""
            lines.append(indent + mark + inline(" ".join(line.strip() for line in block), links))
    return lines


def title(text, line="="):
    return [text, line * len(text)]


def contents(names, depth=1):
    return ["", ".. toctree::", f"   :maxdepth: {depth}", "", *(f"   {name}" for name in names), ""]
