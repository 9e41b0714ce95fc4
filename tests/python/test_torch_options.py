"""torch.compile(..., backend="plait"): its options, errors that fall back, reports, the entry point."""

import importlib.metadata
import itertools
import json
import logging
import os
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402: needs torch
from plait.command import _BINARY  # noqa: E402
from plait.torch import compiler, lowering  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402


@pytest.fixture
def failing(monkeypatch):
    """Makes fusions fail from a call on."""
    call = compiler.Fused.__call__

    def begin(first=0):
        calls = itertools.count()

        def fails(self, *args):
            if next(calls) >= first:
                raise plait.InternalError("a planted internal error", "a test")
            return call(self, *args)

        monkeypatch.setattr(compiler.Fused, "__call__", fails)

    return begin


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("PLAIT_DUMP", raising=False)
    compiler._warned.clear()
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.fixture
def listening():
    """The reports of the graphs that are compiled."""
    with compiler.listening() as reports:
        yield reports


def compiled(f, **how):
    return torch.compile(f, backend="plait", **how)


def small(x):
    return torch.softmax(x * 2, -1).sum(0) + x.shape[0]


def said(caught):
    return [str(w.message) for w in caught if str(w.message).startswith("plait:")]


# ---- Options.

@pytest.mark.parametrize("how", ["text", "list", "environment"])
def test_dumps_are_the_commands(how, capfd, monkeypatch, tmp_path, listening):
    specs = "graph,segments,kir,llvm"
    options = {"strict": True}
    if how == "environment":
        monkeypatch.setenv("PLAIT_DUMP", specs)
    else:
        options["dumps"] = specs if how == "text" else specs.split(",")
    with torch.no_grad():
        compiled(small, dynamic=True, options=options)(torch.randn(5, 9))
    got = capfd.readouterr().out
    fusion = listening[0].fusions[0].fusion
    sizes = [f"--set={name}={value}" for name, value in zip(fusion.inputs[0].shape, (5, 9))]
    file = tmp_path / "f.plait"
    file.write_text(str(fusion))
    monkeypatch.delenv("PLAIT_DUMP", raising=False)
    want = subprocess.run([_BINARY, "compile", file, "--device=cpu", f"--dump={specs}", *sizes], capture_output=True,
                          text=True, check=True).stdout
    assert got == want.partition("kernel  ")[0] != ""
    assert listening[0].fusions[0].program.dump("graph") in got


def test_dumps_as_files(tmp_path):
    x = torch.randn(3, 5, requires_grad=True)
    compiled(lambda x: torch.softmax(x * 2, -1), options={"dumps": f"kir@{tmp_path}"})(x).sum().backward()
    texts = [file.read_text() for file in sorted(tmp_path.iterdir())]
    assert [text.split("_0_")[0] for text in texts] == ["kernel @forward", "kernel @backward"]


def test_the_check_of_options_is_not_logged(caplog):
    logger = logging.getLogger("plait")
    logger.setLevel("INFO")
    try:
        compiled(small, options={"plait": {"contractions": "nest"}})(torch.randn(3, 5))
    finally:
        logger.setLevel("NOTSET")
    told = [record.getMessage() for record in caplog.records if record.name.startswith("plait")]
    assert any("@forward_0" in text for text in told) and not any("@options" in text for text in told), told


@pytest.mark.parametrize("options, words", [
    ({"strct": True}, "there is no option `strct`"), ({"strict": "no"}, "strict is 'no'"), ({"plait": {"contracions": "nest"}}, "did you mean `contractions`"),
    ({"plait": {"contractions": "nests"}}, "is no value of option contractions"), ({"plait": "contractions"}, "give a dict"),
    ({"plait": {"skip": "remove_dead"}}, "there is no pass `remove_dead`"), ({"dumps": "nothing"}, "known: fusion, graph, "),
    ({"dumps": ["graph", "kirr"]}, "did you mean `kir`"), ({"dumps": "kir@/proc/no/such"}, "no dump can be written to")])
def test_wrong_options_are_the_users_errors(options, words):
    with pytest.raises(plait.UserError, match=words):
        compiled(small, options=options)(torch.randn(3, 5))


def test_a_wrong_environment_is_the_users_error(monkeypatch):
    monkeypatch.setenv("PLAIT_DUMP", "graph,nothing")
    with pytest.raises(plait.UserError, match="there is no stage `nothing`"):
        compiled(small)(torch.randn(3, 5))


def test_modes_are_refused():
    with pytest.raises(plait.UserError, match="there is no mode `max-autotune`"):
        compiled(small, mode="max-autotune")(torch.randn(3, 5))
    compiled(small, mode="default", options=None)(torch.randn(3, 5))


# ---- Errors.

@pytest.mark.parametrize("first", [0, 1])  # its first call compiles it
def test_a_fusion_that_fails_runs_eagerly(first, listening, failing):
    x = torch.randn(3, 5)
    failing(first)
    f = compiled(small)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            torch.testing.assert_close(f(x), small(x))
    text, = said(caught)
    for op in ("aten.mul.Tensor", "aten.sum.dim_IntList", "aten.add.Tensor", "a planted internal error"):
        assert text.count(op) == 1
    assert not listening[0].fused and {why for _, why in listening[0].eager} == {listening[0].modules[0].failure}
    torch._dynamo.reset()
    with pytest.raises(plait.InternalError, match="planted"):
        compiled(small, options={"strict": True})(x)


def test_a_failing_backward_runs_eagerly(failing):
    failing()
    x = torch.randn(3, 5, requires_grad=True)
    want, = torch.autograd.grad(small(x).square().sum(), x)
    with pytest.warns(UserWarning, match="plait: a fusion of .* runs eagerly"):
        got, = torch.autograd.grad(compiled(small)(x).square().sum(), x)
    torch.testing.assert_close(got, want)


def test_a_refused_fusion_runs_eagerly(monkeypatch, listening):
    compile_fusion = plait.compile

    def refusing(fusion, **how):
        if how["device"] == "cpu":
            raise plait.MissingError("a part is not here", "device", "bring it")
        return compile_fusion(fusion, **how)

    monkeypatch.setattr(plait, "compile", refusing)
    compiler._warned.add("aten.mul.Tensor")
    x = torch.randn(3, 5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            torch._dynamo.reset()
            torch.testing.assert_close(compiled(small)(x), small(x))
    text, = said(caught)
    assert "aten.mul.Tensor, " in text and "aten.sum.dim_IntList" in text and "a part is not here" in text
    assert not listening[0].fused and len(listening[0].eager) == len(listening[1].eager) > 3
    torch._dynamo.reset()
    with pytest.raises(plait.UserError, match="aten.mul.Tensor, .* is refused: a part is not here"):
        compiled(small, options={"strict": True})(x)


def refuse(monkeypatch, op):
    """Fusions refuse the nodes of an op, which alone they would take."""
    lower = lowering.Lowering.node

    def node(self, node):
        if self.fusion.name != "trial" and node.target is op:
            raise plait.UserError("planted", "a test", "none")
        return lower(self, node)

    monkeypatch.setattr(lowering.Lowering, "node", node)


def of_many_kinds(x, w):
    a, at = (x @ w).exp().max(1)
    b = x.t().reshape(w.shape[0], -1).sin().transpose(0, 1) * 2
    return torch.softmax(a + at, 0), b.reshape(-1).cumsum(0), (x.sin() @ w).relu()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("op, count", [("max.dim", 1), ("view.default", None), ("sin.default", 2), ("mm.default", 2),
                                       ("cumsum.default", 1), ("_softmax.default", 1)])
def test_a_node_that_a_fusion_refuses_is_taken_out(monkeypatch, listening, op, count, dynamic):
    packet, overload = op.split(".")
    refuse(monkeypatch, getattr(getattr(torch.ops.aten, packet), overload))
    g = compiled(of_many_kinds, dynamic=dynamic)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for rows in (5, 8, 3):
            results = []
            for f in (of_many_kinds, g):
                torch.manual_seed(rows)
                inputs = [torch.randn(rows, 6, requires_grad=True), torch.randn(6, 4, requires_grad=True)]
                outs = f(*inputs)
                sum(out.square().sum() for out in outs).backward()
                results.append([*outs, *(each.grad for each in inputs)])
            for eager, got in zip(*results, strict=True):
                torch.testing.assert_close(got, eager, atol=1e-4, rtol=1e-4)
    forward = listening[0]
    left = [row for row in forward.eager if row == (f"aten.{op}", "planted")]
    assert left and count in (None, len(left)) and f"plait: aten.{op} runs eagerly: planted" in said(caught)
    assert f"aten.{op}" not in forward.fused and len(forward.fused) > 3 and not forward.failures
    torch._dynamo.reset()
    with pytest.raises(plait.UserError, match=f"aten.{op} stays eager: planted"):
        compiled(of_many_kinds, options={"strict": True}, dynamic=dynamic)(*inputs)


def test_where_a_fusion_refuses_many_nodes_the_rest_is_eager(monkeypatch, listening):
    refuse(monkeypatch, torch.ops.aten.sin.default)

    def f(x):
        for _ in range(compiler._MOST_REFUSED + 3):
            x = x.sin() * 2
        return x

    x = torch.randn(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(compiled(f)(x), f(x))
    assert listening[0].fused == ["aten.mul.Tensor"] * (compiler._MOST_REFUSED - 1)
    assert listening[0].eager.count(("aten.mul.Tensor", "planted")) == 4


def test_lack_of_memory_is_no_reason_to_run_eagerly(monkeypatch):
    def full(self, *args):
        raise plait.OutOfMemoryError("no memory for %y", "", "")

    monkeypatch.setattr(plait.torch.lowering.Fused, "__call__", full)
    with pytest.raises(MemoryError, match="no memory for %y"):
        compiled(small)(torch.randn(3, 5))


# ---- Work and reports.

def nodes_of(f, *args):
    graph = make_fx(torch.func.functionalize(f), decomposition_table=compiler.decompositions())(*args).graph
    return [node for node in graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize("f", [
    lambda x: torch.cat([x, x]), lambda x: torch.stack([x, x]), lambda x: x.clone(), lambda x: x.flip(0), lambda x: x.roll(1, 0),
    lambda x: torch.nn.functional.pad(x, (1, 2)), lambda x: x.tril(), lambda x: torch.full([3], 2.0), lambda x: torch.arange(4),
    lambda x: x.t().contiguous(), lambda x: x + 1])
def test_moving_elements_counts_as_work(f):
    assert sum(map(compiler.counts_as_work, nodes_of(f, torch.randn(4, 4)))) >= 1


@pytest.mark.parametrize("f", [
    lambda x: x.view(-1), lambda x: x.reshape(2, 8), lambda x: x.t(), lambda x: x.permute(1, 0), lambda x: x[1:3], lambda x: x[0],
    lambda x: x.unsqueeze(0).expand(2, 4, 4), lambda x: x.unbind(0)[1], lambda x: x.split([1, 3])[1], lambda x: x.diagonal(),
    lambda x: x.unsqueeze(0).squeeze(0), lambda x: x.unfold(0, 2, 1), lambda x: x.detach()])
def test_views_do_not_count_as_work(f):
    nodes = nodes_of(f, torch.randn(4, 4))
    assert nodes and not any(map(compiler.counts_as_work, nodes))


def test_higher_order_ops_are_work_that_stays_eager():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.exp(), lambda x: -x, (x * 2,))

    x = torch.ones(3, 5)
    with pytest.warns(UserWarning, match="plait: cond runs eagerly: no row of the table"):
        report = plait.torch.report(f, x)
        torch.testing.assert_close(compiled(f)(x), f(x))
    assert report.eager["cond", "no row of the table"] == 1 and report.share < 1
    with pytest.raises(plait.UserError, match="cond stays eager"):
        compiled(f, options={"strict": True})(x)


def test_warnings_name_the_users_line():
    class Net(torch.nn.Module):
        def forward(self, x):
            y = x.exp()
            return y + torch.linalg.inv(y), torch.nn.functional.fold(x[None].expand(4, 4, 4), (3, 3), 2)

    compiler._warned.clear()
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compiled(Net())(torch.eye(4))
    first = Net.forward.__code__.co_firstlineno
    lines = {w.lineno - first for w in seen if str(w.message).startswith("plait: ")}
    assert lines == {2} and {w.filename for w in seen if str(w.message).startswith("plait: ")} == {__file__}


def test_torch_logs_set_levels():
    """TORCH_LOGS names plait as any module."""
    script = ("import torch, plait.torch\n"
              "print(torch.compile(lambda x: x.exp() * 2, backend='plait')(torch.ones(2)).tolist())\n")
    for words, told in (("+plait", True), ("plait", True), ("+dynamo", False)):
        done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"TORCH_LOGS": words}, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0 and done.stdout.startswith("[5.43"), done.stderr
        assert ("@forward_0 " in done.stderr) == told, (words, done.stderr[-3000:])


def test_what_only_moves_elements_stays_eager_and_counts():
    def f(x):
        return torch.cat([x, x.flip(0)]), torch.linalg.inv(x) + x.tril()

    x = torch.eye(4) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = plait.torch.report(f, x)
        alone = plait.torch.report(lambda x: torch.cat([x, x.flip(0)]), x, options={"strict": True})
    reason = "its fusion would only move elements"
    assert alone.eager == {("aten.flip.default", reason): 1, ("aten.cat.default", reason): 1} and alone.share == 0
    assert report.fused["aten.tril.default"] == report.fused["aten.add.Tensor"] == 1
    assert report.eager["aten.linalg_inv_ex.default", "no row of the table"] == 1


def test_a_report_names_ops_kernels_and_times():
    def f(x, w):
        return torch.linalg.inv(torch.softmax(x @ w, -1) + x) * 2

    x, w = torch.randn(6, 6, requires_grad=True), torch.randn(6, 6, requires_grad=True)
    compiler._warned.add("aten.linalg_inv_ex.default")
    report = plait.torch.report(f, x, w, backward=True)
    assert report.fused["aten.mm.default"] >= 3 and len(report.graphs) == len(report.fusions) == 2
    fusions = [fusion for graph in report.fusions for fusion in graph]
    assert sum((fusion.fused for fusion in fusions), start=type(report.fused)()) == report.fused
    assert all(fusion.ran and fusion.compile_ms > 0 and fusion.run_ms > 0 for fusion in fusions)
    assert sum(len(fusion.library_calls) for fusion in fusions) >= 1
    lines = str(report).splitlines()
    assert lines[0].startswith(f"2 graphs, {report.fused.total()} nodes fused, {report.eager.total()} eager (")
    assert "  eager     1 x aten.linalg_inv_ex.default: no row of the table" in lines
    assert f"  fused  {report.fused['aten.mm.default']:4} x aten.mm.default" in lines
    for fusion in fusions:
        assert fusion.kernels and all(ms > 0 for _, _, ms in fusion.kernels)
        shown = [line for line in lines if line.startswith("    ") and f" ms  {fusion.name}_s" in line]
        assert len(shown) == len(fusion.kernels)
        for step in fusion.steps:
            assert step.run_ms > 0 and step.ops
            assert any(line.startswith(f"    {step.run_ms:9.3f} ms  {step.name}: ") and line.endswith(step.schedule) for line in lines)


def test_a_report_leaves_gradients_as_they_are():
    model, x = torch.nn.Linear(5, 5), torch.randn(3, 5, requires_grad=True)
    model.weight.grad = torch.ones(5, 5)
    report = plait.torch.report(lambda x: (model(x), model.bias * 1), x, backward=True)
    assert len(report.graphs) == 2
    assert x.grad is None and model.bias.grad is None and torch.equal(model.weight.grad, torch.ones(5, 5))


def test_a_report_of_what_raises_leaves_nothing():
    calls = []

    def f(x):
        y = small(x)
        torch._dynamo.graph_break()
        if len(calls) == 0:
            calls.append(0)
            raise RuntimeError("the model's own")
        return y

    x = torch.randn(3, 5)
    with pytest.raises(RuntimeError, match="own"):
        plait.torch.report(f, x)
    assert not compiler.LISTENING and not compiler.TIMING
    module = compiler.REPORTS[0].modules[0]
    assert module.fused.program.report["step_ms"]
    module.fused = None  # not to be called again: it times its steps
    torch.testing.assert_close(compiled(f)(x), small(x))


def test_a_report_of_what_did_not_run(listening):
    graph = make_fx(lambda x: [torch.softmax(x * 2, -1)], decomposition_table=compiler.decompositions(),
                    tracing_mode="fake")(torch.randn(3, 5))
    compiler.compile_graph(graph, [], compiler.Options())
    text = str(plait.torch.Report(list(listening)))
    assert "fusion forward_0, " in text and text.endswith("nodes: not run")


def test_a_report_as_values_and_as_a_page():
    x = torch.randn(3, 5, requires_grad=True)
    report = plait.torch.report(lambda x: torch.linalg.inv(torch.softmax(x @ x.T, -1) + 1), x, backward=True)
    values = json.loads(json.dumps(report.to_dict()))
    assert 0 < values["share"] < 1 and values["eager"][0].keys() == {"op", "why", "nodes"}
    assert [fusion["name"] for graph in values["graphs"] for fusion in graph][:1] == ["forward_0"]
    assert {fusion["name"].split("_")[0] for graph in values["graphs"] for fusion in graph} == {"forward", "backward"}
    first = values["graphs"][0][0]
    assert [step["kind"] for step in first["steps"]] == ["library", "launch"] and first["steps"][0]["bytes"] > 0
    assert all(step["ms"] > 0 for step in first["steps"]) and "softmax" not in first["steps"][1]["ops"] and first["steps"][1]["ops"]
    page = report.to_html()
    assert page == report._repr_html_() and "forward_0" in page and "aten.linalg_inv_ex.default" in page and "<script" not in page
    assert report.fusions[0][0].program.explain("overview").startswith("@forward_0")


def test_a_report_of_what_failed(failing):
    failing()
    with pytest.warns(UserWarning, match="runs eagerly"):
        report = plait.torch.report(small, torch.randn(3, 5))
    assert report.share == 0 and report.eager.total() > 3 and not report.fused
    assert "nodes: failed: a planted internal error" in str(report)


# ---- The entry point.

def test_torch_alone_finds_the_backend():
    if "plait" not in importlib.metadata.entry_points(group="torch_dynamo_backends").names:
        pytest.skip("plait is not installed here, and has no entry point")
    code = """import sys, torch
f = lambda x: torch.softmax(x * 2, -1)
assert "plait" not in sys.modules
x = torch.randn(3, 5)
torch.testing.assert_close(torch.compile(f, backend="plait", options={"strict": True})(x), f(x))
assert "plait.torch" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


RESTARTED = """
import json, pathlib
import torch, plait, plait.torch
from plait.torch import compiler

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 16))
x = torch.randn(4, 32, requires_grad=True)
with compiler.listening() as reports:
    y = torch.compile(model, backend="plait")(x)
    torch.softmax(y, -1).pow(2).sum().backward()
kernels = [kernel for graph in reports for fused in graph.fusions for kernel in fused.program.kernels]
print(json.dumps({
    "kernels": len(kernels), "from_disk": sum(kernel.from_disk for kernel in kernels), "y": y.tolist(), "grad": x.grad.tolist(),
    "llvm": "libplait_llvm" in pathlib.Path("/proc/self/maps").read_text()}))
"""


def test_a_second_process_restarts_from_the_disk(tmp_path):
    """Nothing is compiled there: all kernels come with their specialization, and LLVM is not even loaded."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLAIT_")}
    environment |= {"PLAIT_CACHE_DIR": str(tmp_path / "cache"), "PLAIT_LOG": "cache=debug"}

    def start():
        done = subprocess.run([sys.executable, "-c", RESTARTED], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    cold = start()
    assert cold["kernels"] > 1 and cold["from_disk"] == 0 and cold["llvm"]
    warm = start()
    assert warm["from_disk"] == warm["kernels"] == cold["kernels"] and not warm["llvm"]
    assert (warm["y"], warm["grad"]) == (cold["y"], cold["grad"])
