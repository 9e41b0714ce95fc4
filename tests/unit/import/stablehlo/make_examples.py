"""Writes examples/*.mlir: functions as jax lowers them, with inputs and what jax computes for them as comments.

usage: make_examples.py FOLDER, with an interpreter that has jax (these are of 0.10.2)
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

NAMES = {"float32": "f32", "bfloat16": "bf16", "int32": "i32", "bool": "bool", "int64": "i64", "uint32": "u32"}


def mlp(x, w0, b0, w1, b1):
    return jax.nn.gelu(x @ w0 + b0) @ w1 + b1


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    seen = jnp.tril(jnp.ones((q.shape[2], k.shape[2]), bool))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(seen, scores, -1e30)), v)


def layer_norm(x, w, b):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * w + b


def conv_nhwc(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_groups(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), [(1, 1), (2, 0)], rhs_dilation=(2, 1), feature_group_count=2)


def conv_transposed(x, w):
    return lax.conv_general_dilated(x, w, (1,), [(1, 2)], lhs_dilation=(2,))


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def sum_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 2, 1), "SAME")


def reductions(x, i, b):
    return x.sum(), x.max(0), x.min(1), x.prod(1), i.sum(0), b.any(0), b.all(1), jnp.max(x, initial=0.5)


def argmax(x):
    return jnp.argmax(x, -1), jnp.argmin(x, 0)


def loss(x, target):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), target[:, None], axis=1).mean()


def moves(x):
    parts = jnp.concatenate([x[:, 1:3], x[::-1, ::2]], 1)
    padded = lax.pad(x, 2.0, ((1, 2, 1), (-1, 3, 0)))
    return parts, padded, x.T.reshape(-1), jnp.roll(x, 1, 0), jnp.broadcast_to(x[None], (2, 3, 4))


def dynamic_slice(x, i):
    return lax.dynamic_slice(x, (i, 1), (2, 3)), lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i, 1))


def loop(x):
    return lax.fori_loop(0, 4, lambda i, y: y * 0.5 + i, x)


def scan(x, rows):
    return lax.scan(lambda carry, row: (carry + row, carry * row), x, rows)


def branch(p, i, x):
    first = lax.cond(p, lambda y: y + 1, lambda y: y * 2, x)
    return lax.switch(i, [lambda y: y, lambda y: -y, lambda y: y * y], first)


def constants(x):
    return x + jnp.array([1.0, -2.5, 3.25]) + jnp.arange(3), jnp.eye(3) * 2, jnp.where(x > 0, jnp.inf, jnp.nan)


def functions(x):
    each = (jnp.sin, jnp.cos, jnp.tan, jnp.exp, jnp.expm1, jnp.log1p, jnp.sqrt, jnp.cbrt, jnp.tanh, jnp.floor,
            jnp.ceil, jnp.round, jnp.sign, jnp.abs, jnp.isfinite, jax.nn.sigmoid, jax.nn.relu, jax.nn.silu, lax.erf,
            jnp.arctan, jnp.sinh, jnp.cosh, lax.rsqrt, jnp.log)
    return tuple(f(x) for f in each) + (lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), jnp.arctan2(x, x + 1), x**2.5)


def integers(a, b):
    return (a // b, a % b, lax.div(a, b), lax.rem(a, b), a & b, a | b, a ^ b, ~a, a << 2, a >> 1,
            lax.shift_right_logical(a, jnp.full_like(a, 3)), jnp.minimum(a, b), a**2, lax.clamp(0, a, 5), a > b)


def bits(x):
    return lax.bitcast_convert_type(x, jnp.int32), x.astype(jnp.int32), x.astype(bool)


def sort(x):
    return jnp.sort(x, -1), jnp.argsort(x, -1), jnp.sort(x, 0, descending=True)


def running(x):
    return jnp.cumsum(x, 0), lax.cumprod(x, 1), lax.cummax(x, 1), lax.cumsum(x, 0, reverse=True)


def gradient(x, w):
    return jax.grad(lambda v: jnp.sum(jax.nn.relu(x @ v) ** 2))(w)


def narrow(x, w):
    return (x.astype(jnp.bfloat16) @ w).astype(jnp.float32)


def random():
    return jax.random.uniform(jax.random.PRNGKey(3), (6,))


def batched_lookup(x, i):
    return jax.vmap(lambda row, at: row[at])(x, i)


def embedding_gradient(table, i, g):
    return jax.vjp(lambda t: t[i], table)[1](g)


def window_lookup(x, i):
    return jax.vmap(lambda at: lax.dynamic_slice(x, (at, 0), (2, 3)))(i)


def scatters(x, i, u):
    return x.at[i].set(u), x.at[i].max(u), x.at[:, i[:2]].add(1.0), x.at[i[0], 1].mul(3.0)


def example(shape, dtype=np.float32, low=-2, high=3, seed=0):
    rng = np.random.default_rng(seed + sum(shape))
    if dtype == bool:
        return rng.random(shape) > 0.4
    if np.issubdtype(dtype, np.integer):
        return rng.integers(low, high, shape).astype(dtype)
    return np.round(rng.uniform(low, high, shape), 2).astype(dtype)


I32 = np.int32
A = example
CASES = {
    mlp: [A((4, 8)), A((8, 16)), A((16,)), A((16, 8)), A((8,))],
    attention: [A((2, 3, 5, 4)), A((2, 3, 5, 4), seed=1), A((2, 3, 5, 4), seed=2)],
    layer_norm: [A((3, 8)), A((8,)), A((8,), seed=1)],
    conv_nhwc: [A((2, 5, 6, 3)), A((3, 3, 3, 4))],
    conv_groups: [A((1, 4, 6, 5)), A((6, 2, 3, 3))],
    conv_transposed: [A((2, 3, 5)), A((4, 3, 3))],
    max_pool: [A((1, 4, 5, 2))],
    sum_pool: [A((1, 4, 4, 2))],
    reductions: [A((3, 4)), A((3, 4), I32), A((3, 4), bool)],
    argmax: [np.array([[1, 5, 5, 0], [-1, -1, -3, -3], [np.nan, 2, 7, np.nan]], np.float32)],
    loss: [A((4, 5)), A((4,), I32, 0, 5)],
    moves: [A((3, 4))],
    dynamic_slice: [A((5, 4)), np.int32(4)],
    loop: [A((3,))],
    scan: [A((3,)), A((4, 3))],
    branch: [np.bool_(True), np.int32(1), A((3,))],
    constants: [A((3,))],
    functions: [np.array([0.5, 2.5, 0.25, 7.0], np.float32)],
    integers: [np.array([7, -7, 8, -9], I32), np.array([2, 2, -3, -4], I32)],
    bits: [np.array([1.5, -2.25, 0.0], np.float32)],
    sort: [np.array([[3, 1, 2, 1], [0, -1, np.nan, -0.0], [5, 5, -5, 4]], np.float32)],
    running: [A((4, 3))],
    gradient: [A((4, 3)), A((3, 2))],
    narrow: [A((4, 3)), A((3, 2)).astype(ml_dtypes.bfloat16)],
    random: [],
    batched_lookup: [A((3, 4)), np.array([[0, 3], [-1, 1], [9, 2]], I32)],
    embedding_gradient: [A((6, 4)), np.array([5, 0, 5], I32), A((3, 4))],
    window_lookup: [A((5, 3)), np.array([0, 3, 7, -2], I32)],
    scatters: [A((5, 4)), np.array([4, 0, 9], I32), A((3, 4))],
}


def line(kind, name, value):
    value = np.asarray(value)
    numbers = value.reshape(-1).tolist() if value.dtype != ml_dtypes.bfloat16 else value.astype(np.float32).reshape(-1).tolist()
    texts = [str(int(n)) if isinstance(n, bool) else f"{n:.9g}" if isinstance(n, float) else str(n) for n in numbers]
    return f"// {kind} {name} {NAMES[str(value.dtype)]}[{','.join(map(str, value.shape))}] {' '.join(texts)}\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    for function, values in CASES.items():
        lowered = jax.jit(function, keep_unused=True).lower(*values)
        out = [f"// Made by jax {jax.__version__} (make_examples.py).\n"]
        out += [line("input", f"arg{i}", value) for i, value in enumerate(values)]
        results = jax.jit(function)(*values)
        out += [line("output", str(i), value) for i, value in enumerate(jax.tree.leaves(results))]
        (folder / f"{function.__name__}.mlir").write_text("".join(out) + lowered.as_text())
        if function in (mlp, argmax, conv_nhwc, scan, sort, constants, moves, scatters, attention):
            text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
            (folder / f"{function.__name__}_generic.mlir").write_text("".join(out) + text.rstrip("\n") + "\n")


main()
