"""Which nodes of a graph become fusions, and the graph with a call in place of each of them."""

from __future__ import annotations

import copy
import heapq
import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch


def _writes(node: torch.fx.Node) -> bool:
    """Whether the node changes memory that others see."""
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _draws(node: torch.fx.Node) -> bool:
    return (node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded in node.target.tags)


def order_of_effects(nodes: list[torch.fx.Node]) -> dict[torch.fx.Node, list[torch.fx.Node]]:
    """By node, those in front of it that are no operands: what is in front of a write stays there, what is behind it too,
    and random numbers are drawn in their order."""
    before: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    since: list[torch.fx.Node] = []  # the last write, and what is behind it
    drawn: list[torch.fx.Node] = []
    wrote = False
    for node in nodes:
        if _writes(node):
            before[node] = since
            since, wrote = [], True
        elif wrote:
            before[node] = since[:1]
        if _draws(node):
            before[node] = before.get(node, []) + drawn
            drawn = [node]
        since.append(node)
    return before


def partitions(nodes: list[torch.fx.Node], takes: Callable[[torch.fx.Node], bool],
               before: dict[torch.fx.Node, list[torch.fx.Node]]) -> list[list[torch.fx.Node]]:
    """The fewest groups of nodes that `takes` takes such that no group waits for what waits for it: two nodes are in one
    where as many others as possible, which are in none, lie between each of them and the end. A getitem is where its
    operand is."""
    behind: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    for node, earlier in before.items():
        for each in earlier:
            behind.setdefault(each, []).append(node)
    taken = {node: takes(node) for node in nodes}
    level: dict[torch.fx.Node, int] = {}  # of the group; of a node in none, the level that what is in front has at least
    for node in reversed(nodes):
        users = [*node.users, *behind.get(node, ())]
        level[node] = max((level[user] + (taken[user] and not taken[node]) for user in users), default=0)
    for node in nodes:
        if node.target is operator.getitem and taken[node]:
            level[node] = level[node.args[0]]
    groups: dict[int, list[torch.fx.Node]] = {}
    for node in nodes:
        if taken[node]:
            groups.setdefault(level[node], []).append(node)
    return [groups[key] for key in sorted(groups, reverse=True)]


class Call:
    """A group as a graph of its own, with a placeholder for each value from outside."""

    def __init__(self, nodes: list[torch.fx.Node]):
        inside = set(nodes)
        self.inputs = list(dict.fromkeys(each for node in nodes for each in node.all_input_nodes if each not in inside))
        self.outputs = [node for node in nodes if any(user not in inside for user in node.users)]
        self.graph = torch.fx.Graph()
        made = {}
        for each in self.inputs:
            made[each] = self.graph.placeholder(each.name)
            made[each].meta = copy.copy(each.meta)
        for node in nodes:
            made[node] = self.graph.node_copy(node, made.__getitem__)
        self.origins = {made[node]: node for node in nodes}
        results = tuple(made[node] for node in self.outputs)
        self.graph.output(results[0] if len(results) == 1 else results)

    def add(self, graph: torch.fx.Graph, name: str, made: dict[torch.fx.Node, torch.fx.Node]) -> torch.fx.Node:
        """Adds the call of a module of that name, and tells what it makes."""
        call = graph.call_module(name, tuple(made[each] for each in self.inputs))
        if len(self.outputs) == 1:
            made[self.outputs[0]] = call
            call.meta = copy.copy(self.outputs[0].meta)
            return call
        for i, node in enumerate(self.outputs):
            made[node] = graph.call_function(operator.getitem, (call, i))
            made[node].meta = copy.copy(node.meta)
        return call


def with_calls(graph: torch.fx.Graph, groups: list[list[torch.fx.Node]], before: dict[torch.fx.Node, list[torch.fx.Node]],
               prefix: str) -> tuple[torch.fx.Graph, list[tuple[torch.fx.Node, Call]]]:
    """A graph like this one with a call of a module PREFIXn in place of each group, and the calls. What is in no group keeps
    its order as far as operands allow. Requires groups as of partitions()."""
    nodes = list(graph.nodes)
    calls = [Call(group) for group in groups]
    unit: dict[torch.fx.Node, int] = {node: len(calls) + i for i, node in enumerate(nodes)}
    first = [len(nodes)] * len(calls) + list(range(len(nodes)))  # place of a unit's first node
    for number, group in enumerate(groups):
        for node in group:
            first[number] = min(first[number], unit[node] - len(calls))
            unit[node] = number
    behind: dict[int, set[int]] = {}
    waits = [0] * len(first)
    for node in nodes:
        for each in (*node.all_input_nodes, *before.get(node, ())):
            ours, theirs = unit[node], unit[each]
            if ours != theirs and ours not in behind.setdefault(theirs, set()):
                behind[theirs].add(ours)
                waits[ours] += 1
    ready = [(first[each], each) for each in {unit[node] for node in nodes} if waits[each] == 0]
    heapq.heapify(ready)
    out = torch.fx.Graph()
    out._codegen = copy.copy(graph._codegen)
    made: dict[torch.fx.Node, Any] = {}
    added = []
    while ready:
        _, number = heapq.heappop(ready)
        if number < len(calls):
            added.append((calls[number].add(out, f"{prefix}{number}", made), calls[number]))
        else:
            node = nodes[number - len(calls)]
            made[node] = out.node_copy(node, made.__getitem__)
        for each in behind.get(number, ()):
            waits[each] -= 1
            if waits[each] == 0:
                heapq.heappush(ready, (first[each], each))
    return out, added
