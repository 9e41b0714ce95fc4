"""Kinds of fusions: the text that plait compiles, the function that PyTorch runs, and inputs at each size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
import torch.nn.functional as F

aten = torch.ops.aten
SIZES = ("1mb", "16mb", "64mb", "256mb")  # of the largest tensor in f32, at most; 1mb is for tests, 256mb for GPUs

MATRIX = {"1mb": (512, 512), "16mb": (2048, 2048), "64mb": (4096, 4096), "256mb": (8192, 8192)}
HEADS = {"1mb": (1, 4, 1024, 64), "16mb": (4, 16, 1024, 64), "64mb": (4, 16, 4096, 64), "256mb": (16, 16, 4096, 64)}
QUERIES = {"1mb": (1, 4, 256, 64), "16mb": (2, 16, 1024, 64), "64mb": (1, 16, 4096, 64), "256mb": (4, 16, 4096, 64)}
IMAGES = {"1mb": (4, 64, 32, 32), "16mb": (16, 64, 56, 56), "64mb": (64, 64, 64, 64), "256mb": (256, 64, 64, 64)}
TABLES = {"1mb": (2048, 128), "16mb": (8192, 512), "64mb": (16384, 1024), "256mb": (65536, 1024)}
LOGITS = {"1mb": (256, 1024), "16mb": (1024, 4096), "64mb": (2048, 8192), "256mb": (4096, 16384)}


@dataclasses.dataclass
class Kind:
    name: str
    head: str  # of the fusion: inputs and outputs; T is the dtype of the row, S that of statistics that it is given
    body: str
    function: Callable[..., object]  # inputs in the order of the text
    draw: Callable[[tuple[int, ...], torch.dtype], list[torch.Tensor]]
    shapes: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=lambda: MATRIX)
    sizes: Callable[[tuple[int, ...]], dict[str, int]] = lambda shape: {}  # symbols that no input has
    table: int | None = None  # the input of which only as much is read as the result holds
    read: float = 1.0  # the part of the inputs that is read

    @property
    def text(self):
        return f"let T = f32, S = f32\nfusion @{self.name} {self.head} {{\n{self.body}\n}}\n"


def normal(*shape, dtype):
    return torch.randn(shape).to(dtype)


def matrices(count, *, vectors=0, scalars=0):
    """Matrices, then vectors as long as a row, then numbers."""
    def draw(shape, dtype):
        rows, n = shape
        return ([normal(rows, n, dtype=dtype) for _ in range(count)] + [normal(n, dtype=dtype) for _ in range(vectors)]
                + [normal(dtype=dtype) for _ in range(scalars)])
    return draw


def positive(shape, dtype):
    """For a sum of everything, whose error is measured against the sum."""
    return [torch.rand(shape).to(dtype)]


def wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def chain(x, y):
    a = (x + y) * 0.5
    c = torch.tanh(a) - x * y
    d = torch.sigmoid(torch.clamp_min(c, -3.0))
    e = torch.sqrt(d * d + 1.0) + torch.abs(a)
    return e / (torch.exp(-d) + 1.0)


def with_statistics(shape, dtype):
    x, dy, w = matrices(2, vectors=1)(shape, dtype)
    _, mean, rstd = torch.native_layer_norm(x, [shape[1]], w, None, 1e-5)
    return [x, w, mean, rstd, dy]


def layer_norm_backward(x, w, mean, rstd, dy):
    return aten.native_layer_norm_backward(dy, x, [x.shape[1]], mean, rstd, w, w, [True, True, True])


def with_rstd(shape, dtype):
    x, dy, w = matrices(2, vectors=1)(shape, dtype)
    return [x, w, torch.rsqrt(wide(x).square().mean(1, keepdim=True) + 1e-6), dy]


def rms_norm_backward(x, w, rstd, dy):
    xhat = wide(x) * rstd
    g = wide(dy) * wide(w)
    dx = (g - xhat * (g * xhat).mean(1, keepdim=True)) * rstd
    return dx.to(x.dtype), (wide(dy) * xhat).sum(0).to(x.dtype)


def rope(x, cos, sin):
    half = x.shape[-1] // 2
    rotated = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + rotated * sin


def heads(shape, dtype):
    angles = torch.rand(shape[2], shape[3] // 2) * 6.28
    angles = torch.cat([angles, angles], 1)
    return [normal(*shape, dtype=dtype), angles.cos().to(dtype), angles.sin().to(dtype)]


def queries_keys_values(shape, dtype, shared=1):
    b, h, s, d = shape
    return [normal(b, h, s, d, dtype=dtype)] + [normal(b, h // shared, s, d, dtype=dtype) for _ in range(2)]


def logits(shape, dtype):
    return [normal(*shape, dtype=dtype), torch.randint(0, shape[1], shape[:1])]


def cross_entropy_both(x, target):
    """The loss and its gradient: the nodes that autograd runs."""
    logp = aten._log_softmax(x, 1, False)
    loss, count = aten.nll_loss_forward(logp, target, None, 1, -100)
    dlogp = aten.nll_loss_backward(torch.ones_like(loss), logp, target, None, 1, -100, count)
    return loss, aten._log_softmax_backward_data(dlogp, logp, 1, x.dtype)


def lookups(shape, dtype):
    return [torch.randint(0, shape[0], shape[:1]), normal(*shape, dtype=dtype)]


def embedding_backward(index, dy):
    return aten.embedding_dense_backward(dy, index, dy.shape[0], -1, False)


def images(shape, dtype):
    return [normal(*shape, dtype=dtype), normal(shape[1], dtype=dtype), normal(shape[1], dtype=dtype)]


def quantise(x):
    scale = wide(x).abs().amax(1, keepdim=True).clamp_min(1e-8) / 127.0
    return torch.clamp(torch.round(wide(x) / scale), -128.0, 127.0).to(torch.int8), scale


def optimizer(shape, dtype):
    p, g, m, v = (normal(shape[0] * shape[1], dtype=dtype) for _ in range(4))
    return [p, g, m, v.abs() + 0.01]


def adam(p, g, m, v):
    m1 = torch.lerp(m, g, 0.1)
    v1 = v * 0.999 + g * g * 0.001
    return p - 0.001 * m1 / (torch.sqrt(v1) + 1e-8), m1, v1


KINDS = [
    Kind("gelu_bias", "(%x: T[rows, n], %b: T[n]) -> (%y)", "%y = gelu(add(%x, %b))", lambda x, b: F.gelu(x + b),
         matrices(1, vectors=1)),
    Kind("chain_12", "(%x: T[rows, n], %y: T[rows, n]) -> (%z)", """
  %a = mul(add(%x, %y), 0.5)
  %c = sub(tanh(%a), mul(%x, %y))
  %d = sigmoid(max(%c, -3.0))
  %e = add(sqrt(add(square(%d), 1.0)), abs(%a))
  %z = div(%e, add(exp(neg(%d)), 1.0))""", chain, matrices(2)),
    Kind("softmax", "(%x: T[rows, n]) -> (%y)", "%y = softmax(%x, dim = 1)", lambda x: F.softmax(x, 1), matrices(1)),
    Kind("layer_norm", "(%x: T[rows, n], %w: T[n], %b: T[n]) -> (%y)", "%y = layer_norm(%x, %w, %b)",
         lambda x, w, b: F.layer_norm(x, w.shape, w, b), matrices(1, vectors=2)),
    Kind("layer_norm_backward", "(%x: T[rows, n], %w: T[n], %mean: S[rows, 1], %rstd: S[rows, 1], %dy: T[rows, n]) "
         "-> (%dx, %dw, %db)", """
  %g = mul(cast(%dy, to = f32), cast(%w, to = f32))
  %xhat = mul(sub(cast(%x, to = f32), %mean), %rstd)
  %m1 = mean(%g, dims = [1], keepdim = true)
  %m2 = mean(mul(%g, %xhat), dims = [1], keepdim = true)
  %dx = cast(mul(sub(sub(%g, %m1), mul(%xhat, %m2)), %rstd), to = T)
  %dw = cast(sum(mul(cast(%dy, to = f32), %xhat), dims = [0]), to = T)
  %db = sum(%dy, dims = [0])""", layer_norm_backward, with_statistics),
    Kind("rms_norm", "(%x: T[rows, n], %w: T[n]) -> (%y)", "%y = rms_norm(%x, %w)",
         lambda x, w: F.rms_norm(x, w.shape, w, 1e-6), matrices(1, vectors=1)),
    Kind("rms_norm_backward", "(%x: T[rows, n], %w: T[n], %rstd: S[rows, 1], %dy: T[rows, n]) -> (%dx, %dw)", """
  %xhat = mul(cast(%x, to = f32), %rstd)
  %g = mul(cast(%dy, to = f32), cast(%w, to = f32))
  %m = mean(mul(%g, %xhat), dims = [1], keepdim = true)
  %dx = cast(mul(sub(%g, mul(%xhat, %m)), %rstd), to = T)
  %dw = cast(sum(mul(cast(%dy, to = f32), %xhat), dims = [0]), to = T)""", rms_norm_backward, with_rstd),
    Kind("residual_layer_norm", "(%x: T[rows, n], %r: T[rows, n], %w: T[n], %b: T[n]) -> (%y)",
         "%y = layer_norm(add(%x, %r), %w, %b)", lambda x, r, w, b: F.layer_norm(x + r, w.shape, w, b),
         matrices(2, vectors=2)),
    Kind("sum_rows", "(%x: T[rows, n]) -> (%y)", "%y = sum(%x, dims = [1])", lambda x: x.sum(1), matrices(1)),
    Kind("sum_columns", "(%x: T[rows, n]) -> (%y)", "%y = sum(%x, dims = [0])", lambda x: x.sum(0), matrices(1)),
    Kind("sum_all", "(%x: T[rows, n]) -> (%y)", "%y = sum(%x)", lambda x: x.sum(), positive),
    Kind("argmax", "(%x: T[rows, n]) -> (%y)", "%y = argmax(%x, dims = [1])", lambda x: x.argmax(1), matrices(1)),
    Kind("cumsum", "(%x: T[rows, n]) -> (%y)", "%y = cumsum(%x, dim = 1)", lambda x: x.cumsum(1), matrices(1)),
    Kind("transpose_add", "(%x: T[n, rows], %y: T[rows, n]) -> (%z)", "%z = add(permute(%x, dims = [1, 0]), %y)",
         lambda x, y: x.t() + y, matrices(2)),
    Kind("rope", "(%x: T[b, h, s, 2*d], %cos: T[s, 2*d], %sin: T[s, 2*d]) -> (%y)", "%y = rope(%x, %cos, %sin)", rope,
         heads, HEADS),
    Kind("cross_entropy", "(%x: T[rows, n], %t: i64[rows]) -> (%loss)", "%loss = cross_entropy(%x, %t)",
         F.cross_entropy, logits, LOGITS),
    Kind("cross_entropy_both", "(%x: T[rows, n], %t: i64[rows]) -> (%loss, %dx)", """
  %logp = log_softmax(cast(%x, to = f32), dim = 1)
  %loss = cast(neg(mean(gather(%logp, unsqueeze(%t, dims = [1]), dim = 1))), to = T)
  %hot = one_hot(%t, classes = n, dtype = f32)
  %dx = cast(div(sub(exp(%logp), %hot), size(value = rows, dtype = f32)), to = T)""", cross_entropy_both, logits, LOGITS),
    Kind("embedding", "(%i: i64[tokens], %t: T[vocab, h]) -> (%y)", "%y = embedding(%i, %t)", F.embedding, lookups, TABLES,
         table=1),
    Kind("embedding_backward", "(%i: i64[tokens], %dy: T[tokens, h]) -> (%dt)", """
  %at = broadcast(%i, shape = [tokens, h], dims = [0])
  %dt = scatter(full(shape = [vocab, h], value = 0.0, dtype = T), %at, %dy, dim = 0, update = add)""", embedding_backward, lookups,
         TABLES, sizes=lambda shape: {"vocab": shape[0]}),
    Kind("batch_norm_relu", "(%x: T[b, c, h, v], %w: T[c], %bias: T[c]) -> (%y)", "%y = relu(batch_norm(%x, %w, %bias))",
         lambda x, w, b: F.relu(F.batch_norm(x, None, None, w, b, training=True)), images, IMAGES),
    Kind("group_norm", "(%x: T[b, 32*c, h, v], %w: T[32*c], %bias: T[32*c]) -> (%y)",
         "%y = group_norm(%x, %w, %bias, groups = 32)", lambda x, w, b: F.group_norm(x, 32, w, b), images, IMAGES),
    Kind("slice_cat", "(%x: T[rows, 2*n], %y: T[rows, 2*n]) -> (%z)", """
  %a = mul(slice(%x, dim = 1, start = n), 2.0)
  %c = add(slice(%y, dim = 1, stop = n), 1.0)
  %z = cat(%a, %c, dim = 1)""",
         lambda x, y: torch.cat([x[:, x.shape[1] // 2:] * 2.0, y[:, :y.shape[1] // 2] + 1.0], 1), matrices(2), read=0.5),
    Kind("quantise", "(%x: T[rows, n]) -> (%q, %scale)", """
  %wide = cast(%x, to = f32)
  %scale = div(max(amax(abs(%wide), dims = [1], keepdim = true), 1e-08), 127.0)
  %q = cast(clamp(round(div(%wide, %scale)), -128.0, 127.0), to = i8)""", quantise, matrices(1)),
    Kind("adam", "(%p: T[n], %g: T[n], %m: T[n], %v: T[n]) -> (%p1, %m1, %v1)", """
  %m1 = lerp(%m, %g, 0.1)
  %v1 = add(mul(%v, 0.999), mul(square(%g), 0.001))
  %p1 = sub(%p, div(mul(%m1, 0.001), add(sqrt(%v1), 1e-08)))""", adam, optimizer),
]

# Of their own: products of matrices decide their times. --of attention.
ATTENTION = [
    Kind("attention", "(%q: T[b, h, s, d], %k: T[b, h, s, d], %v: T[b, h, s, d]) -> (%y)",
         "%y = scaled_dot_product_attention(%q, %k, %v)", F.scaled_dot_product_attention, queries_keys_values, QUERIES),
    Kind("attention_causal", "(%q: T[b, h, s, d], %k: T[b, h, s, d], %v: T[b, h, s, d]) -> (%y)",
         "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)",
         lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), queries_keys_values, QUERIES),
    Kind("attention_shared_heads", "(%q: T[b, 4*h, s, d], %k: T[b, h, s, d], %v: T[b, h, s, d]) -> (%y)",
         "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)",
         lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),
         lambda shape, dtype: queries_keys_values(shape, dtype, 4), QUERIES),
]
