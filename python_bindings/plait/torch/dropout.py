"""Dropout in training with plait's random numbers: one seed of PyTorch's generator for each call of a graph, masks by
counting from it (Philox), the same wherever they are computed again."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch.utils.checkpoint import CheckpointPolicy

import plait
from plait import ops
from plait.torch.rows import aten, apply, row
from plait.torch.sizes import Unsupported, extents

_DRAW, _SEED = aten.randint.low, "plait_seed"  # the node that draws, and what its meta has
_MOST = 2**63 - 1

_library = torch.library.Library("plait", "DEF")
_library.define("dropout_mask(Tensor seed, Tensor like, float p, int number) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


@torch.library.register_fake("plait::dropout_mask", lib=_library)
def _(seed: torch.Tensor, like: torch.Tensor, p: float, number: int) -> torch.Tensor:
    return torch.empty_like(like, dtype=torch.bool)


def _kept(shape: list[Any], seed: plait.Tensor, p: float, number: int) -> plait.Tensor:
    """Which elements stay: uniform >= p, exactly, for uniform is a multiple of 2^-24."""
    uniform = ops.uniform(shape, ops.cast(ops.reshape(seed, []), plait.u64), offset=number)
    return apply("ge", [uniform, math.ceil(p * 2**24) / 2**24])


@row(torch.ops.plait.dropout_mask.default)
def _(c, seed, like, p, number):
    return _kept(c.shape(), seed, p, number)


@row(aten.native_dropout.default)
def _(c, x, p, train):
    """Out of training; in training open_dropouts() replaced it, but for what stays eager."""
    if train is not False:
        raise Unsupported("dropout in training of what is no float, or with no probability")
    return ops.set(x), ops.full(c.fusion, extents(c.node.meta["val"][1].shape), True, plait.bool_)


@functools.cache
def _mask_program(device: str, p: float, number: int) -> plait.Program:
    fusion = plait.Fusion("dropout_mask")
    seed = fusion.input("seed", [1], plait.i64)
    fusion.input("size", ["n", 0], plait.bool_)
    fusion.output("mask", _kept(["n"], seed, p, number))
    return plait.compile(fusion, device=device)


def _mask(seed: torch.Tensor, like: torch.Tensor, p: float, number: int) -> torch.Tensor:
    """For graphs that fell back: the bits of the fusions."""
    program = _mask_program("reference", p, number)
    made = torch.from_dlpack(program.run(seed=seed.cpu(), size=torch.empty(like.numel(), 0, dtype=torch.bool))["mask"])
    out = torch.empty_like(like, dtype=torch.bool)
    return out.copy_(made.reshape(like.shape))


_library.impl("dropout_mask", _mask, "CompositeExplicitAutograd")


def is_draw(node: torch.fx.Node) -> bool:
    """Whether the node draws the seed of a graph's dropouts."""
    return node.target is _DRAW and _SEED in node.meta


def draw(node: torch.fx.Node) -> torch.Tensor:
    """What such a node gives in a call."""
    return _DRAW(*node.args, **node.kwargs)


def opens(node: torch.fx.Node) -> bool:
    """Whether the node is a dropout that plait computes."""
    if node.op != "call_function" or node.target is not aten.native_dropout.default:
        return False
    x, p, train = node.args
    return train is not False and 0 <= p <= 1 and x.meta["val"].is_floating_point()


def is_recomputed(graph: torch.fx.Graph) -> bool:
    """Whether a checkpoint asks for a dropout of the graph to be computed again."""
    again = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)
    return any(opens(node) and node.meta.get("recompute") in again for node in graph.nodes)


def _draw_before(node: torch.fx.Node, device: torch.device) -> torch.fx.Node:
    value = node.args[0].meta["val"]
    with node.graph.inserting_before(node):
        made = node.graph.call_function(_DRAW, (0, _MOST, [1]), {"dtype": torch.int64, "device": device})
    with value.fake_mode:
        fake = torch.empty(1, dtype=torch.int64, device=device)
    made.meta = {**node.meta, "val": fake, _SEED: True, "recompute": CheckpointPolicy.MUST_SAVE}
    made.meta.pop("tensor_meta", None)
    return made


def open_dropouts(graph: torch.fx.Graph) -> None:
    """Replaces dropouts in training: x * mask * 1 / (1 - p), the mask of a seed that the graph draws once per device."""
    seeds: dict[torch.device, torch.fx.Node] = {}
    for number, node in enumerate([node for node in graph.nodes if opens(node)]):
        x, p, _ = node.args
        device = x.meta["val"].device
        if device not in seeds:
            seeds[device] = _draw_before(node, device)
        out, mask = node.meta["val"]
        with graph.inserting_before(node):
            kept = graph.call_function(torch.ops.plait.dropout_mask.default, (seeds[device], x, float(p), number))
            left = graph.call_function(aten.mul.Tensor, (x, kept))
            made = graph.call_function(aten.mul.Tensor, (left, 1 / (1 - p) if p < 1 else 0.0))
        for each, value in ((kept, mask), (left, out), (made, out)):
            each.meta = {**node.meta, "val": value}
            each.meta.pop("tensor_meta", None)
        for user in list(node.users):
            user.replace_all_uses_with((made, kept)[user.args[1]])
            graph.erase_node(user)
        graph.erase_node(node)
