"""Ten models as plain PyTorch modules with random weights, small enough for a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Multi-head attention; `groups` key heads serve `heads` query heads."""

    def __init__(self, width: int, heads: int, groups: int | None = None, bias: bool = True):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups or heads, width // heads
        self.q = nn.Linear(width, width, bias=bias)
        self.kv = nn.Linear(width, 2 * self.groups * self.size, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x, causal=False, rope=None, bias=None):
        b, s, h = x.shape
        q = self.q(x).view(b, s, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(x).view(b, s, 2, self.groups, self.size).permute(2, 0, 3, 1, 4)
        if rope is not None:
            q, k = rope(q), rope(k)
        if self.groups != self.heads:
            k = k.repeat_interleave(self.heads // self.groups, dim=1)
            v = v.repeat_interleave(self.heads // self.groups, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(b, s, h))


class Gpt2Block(nn.Module):
    def __init__(self, width=128, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x), causal=True)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float() if x.dtype != torch.float64 else x
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, width=128, heads=8, groups=2):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, heads, groups, bias=False)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)
        self.size = width // heads

    def rope(self, x):
        s, half = x.shape[-2], self.size // 2
        angle = torch.arange(s, device=x.device)[:, None] * 10000.0 ** (-torch.arange(half, device=x.device) / half)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        x = x + self.attention(self.norm1(x), causal=True, rope=self.rope)
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class VitBlock(nn.Module):
    def __init__(self, width=96, heads=4, patch=8):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(3 * patch * patch, width)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, image):
        b, c, h, w = image.shape
        p = self.patch
        x = image.view(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5).reshape(b, (h // p) * (w // p), c * p * p)
        x = self.embed(x)
        x = torch.cat([self.token.expand(b, -1, -1), x], 1)
        x = x + self.attention(self.norm1(x))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.head(self.norm3(x)[:, 0])


class T5Layer(nn.Module):
    def __init__(self, width=128, heads=4, buckets=16):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, heads, bias=False)
        self.bias = nn.Embedding(buckets, heads)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)
        self.buckets = buckets

    def positions(self, s, device):
        distance = torch.arange(s, device=device)[None] - torch.arange(s, device=device)[:, None]
        near = self.buckets // 4
        side = (distance > 0).long() * (self.buckets // 2)
        away = distance.abs()
        far = near + (torch.log(away.clamp(min=1).float() / near) / math.log(64 / near) * near).long()
        return side + torch.where(away < near, away, far.clamp(max=self.buckets // 2 - 1))

    def forward(self, x):
        bias = self.bias(self.positions(x.shape[1], x.device)).permute(2, 0, 1)[None]
        x = x + self.attention(self.norm1(x), bias=bias)
        return x + self.down(F.relu(self.up(self.norm2(x))))


class Mixer(nn.Module):
    def __init__(self, tokens=32, width=96):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.a, self.b = nn.Linear(tokens, 2 * tokens), nn.Linear(2 * tokens, tokens)
        self.c, self.d = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.b(F.gelu(self.a(self.norm1(x).transpose(1, 2)))).transpose(1, 2)
        return x + self.d(F.gelu(self.c(self.norm2(x))))


class ResNetBlock(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(y)))


class Lstm(nn.Module):
    def __init__(self, width=64, steps=8):
        super().__init__()
        self.x, self.h = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)
        self.steps = steps

    def forward(self, x):
        h = c = torch.zeros_like(x[:, 0])
        for t in range(self.steps):
            i, f, g, o = (self.x(x[:, t]) + self.h(h)).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class Dlrm(nn.Module):
    def __init__(self, tables=4, rows=100, width=16, dense=13):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(dense, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 64), nn.ReLU(), nn.Linear(64, 1))
        rows_, columns = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", rows_ * (tables + 1) + columns)

    def forward(self, dense, index):
        x = self.bottom(dense)
        all_ = torch.stack([x] + [table(index[:, i]) for i, table in enumerate(self.tables)], 1)
        products = torch.bmm(all_, all_.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return torch.sigmoid(self.top(torch.cat([x, products], 1)))


class UNetBlock(nn.Module):
    def __init__(self, channels=32, time=64, heads=2):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(8, channels) for _ in range(3))
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(time, 2 * channels)
        self.attention = Attention(channels, heads)

    def forward(self, x, t):
        y = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(F.silu(t))[:, :, None, None].chunk(2, 1)
        y = self.conv2(F.silu(self.norm2(y) * (1 + scale) + shift))
        x = x + y
        b, c, h, w = x.shape
        z = self.norm3(x).flatten(2).transpose(1, 2)
        return x + self.attention(z).transpose(1, 2).reshape(b, c, h, w)


class Moe(nn.Module):
    """Top-2 of the experts by a router, more where they tie; every expert computes all tokens, weighed by 0 where it is
    not chosen."""

    def __init__(self, width=64, experts=4):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) / width**0.5)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) / (2 * width) ** 0.5)

    def forward(self, x):
        b, s, h = x.shape
        tokens = x.reshape(b * s, h)
        p = torch.softmax(self.router(tokens), -1)
        first = p.amax(-1, keepdim=True)
        second = torch.where(p == first, -torch.inf, p).amax(-1, keepdim=True)
        weights = torch.where(p >= second, p, 0)
        weights = weights / weights.sum(-1, keepdim=True)
        y = torch.matmul(F.silu(torch.matmul(tokens, self.up)), self.down)
        return (y * weights.t()[:, :, None]).sum(0).reshape(b, s, h)


def _tokens(width: int) -> Callable[[int, int, torch.dtype], tuple]:
    return lambda batch, length, dtype: (torch.randn(batch, length, width, dtype=dtype),)


def _image(channels: int, width: int) -> Callable[[int, int, torch.dtype], tuple]:
    return lambda batch, height, dtype: (torch.randn(batch, channels, height, width, dtype=dtype),)


LENGTHS = (32, 17, 40)

# Name, module, inputs by batch, length and dtype, its lengths (of a sequence, or the height of an image; one where the
# module is made for it), the least share of its nodes that should run in plait.
MODELS = [
    ("gpt2", Gpt2Block, _tokens(128), LENGTHS, 0.9),
    ("llama", LlamaBlock, _tokens(128), LENGTHS, 0.9),
    ("vit", VitBlock, _image(3, 32), (32, 24, 48), 0.9),
    ("t5", T5Layer, _tokens(128), LENGTHS, 0.9),
    ("mixer", Mixer, _tokens(96), (32,), 0.7),
    ("resnet_eval", lambda: ResNetBlock().eval(), _image(16, 16), (16, 12, 20), 0.7),
    ("resnet_train", ResNetBlock, _image(16, 16), (16, 12, 20), 0.7),
    ("lstm", Lstm, _tokens(64), (8,), 0.7),
    ("dlrm", Dlrm, lambda b, _, dtype: (torch.randn(b, 13, dtype=dtype), torch.randint(0, 100, (b, 4))), (1,), 0.7),
    ("unet", UNetBlock, lambda b, height, dtype: (*_image(32, 8)(b, height, dtype), torch.randn(b, 64, dtype=dtype)),
     (8, 6, 10), 0.7),
    ("moe", Moe, _tokens(64), LENGTHS, 0.9),
]
