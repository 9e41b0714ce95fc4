"""A tensor-parallel MLP, one process a rank: plait launch -n 2 -- python3 docs/examples/mpi_mlp.py"""

import numpy as np
import plait

f = plait.Fusion("mlp", mesh=plait.Mesh(tp="t"))
x = f.input("x", ["b", 32], plait.f32)
w = f.parameter("w", [64, 32], plait.f32)
w.shard(0, "tp")
v = f.parameter("v", [32, 64], plait.f32)
v.shard(1, "tp")
f.output("y", plait.ops.linear(plait.ops.relu(plait.ops.linear(x, w)), v))
p = plait.compile(f, comm="mpi", ranks=2)
r = np.random.default_rng(0)
a = {n: r.standard_normal(s).astype(np.float32) for n, s in {"x": (4, 32), "w": (64, 32), "v": (32, 64)}.items()}
y = p.run(a)["y"].numpy()
want = np.maximum(a["x"] @ a["w"].T, 0) @ a["v"].T
print(f"rank {p.rank} of {p.ranks}: largest error {abs(y - want).max():.1e}, {p.report['collectives']} collective")
