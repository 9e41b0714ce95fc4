"""Python in README.md and docs/ runs as it stands there; where it is of PyTorch, with a small model."""

import pathlib
import re
import shutil
import subprocess

import plait
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = [(path.name, i, block) for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
          for i, block in enumerate(re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.M | re.S))]


def of_torch(block):
    return re.search(r"\btorch\b", re.sub(r"#.*", "", block)) is not None


def test_there_are_some():
    assert {(name, of_torch(block)) for name, _, block in BLOCKS} >= {("README.md", True), ("python.md", False), ("torch.md", True)}


def test_host_libraries_of_the_wheel_are_listed():
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    text = (ROOT / "docs/python.md").read_text()
    files = [*pathlib.Path(plait.__file__).parent.glob("*.so")]
    shown = subprocess.run(["readelf", "-d", *files], capture_output=True, text=True, check=True).stdout
    needed = {re.match(r"[^.]+", each).group() for each in re.findall(r"\(NEEDED\).*\[(.*)\]", shown)}
    system = {"ld-linux-x86-64", "libc", "libdl", "libgcc_s", "libm", "libpthread"}
    assert files and not {each for each in needed - system if not each.startswith("libplait") and f"`{each}`" not in text}


@pytest.mark.parametrize("name, number, block", BLOCKS, ids=[f"{name}-{i}" for name, i, _ in BLOCKS])
def test_a_block_runs(name, number, block):
    code = compile(block, f"{name}, block {number}", "exec")
    if not of_torch(block):
        exec(code, {})
        return
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    values = {"model": torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)),
              "x": torch.randn(3, 8)}
    plain = values["model"]
    exec(code, values)
    if values["model"] is not plain:  # the block compiled it
        torch.testing.assert_close(values["model"](values["x"]), plain(values["x"]))
