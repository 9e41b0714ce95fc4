"""Dropout in training under torch.compile(..., backend="plait")."""

import threading
import warnings

import pytest

torch = pytest.importorskip("torch")
import plait.torch  # noqa: E402: needs torch
from plait.torch import compiler  # noqa: E402
from torch.nn.functional import dropout  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    compiler._warned.clear()
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.fixture
def listening():
    with compiler.listening() as reports:
        yield reports


def compiled(f, **how):
    how.setdefault("options", {"strict": True})
    return torch.compile(f, backend="plait", **how)


def seeded(f, *args, seed=1):
    torch.manual_seed(seed)
    return f(*args)


def test_a_seed_governs_it_and_calls_differ():
    f = compiled(lambda x: dropout(x, 0.5))
    x = torch.ones(1000)
    first = seeded(f, x)
    second = f(x)
    assert torch.equal(seeded(f, x), first) and torch.equal(f(x), second)
    assert not torch.equal(first, second) and not torch.equal(first, seeded(f, x, seed=2))
    torch.manual_seed(1)
    before = torch.get_rng_state()
    f(x)
    assert not torch.equal(torch.get_rng_state(), before)  # what is drawn behind it differs too


def test_eager_and_compiled_draws_follow_one_generator():
    """A state that was kept brings back all of a step."""
    f = compiled(lambda x: dropout(x, 0.3))
    x = torch.ones(100)
    state = torch.get_rng_state()
    once = f(x), torch.rand(3), f(x)
    torch.set_rng_state(state)
    again = f(x), torch.rand(3), f(x)
    assert all(map(torch.equal, once, again)) and not torch.equal(once[0], once[2])


def test_it_is_one_fusion_each_way(listening):
    def f(x):
        return dropout(torch.relu(dropout(x, 0.2)) + 1, 0.5)

    x = torch.randn(40, 8, requires_grad=True)
    compiled(f)(x).sum().backward()
    assert [len(report.fusions) for report in listening] == [1, 1]
    assert not any(report.eager for report in listening)
    assert listening[0].fused.count("plait.dropout_mask.default") == 2


def test_dropouts_of_one_graph_have_masks_of_their_own():
    x = torch.ones(4000)
    a, b = seeded(compiled(lambda x: (dropout(x, 0.5), dropout(x, 0.5))), x)
    assert 0.2 < ((a > 0) & (b > 0)).float().mean() < 0.3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_as_many_stay_as_p_says(p, dtype):
    """Of 2^18 elements the share that stays is within 5 deviations, in each of 64 rows too; those that stay are scaled."""
    x = torch.full((64, 4096), 3.0, dtype=dtype)
    y = seeded(compiled(lambda x: dropout(x, p)), x)
    kept = y != 0
    assert y.dtype == dtype and torch.allclose(y[kept].double(), torch.tensor(3 / (1 - p), dtype=torch.float64), rtol=2 * torch.finfo(dtype).eps)
    deviation = (p * (1 - p)) ** 0.5
    assert abs(kept.double().mean() - (1 - p)) < 5 * deviation / 2**9
    assert (kept.double().mean(1) - (1 - p)).abs().max() < 5 * deviation / 2**6
    assert (kept.double().mean(0) - (1 - p)).abs().max() < 6 * deviation / 2**3
    pairs = (kept[:, 1:] & kept[:, :-1]).double().mean()  # neighbours know nothing of each other
    assert abs(pairs - (1 - p) ** 2) < 5 / 2**9


@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("dynamic", [False, True])
def test_the_gradient_has_the_mask_of_the_result(p, dynamic):
    f = compiled(lambda x: dropout(x * 1, p), dynamic=dynamic)
    for size in (30, 41, 7):
        x = torch.rand(size, 5, requires_grad=True)
        y = f(x)
        grad, = torch.autograd.grad(y.sum(), x)
        scale = 1 / (1 - p) if p < 1 else 0.0
        assert torch.equal(y != 0, grad != 0) and torch.allclose(y, x * grad)
        assert set(grad.unique().tolist()) <= {0.0, torch.tensor(scale).item()}
        assert p not in (0.0, 1.0) or (grad == scale).all()


def test_what_is_not_finite_spreads_as_eagerly():
    x = torch.tensor([float("inf"), float("nan")] * 500)
    y = compiled(lambda x: dropout(x, 0.5))(x)
    assert y.isnan().sum() >= 500 and y.isinf().any() and not (y == 0).any()


def test_evaluation_draws_nothing():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).eval()
    x, state = torch.randn(3, 4), torch.get_rng_state()
    torch.testing.assert_close(compiled(model)(x), model(x))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("train", [False, True])
def test_the_op_itself_out_of_training_is_its_operand(train, listening):
    x = torch.randn(4, 5)
    out, mask = compiled(lambda x: torch.native_dropout(x * 2, 0.0 if train else 0.5, train))(x)
    assert torch.equal(out, x * 2) and mask.dtype == torch.bool and mask.all() and mask.shape == x.shape
    assert len(listening[0].fusions) == 1 and not listening[0].eager


def test_no_gradients_and_no_elements():
    f = compiled(lambda x: dropout(x + 1, 0.5))
    with torch.no_grad():
        y = f(torch.zeros(1000))
    assert set(y.unique().tolist()) == {0.0, 2.0}
    assert f(torch.zeros(0, 4)).shape == (0, 4)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)

    def forward(self, x):
        return dropout(self.second(dropout(torch.relu(self.first(x)), 0.5)), 0.25)


def gradients(f, model, x):
    leaves = [x, *model.parameters()]
    for leaf in leaves:
        leaf.grad = None
    seeded(f, x).square().sum().backward()
    return [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("where, reentrant", [("around", False), ("around", True), ("inside", False)])
def test_checkpoints_compute_the_same_mask_again(where, reentrant, listening):
    model, x = Block(), torch.randn(20, 16, requires_grad=True)
    plain = gradients(compiled(model), model, x)
    if where == "around":
        block = compiled(model)
        again = gradients(lambda x: checkpoint(block, x, use_reentrant=reentrant), model, x)
    else:
        again = gradients(compiled(lambda x: checkpoint(model, x, use_reentrant=False)), model, x)
        assert "plait.dropout_mask.default" in listening[-1].fused  # of the backward graph
    assert all(torch.allclose(a, b) for a, b in zip(plain, again, strict=True))


def test_a_fusion_that_fell_back_has_the_same_mask(monkeypatch):
    model, x = Block(), torch.randn(20, 16, requires_grad=True)
    f = lambda x: checkpoint(model, x, use_reentrant=False)  # noqa: E731
    plain = gradients(compiled(f, options={}), model, x)
    torch._dynamo.reset()
    call, calls = compiler.Fused.__call__, []

    def fails(self, *args):
        calls.append(self.fusion.name)
        if self.fusion.name.startswith("backward"):
            raise plait.InternalError("a planted internal error", "a test")
        return call(self, *args)

    monkeypatch.setattr(compiler.Fused, "__call__", fails)
    with pytest.warns(UserWarning, match="runs eagerly: a planted internal error"):
        again = gradients(compiled(f, options={}), model, x)
    assert any(name.startswith("backward") for name in calls)
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(plain, again, strict=True))


def test_threads_have_masks_of_their_own():
    f, x, made = compiled(lambda x: dropout(x, 0.5)), torch.ones(4096), {}
    f(x)

    def work(thread):
        for call in range(20):
            made[thread, call] = f(x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    masks = {tuple((y != 0).tolist()) for y in made.values()}
    assert len(made) == len(masks) == 40
    assert all(0.4 < (y != 0).float().mean() < 0.6 for y in made.values())


def test_eagers_bits_by_option(listening):
    x = torch.randn(50, 6, requires_grad=True)

    def f(x):
        return dropout(x * 2, 0.4).exp()

    want = seeded(f, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = seeded(compiled(f, options={"strict": True, "dropout": "eager"}), x)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(torch.autograd.grad(got.sum(), x), torch.autograd.grad(want.sum(), x))
    assert ("aten.native_dropout.default", "the option dropout is eager") in listening[0].eager


def test_a_wrong_word_is_the_users_error():
    with pytest.raises(plait.UserError, match="there is no dropout `philox`"):
        compiled(lambda x: dropout(x, 0.5), options={"dropout": "philox"})(torch.ones(3))
