"""Python in README.md and docs/ runs as it stands there; where it is of PyTorch, with a small model. An `output` block
behind one is what it prints. Blocks of a tutorial go on from each other, others stand alone."""

import contextlib
import io
import pathlib
import re
import shutil
import subprocess
import sys

import plait
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from check_docs import diff, matches  # noqa: E402

BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n```output\n(.*?)^```$)?", re.M | re.S)
BLOCKS = [(path.name, i, *block) for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
          for i, block in enumerate(BLOCK.findall(path.read_text()))]
PAGES = {path.name: BLOCK.findall(path.read_text()) for path in sorted((ROOT / "docs/tutorials").glob("*.md"))}
TUTORIALS = {name: blocks for name, blocks in PAGES.items() if blocks}


def of_torch(block):
    return re.search(r"\btorch\b", re.sub(r"#.*", "", block)) is not None


def test_there_are_some():
    assert {(name, of_torch(block)) for name, _, block, _ in BLOCKS} >= {("README.md", True), ("python.md", False), ("torch.md", True)}


def test_host_libraries_of_the_wheel_are_listed():
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    text = (ROOT / "docs/python.md").read_text()
    files = [*pathlib.Path(plait.__file__).parent.glob("*.so")]
    shown = subprocess.run(["readelf", "-d", *files], capture_output=True, text=True, check=True).stdout
    needed = {re.match(r"[^.]+", each).group() for each in re.findall(r"\(NEEDED\).*\[(.*)\]", shown)}
    system = {"ld-linux-x86-64", "libc", "libdl", "libgcc_s", "libm", "libpthread"}
    assert files and not {each for each in needed - system if not each.startswith("libplait") and f"`{each}`" not in text}


def settled(text):
    """Without what differs from run to run or from machine to machine."""
    return re.sub(r"vector = \d+", "vector = N", re.sub(r" *\d+\.\d+ ms", " N ms", text))


def run(place, block, expected, values):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, place, "exec"), values)
    if expected and not matches(settled(expected), settled(printed.getvalue())):
        pytest.fail(f"{place} printed something else\n{diff(expected, printed.getvalue())}")


@pytest.mark.parametrize("name, number, block, expected", BLOCKS, ids=[f"{name}-{i}" for name, i, *_ in BLOCKS])
def test_a_block_runs(name, number, block, expected, monkeypatch):
    monkeypatch.chdir(ROOT)
    place = f"{name}, block {number}"
    if not of_torch(block):
        run(place, block, expected, {})
        return
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    values = {"model": torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)),
              "x": torch.randn(3, 8)}
    plain = values["model"]
    run(place, block, expected, values)
    if values["model"] is not plain:  # the block compiled it
        torch.testing.assert_close(values["model"](values["x"]), plain(values["x"]))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if any(of_torch(block) for block, _ in TUTORIALS[name]):
        pytest.importorskip("torch")._dynamo.reset()
    values = {}
    for number, (block, expected) in enumerate(TUTORIALS[name]):
        run(f"{name}, block {number}", block, expected, values)
