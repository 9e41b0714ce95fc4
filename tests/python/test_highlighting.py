"""Highlighting of the text forms, made by tools/make_grammars.py: the lexer of the wheel knows every text of the tree, and
what VS Code and Vim are given colors the same."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

import plait
import pytest

pygments = pytest.importorskip("pygments")
import pygments.lexers  # noqa: E402
from pygments.token import Error, string_to_tokentype  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(plait.__file__).parent
EDITORS = ROOT / "editors"
SCHEMA = json.loads((PACKAGE / "op_schema.json").read_text())["ops"]
FILES = sorted(path for folder in ("docs", "tests") for path in (ROOT / folder).rglob("*.plait"))
KERNELS = sorted((ROOT / "tests").rglob("*.kir"))
STAGES = ["graph", "sharded", "localized", "segments", "kir", "program"]
EXAMPLES = ["tp_mlp", "attention", "layer_norm", "cross_entropy", "transformer_block"]


def load_grammar():
    spec = importlib.util.spec_from_file_location("plait_grammar", EDITORS / "grammar.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GRAMMAR = load_grammar()
KIND_OF_TOKEN = {string_to_tokentype(token): kind for kind, (token, _, _) in GRAMMAR.CLASSES.items()}
TEXT_MATE = json.loads((EDITORS / "vscode/syntaxes/plait.tmLanguage.json").read_text())


def tokens_of(text):
    """(kind, text), the kind of blanks None; the tokens are the text again, and none is an error."""
    tokens = [(token, part) for _, token, part in pygments.lexers.get_lexer_by_name("plait").get_tokens_unprocessed(text)]
    assert "".join(part for _, part in tokens) == text
    assert [part for token, part in tokens if token is Error] == []
    return [(None if part.isspace() else KIND_OF_TOKEN[token], part) for token, part in tokens]


def lexed(text):
    """(kind, text) of all but blanks."""
    return [(kind, part) for kind, part in tokens_of(text) if kind]


def kinds(text):
    """The kind of every character; None of blanks."""
    return [None if char.isspace() else kind for kind, part in tokens_of(text) for char in part]


def kind_of(word, text):
    return {kind for kind, part in lexed(text) if part == word}


def is_form(text):
    """Whether a test's file holds texts of the forms, and no expected error."""
    expected = text.partition("# EXPECT\n")[2]
    return not expected or re.match(r"(# .*\n)*(let|given|mesh|fusion|kernel @|program )", expected)


def opt(name, stage):
    command = [PACKAGE / "bin/plait", "opt", ROOT / f"docs/examples/{name}.plait", "--device", "cpu", "--ranks", "2",
               f"--until={stage}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_wheel_names_the_lexer_and_loads_pygments_for_it_alone():
    lexer = pygments.lexers.get_lexer_by_name("plait")
    assert [type(pygments.lexers.get_lexer_for_filename(name)) for name in ("a.plait", "b.kir")] == [type(lexer)] * 2
    code = "import sys, plait; sys.exit('pygments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_text_of_the_tree_is_known():
    texts = {path: path.read_text() for path in FILES + KERNELS}
    known = {path: lexed(text) for path, text in texts.items() if path in FILES or is_form(text)}
    assert len(FILES) > 200 and len(known) > len(FILES) + 90


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_known(stage):
    for name in EXAMPLES:
        assert {"tensor", "global", "dtype", "number"} <= {kind for kind, _ in lexed(opt(name, stage))}


def test_every_op_and_attribute_of_the_schema_is_known():
    for op in SCHEMA:
        attributes = [it["name"] for it in op["parameters"] if it["role"] in ("attribute", "required", "named")]
        given = ", ".join(["%in", *(f"{name} = 1" for name in attributes)])
        text = f"%y = {op['name']}({given})\n"
        assert kind_of(op["name"], text) - {"attribute"} == {"op"}, text
        assert [part for kind, part in lexed(text) if kind == "attribute"] == attributes, text


def test_every_dtype_is_known():
    for dtype in plait.DType:
        name = dtype.name.rstrip("_")
        assert kind_of(name, f"%x: {name}[4]") == kind_of(name, f"let T = {name}") == {"dtype"}
        assert kind_of(f"{name}x8", f"%3: {name}x8 = load %x[i] aligned") == {"dtype"}
    assert kind_of("T", "%x: T[b, 4]") == {"dtype"}


def test_every_word_of_the_grammars_is_known():
    """Words between quotation marks in the grammars of the documents: none is a mere name where it stands alone."""
    words = set()
    for document in ("ir.md", "kernel_ir.md"):
        for block in re.findall(r"^```ebnf\n(.*?)^```$", (ROOT / "docs" / document).read_text(), re.M | re.S):
            words |= set(re.findall(r'"([a-z_][a-z_0-9]+)"', re.sub(r"\(\*.*?\*\)", "", block)))
    assert {"let", "fusion", "param", "stored", "granule", "loops", "segment", "kernel", "launch", "phase"} <= words
    inside = {"loops": ("loops ({}(1))", ["merge", "split", "reorder", "parallel"]),
              "partial": ("partial(tp: {})", ["sum", "max", "min", "prod", "logsumexp"]),
              "schedule": ("schedule {}(vector = 8)", ["manual", "pointwise"])}
    calls = {"floordiv", "ceildiv", "mod", "min", "max", "chunk", "chunk_start", "select"}
    for form, names in inside.values():
        for word in names:
            assert kind_of(word, form.format(word)) & {"transform", "choice", "schedule"}, word
    placed = {word for _, names in inside.values() for word in names}
    unknown = [word for word in sorted(words - placed) if "name" in kind_of(
        word, f"%x[{word}(n, 4)]" if word in calls else f"{word} %x")]
    assert [word for word in unknown if "attribute" not in kind_of(word, f"f({word} = %1)")] == []


def test_names_are_no_words():
    text = "mesh @m (dp = 2, tp = t)\n%x: T[start, read, rank.dp] {0: on granule 2, 1: [local 2, dp]} partial(dp: sum)"
    found = lexed(text)
    assert [part for kind, part in found if kind == "name"] == ["t", "start", "read", "rank.dp"]
    assert [part for kind, part in found if kind == "axis"] == ["on", "dp", "dp"]
    assert [part for kind, part in found if kind == "choice"] == ["sum"]
    assert kind_of("max", "%y: f32[max(a, b)] = max(%x, -inf)") == {"function", "op"}
    assert kind_of("0.5", "mul(%x, 0.5)") == kind_of("1e-05", "f(eps = 1e-05)") == kind_of("0", "in 0..v") == {"number"}
    assert kind_of("# RUN: opt", "# RUN: opt\n") == kind_of("# EXPECT", "# EXPECT\n") == {"directive"}


# ---- TextMate


def text_mate_kinds(text, scopes={scope + ".plait": kind for kind, (_, scope, _) in GRAMMAR.CLASSES.items()}):
    """What an editor makes of the file of VS Code, line by line: at the place of the first match of any rule, the end of
    the context first, the first rule that matches there."""
    repository, found, stack = TEXT_MATE["repository"], [], [(None, None, "file")]
    for line in text.splitlines(True):
        at = 0
        while at < len(line):
            end, end_scope, context = stack[-1]
            tries = [(re.compile(end), None)] if end else []
            tries += [(re.compile(rule.get("match") or rule["begin"]), rule) for rule in repository[context]["patterns"]]
            matches = [(match.start(), order, match, rule) for order, (pattern, rule) in enumerate(tries)
                       if (match := pattern.search(line, at)) and match.end() > match.start()]
            if not matches:
                found += [None] * (len(line) - at)
                break
            start, _, match, rule = min(matches, key=lambda each: each[:2])
            if rule is None:
                scope = end_scope
                stack.pop()
            elif "begin" in rule:
                scope = rule["beginCaptures"]["0"]["name"]
                stack.append((rule["end"], rule["endCaptures"]["0"]["name"], rule["patterns"][0]["include"][1:]))
            else:
                scope = rule["name"]
            found += [None] * (start - at)
            found += [None if char.isspace() else scopes[scope] for char in match[0]]
            at = match.end()
    return found


def assert_same(text, other):
    mine = kinds(text)
    assert len(mine) == len(other)
    wrong = next((at for at in range(len(text)) if mine[at] != other[at]), None)
    assert wrong is None, (text[max(wrong - 40, 0) : wrong + 20], mine[wrong], other[wrong])


def test_expressions_are_what_all_editors_understand():
    for rules in TEXT_MATE["repository"].values():
        for rule in rules["patterns"]:
            for pattern in (rule.get("match"), rule.get("begin"), rule.get("end")):
                if pattern is None:
                    continue
                compiled = re.compile(pattern)
                assert compiled.groups == 0, pattern
                bare = re.sub(r"\[\^?(?:\\.|[^\]\\])*\]", "[]", pattern)  # without what classes hold
                assert not re.search(r"\\[^bdw.\[\](){}*+?|^$]|\(\?(?!:|=|!|<=|<!)|[*+?}][+?]|\{\d", bare), pattern
                assert "\\d" not in "".join(re.findall(r"\[.*?\]", pattern)), pattern


def test_vs_code_colors_as_pygments_does():
    for path in FILES:
        text = path.read_text()
        assert_same(text, text_mate_kinds(text))
    for stage in STAGES:
        text = opt("tp_mlp", stage)
        assert_same(text, text_mate_kinds(text))


def test_vs_code_finds_its_files():
    package = json.loads((EDITORS / "vscode/package.json").read_text())
    language, = package["contributes"]["languages"]
    syntax, = package["contributes"]["grammars"]
    assert language["extensions"] == [".plait", ".kir"] and syntax["scopeName"] == TEXT_MATE["scopeName"]
    for file in (language["configuration"], syntax["path"]):
        assert (EDITORS / "vscode" / file).exists()
    assert json.loads((EDITORS / "vscode/language-configuration.json").read_text())["comments"] == {"lineComment": "#"}


# ---- Vim

LOOK = """set nocompatible
let &runtimepath = '{vim},' . &runtimepath
filetype plugin on
syntax on
edit {file}
let found = [&filetype . ' ' . &commentstring]
for row in range(1, line('$'))
  let names = []
  for column in range(1, len(getline(row)))
    call add(names, synIDattr(synID(row, column, 1), 'name'))
  endfor
  call add(found, join(names, ' '))
endfor
call writefile(found, '{out}')
qall!
"""


def vim_kind(name):
    context = "|".join(each.title() for each in TEXT_MATE["repository"])
    kind = re.fullmatch(f"plait(?:{context})?([A-Z]\\w*)", name)[1]
    return re.sub(r"(?<!^)([A-Z])", r"_\1", kind).lower()


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
@pytest.mark.parametrize("stage", ["", "segments", "kir"])
def test_vim_colors_as_pygments_does(tmp_path, stage):
    text = opt("tp_mlp", stage) if stage else (ROOT / "docs/examples/tp_mlp.plait").read_text()
    file, out, script = tmp_path / ("a.kir" if stage == "kir" else "a.plait"), tmp_path / "out", tmp_path / "look.vim"
    file.write_text(text)
    script.write_text(LOOK.format(vim=EDITORS / "vim", file=file, out=out))
    done = subprocess.run(["vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", script], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    if not out.exists() and "E319" in done.stdout + done.stderr:
        pytest.skip("this vim has no syntax")
    head, *rows = out.read_text().splitlines()
    assert head == "plait # %s"
    found = []
    for line, names in zip(text.splitlines(), rows, strict=True):
        found += [None if char.isspace() else vim_kind(name) for char, name in zip(line, names.split(" ") if line else [])]
        found.append(None)
    assert_same(text, found)
