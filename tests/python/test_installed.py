"""The installed package where the source tree, and all that was built in it, cannot be read."""

import pathlib
import shutil
import subprocess
import sys

import plait
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '''
import pathlib, sys
assert not any(pathlib.Path(sys.argv[1]).iterdir())
import numpy as np
import plait
assert plait.__file__.startswith(sys.prefix), plait.__file__
f = plait.Fusion("mlp", mesh=plait.Mesh(tp="t"))
x, w = f.input("x", ["rows", 6], plait.f32), f.parameter("w", [4, 6], plait.f32)
w.shard(0, "tp")
f.output("y", plait.ops.softmax(plait.ops.linear(x, w) * 0.5, dim=-1))
x, w = np.arange(30, dtype=np.float32).reshape(5, 6) / 30, np.eye(4, 6, dtype=np.float32)
h = np.exp(x @ w.T / 2)
for y in (plait.compile(plait.parse(str(f)), ranks=1, device=device).run({"x": x, "w": w})["y"]
          for device in ("cpu", "reference")):
    np.testing.assert_allclose(y.numpy(), h / h.sum(1, keepdims=True), rtol=1e-5)
np.testing.assert_allclose(plait.run_ranks(f, {"x": x, "w": w}, 2)["y"].numpy(), h / h.sum(1, keepdims=True), rtol=1e-5)
assert "LLVM" in plait.doctor()
assert "built without" not in plait.doctor(), plait.doctor()
with open("/proc/self/maps") as maps:
    assert sys.argv[1] not in maps.read()
print("it ran")
'''


def test_it_runs_without_the_source_tree(tmp_path):
    environment = pathlib.Path(sys.prefix)
    if environment not in pathlib.Path(plait.__file__).parents:
        pytest.skip("plait is not installed in this environment")
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"]).returncode:
        pytest.skip("this user makes no namespaces of mounts")
    here = tmp_path / "environment"  # the environment may lie in the source tree
    here.mkdir()
    hidden = ('mount --bind "$1" "$2" && mount -t tmpfs none "$3" && cd / && '
              'exec env -u PYTHONPATH -u VIRTUAL_ENV "$2/bin/python" -c "$4" "$3"')
    done = subprocess.run(["unshare", "-rm", "sh", "-c", hidden, "sh", environment, here, ROOT, PROGRAM],
                          capture_output=True, text=True, timeout=300)
    assert done.stdout == "it ran\n", done.stderr
