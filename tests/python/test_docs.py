"""Python in README.md and docs/ runs as it stands there, with a small model in PyTorch's."""

import pathlib
import re

import pytest

torch = pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = [(path.name, i, block) for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
          for i, block in enumerate(re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.M | re.S))]


def test_there_are_some():
    assert {name for name, _, _ in BLOCKS} >= {"README.md", "python.md", "torch.md"}


@pytest.mark.parametrize("name, number, block", BLOCKS, ids=[f"{name}-{i}" for name, i, _ in BLOCKS])
def test_a_block_runs(name, number, block):
    torch._dynamo.reset()
    values = {"model": torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)),
              "x": torch.randn(3, 8)}
    plain = values["model"]
    exec(compile(block, f"{name}, block {number}", "exec"), values)
    if values["model"] is not plain:  # the block compiled it
        torch.testing.assert_close(values["model"](values["x"]), plain(values["x"]))
