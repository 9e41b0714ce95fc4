"""Cases of the layers of ops.def: softmax, norms, losses, positions, attention; against PyTorch."""
import math

import torch
import torch.nn.functional as F

from cases import tensor
from ops import INF, NAN, drawn, in_types


def softmaxes(table):
    x = drawn(2, 3, 5) * 3
    special = tensor([[1.0, -INF, 2.0], [-INF, -INF, -INF], [INF, 0.0, 1.0], [NAN, 0.0, 1.0], [1e300, -1e300, 0.0]])
    for name, function in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
        for dim in (0, -1):
            in_types(table, f"{name}(%a, dim = {dim})", lambda t: function(t, dim), x)
        table.case(f"{name}(%a, dim = 1)", special, want=function(special, 1))
        table.case(f"{name}(%a, dim = 0)", x[0, 0, :0], want=x[0, 0, :0])


def norms(table):
    x, w, b = drawn(2, 3, 4) * 2 + 1, drawn(4), drawn(4)
    w2, b2 = drawn(3, 4), drawn(3, 4)
    in_types(table, "layer_norm(%a)", lambda t: F.layer_norm(t, (4,)), x)
    in_types(table, "layer_norm(%a, %b, %c)", lambda t, w, b: F.layer_norm(t, (4,), w, b), x, w, b)
    in_types(table, "layer_norm(%a, %b, %c, dims = 2, eps = 0.01)",
             lambda t, w, b: F.layer_norm(t, (3, 4), w, b, eps=0.01), x, w2, b2)
    in_types(table, "layer_norm(%a)", lambda t: F.layer_norm(t, (4,)), torch.full_like(x, 3.0), dtypes=("f64",))
    in_types(table, "layer_norm(%a)", lambda t: F.layer_norm(t, (4,)), x + 1e6, dtypes=("f64",))
    in_types(table, "rms_norm(%a)", lambda t: F.rms_norm(t, (4,), eps=1e-6), x)
    in_types(table, "rms_norm(%a, %b, eps = 0.1)", lambda t, w: F.rms_norm(t, (4,), w, eps=0.1), x, w)
    in_types(table, "rms_norm(%a, %b, dims = 2)", lambda t, w: F.rms_norm(t, (3, 4), w, eps=1e-6), x, w2)
    y, wc, bc = drawn(3, 6, 2, 2) * 2 + 1, drawn(6), drawn(6)
    for groups in (1, 3, 6):
        in_types(table, f"group_norm(%a, %b, %c, groups = {groups})",
                 lambda t, w, b: F.group_norm(t, groups, w, b), y, wc, bc)
    in_types(table, "group_norm(%a, groups = 2, eps = 0.01)", lambda t: F.group_norm(t, 2, eps=0.01), y[:, :, 0, 0])
    in_types(table, "batch_norm(%a)", lambda t: F.batch_norm(t, None, None, training=True), y)
    in_types(table, "batch_norm(%a, %b, %c)",
             lambda t, w, b: F.batch_norm(t, None, None, w, b, training=True), y, wc, bc)
    in_types(table, "batch_norm(%a)", lambda t: F.batch_norm(t, None, None, training=True), y[:, :, 0, 0])
    mean, var = drawn(6), drawn(6) ** 2 + 0.1

    def inference(t, m, v, w=None, b=None, eps=1e-5):  # PyTorch folds it into one product and sum: other roundings
        m, v, w, b = (p if p is None else p[:, None, None] for p in (m, v, w, b))
        unit = (t - m) / torch.sqrt(v + eps)
        return unit if w is None else unit * w + b

    assert torch.allclose(inference(y, mean, var, wc, bc), F.batch_norm(y, mean, var, wc, bc))
    in_types(table, "batch_norm(%a, mean = %b, var = %c)", inference, y, mean, var)
    in_types(table, "batch_norm(%a, %b, %c, mean = %d, var = %e, eps = 0.01)",
             lambda t, w, b, m, v: inference(t, m, v, w, b, 0.01), y, wc, bc, mean, var)


def losses(table):
    x, target = drawn(6, 5) * 2, tensor([0, 4, 2, 2, 1, 3], "i64")
    for reduction in ("mean", "sum", "none"):
        in_types(table, f"cross_entropy(%a, %b, reduction = {reduction})",
                 lambda t, i: F.cross_entropy(t, i, reduction=reduction), x, target)
        in_types(table, f"cross_entropy(%a, %b, ignore_index = 2, smoothing = 0.1, reduction = {reduction})",
                 lambda t, i: F.cross_entropy(t, i, ignore_index=2, label_smoothing=0.1, reduction=reduction),
                 x, target)
        in_types(table, f"mse(%a, %b, reduction = {reduction})",
                 lambda s, t: F.mse_loss(s, t, reduction=reduction), x, drawn(6, 5))
    far = target.clone()
    far[1] = -100
    in_types(table, "cross_entropy(%a, %b, ignore_index = -100)", F.cross_entropy, x, far)
    in_types(table, "cross_entropy(%a, %b, smoothing = 1)",
             lambda t, i: F.cross_entropy(t, i, label_smoothing=1.0), x, target, dtypes=("f64",))
    cube = x.reshape(2, 3, 5)
    in_types(table, "cross_entropy(%a, %b)", lambda t, i: F.cross_entropy(t.reshape(-1, 5), i.reshape(-1)), cube,
             target.reshape(2, 3))
    in_types(table, "cross_entropy(%a, %b)", F.cross_entropy, x[0], target[0], dtypes=("f64",))
    table.case("cross_entropy(%a, %b, ignore_index = 1)", x[:2], tensor([1, 1], "i64"), want=tensor(NAN))
    table.case("cross_entropy(%a, %b, reduction = none)", x[:3], tensor([5, -1, 0], "i32"),
               want=torch.cat([tensor([NAN, NAN]), F.cross_entropy(x[2:3], target[:1], reduction="none")]))
    special = tensor([[1.0, -INF, 2.0], [1.0, -INF, 2.0], [-INF, -INF, -INF], [INF, 0.0, 1.0]])
    hit = tensor([0, 1, 0, 1], "i64")
    table.case("cross_entropy(%a, %b, reduction = none)", special, hit,
               want=F.cross_entropy(special, hit, reduction="none"))
    table.case("mse(%a, %b)", x[:0], x[:0], want=tensor(NAN))


def gates(table):
    gate, up = drawn(3, 4) * 3, drawn(3, 4)
    in_types(table, "swiglu(%a, %b)", lambda g, u: F.silu(g) * u, gate, up)
    x, cos, sin = drawn(2, 3, 5, 8), drawn(5, 8), drawn(5, 8)

    def halves(t, c, s):
        first, second = t.chunk(2, -1)
        return t * c + torch.cat([-second, first], -1) * s

    def pairs(t, c, s):
        turned = torch.stack([-t[..., 1::2], t[..., ::2]], -1).reshape(t.shape)
        return t * c + turned * s

    in_types(table, "rope(%a, %b, %c)", halves, x, cos, sin)
    in_types(table, "rope(%a, %b, %c, interleaved = true)", pairs, x, cos, sin)
    in_types(table, "rope(%a, %b, %c)", halves, x[0, 0, 0], cos[0], sin[:1, 0], dtypes=("f64",))


def attention(table):
    q, k, v = drawn(2, 4, 3, 8), drawn(2, 4, 5, 8), drawn(2, 4, 5, 6)
    name = "scaled_dot_product_attention"
    sdpa = F.scaled_dot_product_attention
    in_types(table, f"{name}(%a, %b, %c)", sdpa, q, k, v)
    in_types(table, f"{name}(%a, %b, %c, causal = true)", lambda q, k, v: sdpa(q, k, v, is_causal=True), q, k, v)
    in_types(table, f"{name}(%a, %b, %c, scale = 0.3)", lambda q, k, v: sdpa(q, k, v, scale=0.3), q, k, v)
    keep = torch.rand(3, 5, generator=torch.Generator().manual_seed(3)) > 0.4
    keep[1] = False  # a row that keeps nothing
    in_types(table, f"{name}(%a, %b, %c, mask = %d)", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), q, k, v, keep)
    bias = drawn(2, 1, 3, 5)
    bias[0, 0, 2] = -INF
    in_types(table, f"{name}(%a, %b, %c, mask = %d)", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), q, k, v, bias)
    causal = torch.ones(3, 5, dtype=torch.bool).tril()
    in_types(table, f"{name}(%a, %b, %c, mask = %d, causal = true)",
             lambda q, k, v, m: sdpa(q, k, v, attn_mask=m & causal), q, k, v, keep, dtypes=("f64",))
    in_types(table, f"{name}(%a, %b, %c, causal = true)",
             lambda q, k, v: sdpa(q, k, v, is_causal=True, enable_gqa=True), q, k[:, :2], v[:, :2])
    wide = drawn(2, 4, 3, 5)
    in_types(table, f"{name}(%a, %b, %c, mask = %d)",
             lambda q, k, v, m: sdpa(q, k, v, attn_mask=m, enable_gqa=True), q, k[:, :1], v[:, :1], wide,
             dtypes=("f64",))
    in_types(table, f"{name}(%a, %b, %c, mask = %d)",
             lambda q, k, v, m: sdpa(q, k, v, attn_mask=m, enable_gqa=True), q, k[:, :2], v[:, :2], bias,
             dtypes=("f64",))
    in_types(table, f"{name}(%a, %b, %c)", lambda q, k, v: sdpa(q[None], k[None], v[None])[0], q[0], k[0], v[0],
             dtypes=("f64",))
    assert math.isfinite(float(sdpa(q, k, v, attn_mask=keep).sum()))


def fill(table):
    softmaxes(table)
    norms(table)
    losses(table)
    gates(table)
    attention(table)
