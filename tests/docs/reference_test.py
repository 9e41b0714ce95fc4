#!/usr/bin/env python3
"""Builds the reference (tools/make_reference) and looks its names up as a reader does: in the index that its search reads.
Names are taken from headers, stub and schema here in plainer ways than the tool's own. usage: reference_test.py OUT PACKAGE
Exit status 77 where the package is not built or Sphinx not installed."""
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRY = re.compile(r'id="([^"]+)"')


def stub_names(package):
    """Classes and functions of the package's own list, methods and properties of the stub's classes."""
    listed = ast.literal_eval(re.search(r"^__all__ = (\[.*?\])$", (package / "__init__.py").read_text(), re.M | re.S)[1])
    names = {f"plait.{name}" for name in listed}
    for node in ast.parse((package / "_plait.pyi").read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name in listed:
            names |= {f"plait.{node.name}.{each.name}" for each in node.body
                      if isinstance(each, ast.FunctionDef) and each.name[0] != "_"}
    return names | {f"plait.ops.{name}" for name in re.findall(r"^def ([a-z]\w*)\(", (package / "ops.py").read_text(), re.M)}


def c_names():
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "csrc/capi/plait_c.h").read_text(), flags=re.S)
    return set(re.findall(r"\b(plait_\w+)\(", text)) | set(re.findall(r"^\} (plait_\w+);", text, re.M))


def cxx_names(headers):
    """Structs and classes at the left margin of a header of namespace plait alone."""
    names = set()
    for header in headers:
        text = header.read_text()
        if not re.search(r"^namespace (?!plait \{)", text, re.M):
            names |= {f"plait::{name}" for name in re.findall(r"^(?:struct|class) (\w+)(?: :[^;{]*)? \{", text, re.M)}
    return names


def found_names(folder):
    """Full name -> its page and place, of what the search knows."""
    index = json.loads((folder / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    found = {}
    for prefix, entries in index["objects"].items():
        for page, kind, _, anchor, name in entries:
            language = index["objnames"][str(kind)][0]
            full = ("::" if language == "cpp" else ".").join(filter(None, (prefix, name)))
            place = {"": full, "-": f"{index['objnames'][str(kind)][1]}-{full}"}.get(anchor, anchor)
            found[language, full] = (index["docnames"][page], place)
    return found


# What is searched for, and a page that the browser then shows a link to.
SEARCHES = {"plait_fusion_parse": "c/4_fusions.html#c.plait_fusion_parse", "DeviceMesh": "cpp/mesh/mesh.html#",
            "rms_norm": "ops/composite.html#op-rms_norm"}


def search_problems(out):
    """The search in a browser, of files without a server."""
    program = shutil.which("chromium")
    if program is None:
        print("the search is not tried: there is no chromium")
        return
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   f"--user-data-dir={profile}", "--virtual-time-budget=10000", "--dump-dom"]
        for word, link in SEARCHES.items():
            page = f"file://{out.resolve()}/search.html?q={word}"
            shown = subprocess.run([*command, page], capture_output=True, text=True, timeout=120).stdout
            if f'href="{link}' not in shown:
                yield f"the search for {word} shows no {link}"


def main():
    out, package = map(pathlib.Path, sys.argv[1:])
    if not (package / "_plait.pyi").exists():
        print(f"skipped: {package} is not built")
        return 77
    made = subprocess.run([sys.executable, ROOT / "tools/make_reference", "--out", out, "--package", package])
    if made.returncode:
        return made.returncode
    found = found_names(out)
    headers = (out.parent / "include/plait").rglob("*.h")
    wanted = {("py", name) for name in stub_names(package) if name != "plait.ops"} | {("c", name) for name in c_names()}
    wanted |= {("cpp", name) for name in cxx_names(headers)}
    wanted |= {("std", op["name"]) for op in json.loads((package / "op_schema.json").read_text())["ops"]}
    counts = {language: sum(each == language for each, _ in wanted) for language in ("py", "c", "cpp", "std")}
    print(counts)
    few = [language for language, least in {"py": 300, "c": 40, "cpp": 150, "std": 170}.items() if counts[language] < least]
    lost = sorted(wanted - set(found))
    places = {}
    for name in wanted & set(found):
        page, place = found[name]
        if page not in places:
            places[page] = set(ENTRY.findall((out / f"{page}.html").read_text()))
        if place not in places[page]:
            lost.append((*name, f"{page}.html has no #{place}"))
    print("\n".join(f"not found: {' '.join(each)}" for each in lost))
    problems = list(search_problems(out))
    print("\n".join(problems))
    return 1 if lost or few or problems else 0


if __name__ == "__main__":
    sys.exit(main())
