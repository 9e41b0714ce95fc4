"""Groups of nodes that become calls: random graphs with writes, random numbers and several results run as before, in the
fewest groups."""

import operator
import random

import pytest

torch = pytest.importorskip("torch")

from plait.torch.partition import order_of_effects, partitions, with_calls  # noqa: E402

aten = torch.ops.aten


def random_graph(seed):
    """A graph, and which of its nodes may be in groups."""
    rng = random.Random(seed)
    graph = torch.fx.Graph()
    values = [graph.placeholder(f"x{i}") for i in range(3)]
    inputs = list(values)
    taken = set()
    for _ in range(rng.randint(1, 30)):
        kind = rng.random()
        a, b = rng.choice(values), rng.choice(values)
        if kind < 0.08:
            graph.call_function(aten.copy_.default, (rng.choice(inputs), a))
            continue
        if kind < 0.16:
            values.append(graph.call_function(aten.rand_like.default, (a,)))
            continue
        if kind < 0.3:
            made = graph.call_function(aten.sort.default, (a,))
            parts = [graph.call_function(operator.getitem, (made, i)) for i in range(rng.randint(1, 2))]
            values.append(parts[0])
            if len(parts) > 1:
                values.append(graph.call_function(aten.mul.Tensor, (parts[1], 0.5)))
        else:
            made, parts = graph.call_function(rng.choice([aten.add.Tensor, aten.mul.Tensor]), (a, b)), []
            values.append(made)
        if rng.random() < 0.6:
            taken.update([made, *parts])
    graph.output(tuple(rng.sample(values, rng.randint(1, min(4, len(values))))))
    graph.eliminate_dead_code(lambda node: node.target is aten.copy_.default or node.op in ("placeholder", "output"))
    return graph, {node for node in graph.nodes if node in taken}


def fewest(nodes, taken, before):
    """Groups that any partition has at least: the most that a path goes into, each time from outside."""
    most = {}
    for node in nodes:
        earlier = [*node.all_input_nodes, *before.get(node, ())]
        most[node] = max((most[each] + (node in taken and each not in taken) for each in earlier), default=0)
        if not earlier and node in taken:
            most[node] = 1
    return max(most.values(), default=0)


def run(module, tensors):
    torch.manual_seed(1)
    given = [x.clone() for x in tensors]
    return [*module(*given), *given]


@pytest.mark.parametrize("seed", range(200))
def test_a_graph_with_calls_computes_the_same(seed):
    graph, taken = random_graph(seed)
    nodes = list(graph.nodes)
    before = order_of_effects(nodes)
    groups = partitions(nodes, taken.__contains__, before)
    assert sorted(map(str, taken)) == sorted(str(node) for group in groups for node in group)
    assert len(groups) == fewest(nodes, taken, before)
    out, calls = with_calls(graph, groups, before, "group_")
    out.lint()
    modules = {node.target: torch.fx.GraphModule({}, call.graph) for node, call in calls}
    torch.manual_seed(0)
    tensors = [torch.randn(5) for _ in range(3)]
    expected = run(torch.fx.GraphModule({}, graph), tensors)
    assert all(torch.equal(a, b) for a, b in zip(expected, run(torch.fx.GraphModule(modules, out), tensors), strict=True))


def test_what_is_in_no_group_keeps_its_order():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    a = graph.call_function(aten.relu.default, (x,))
    first = graph.call_function(aten.rand_like.default, (a,))
    second = graph.call_function(aten.rand_like.default, (x,))
    graph.output((graph.call_function(aten.add.Tensor, (first, second)),))
    nodes = list(graph.nodes)
    before = order_of_effects(nodes)
    out, calls = with_calls(graph, partitions(nodes, [a].__contains__, before), before, "group_")
    assert len(calls) == 1
    drawn = [node.name for node in out.nodes if node.target is aten.rand_like.default]
    assert drawn == [first.name, second.name]


def test_groups_are_few_where_much_is_between():
    """The cost of a long chain grows with its nodes."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    taken = set()
    for i in range(4000):
        x = graph.call_function(aten.relu.default, (x,))
        if i % 2:
            taken.add(x)
    graph.output((x,))
    nodes = list(graph.nodes)
    groups = partitions(nodes, taken.__contains__, {})
    assert [len(group) for group in groups] == [1] * 2000
    out, calls = with_calls(graph, groups, {}, "group_")
    assert len(calls) == 2000 and len(list(out.nodes)) == len(nodes)
