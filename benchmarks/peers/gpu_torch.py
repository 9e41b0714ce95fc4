"""PyTorch's side of benchmarks/gpu: the rows of benchmarks/gpu/gpu_bench.cpp, eagerly and, for the pointwise ones, by
torch.compile. Uses the PyTorch of the machine. usage: gpu_torch.py FOLDER"""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../fusions")]
import turns  # noqa: E402

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(3)
if not torch.cuda.is_available():
    print("error: torch sees no GPU", file=sys.stderr)
    sys.exit(3)

from kinds import ATTENTION, KINDS  # noqa: E402: needs PyTorch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def noise(*shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(dtype)


def kind_of(name, size, dtype):
    """The function and tensors of a kind of benchmarks/fusions."""
    kind = next(kind for kind in KINDS + ATTENTION if kind.name == name)
    with torch.device("cuda"):
        return kind.function, kind.draw(kind.shapes[size], DTYPES[dtype])


def product(kind, m, n, k, dtype):
    tensors = (noise(m, k, dtype=dtype), noise(k, n, dtype=dtype), noise(n, dtype=dtype))
    return {"plain": lambda a, b, c: a @ b, "relu": lambda a, b, c: F.relu(a @ b + c)}[kind], tensors


def make(row):
    """The function of a row, on tensors of its own: NAME_DTYPE, kind:NAME:SIZE:DTYPE or product:KIND:M:N:K:DTYPE; as it
    is or, with /compiled behind, by torch.compile."""
    name, _, how = row.partition("/")
    family, *words = name.split(":")
    if family in ("kind", "product"):
        function, tensors = kind_of(*words) if family == "kind" else product(words[0], *map(int, words[1:4]),
                                                                             DTYPES[words[4]])
        called = torch.compile(function, dynamic=False, fullgraph=True) if how == "compiled" else function
        return lambda: called(*tensors)
    kind, _, kind_dtype = name.rpartition("_")
    dtype = DTYPES.get(kind_dtype, torch.float32)
    rows = (256 << 20) // (2048 * dtype.itemsize)
    if name == "copy":
        source, target = noise(1 << 28), torch.empty(1 << 28, device="cuda")
        return lambda: target.copy_(source)
    if name == "run_simple_add":
        a, b = noise(4), noise(4)
        return lambda: a + b
    if kind == "bias_gelu":
        tensors = noise(rows, 2048, dtype=dtype), noise(2048, dtype=dtype, scale=0.02)

        def function(x, b):
            return F.gelu(x + b, approximate="tanh")
    elif kind == "residual_dropout":
        tensors = noise(rows, 2048, dtype=dtype), noise(rows, 2048, dtype=dtype)

        def function(x, r):
            return F.dropout(x, 0.1) + r
    elif kind == "tp_mlp":
        tensors = (noise(1024, 1024, dtype=dtype), noise(4096, 1024, dtype=dtype, scale=0.02),
                   noise(4096, dtype=dtype, scale=0.02), noise(1024, 4096, dtype=dtype, scale=0.02),
                   noise(1024, dtype=dtype, scale=0.02))

        def function(x, w0, b0, w1, b1):
            linear1 = F.linear(x, w0, b0)
            gelu = F.gelu(linear1, approximate="tanh")
            linear2 = F.linear(gelu, w1, b1)
            return linear1, gelu, linear2, F.dropout(linear2, 0.1)
    else:
        return None
    called = torch.compile(function, dynamic=False, fullgraph=True) if how == "compiled" else function
    return lambda: called(*tensors)


class Turns:
    """Keeps the functions of one row, eager and compiled, and drops them with their memory when another is asked for."""

    def __init__(self):
        self.row, self.functions = None, {}

    def function(self, word):
        row = word.partition("/")[0]
        if row != self.row:
            self.row, self.functions = row, {}
            torch._dynamo.reset()
            torch.cuda.empty_cache()
        if word not in self.functions:
            self.functions[word] = make(word)
        return self.functions[word]

    def __call__(self, row, count):
        try:
            run = self.function(row)
            if run is None:
                return {"skipped": f"no row {row}"}
            run()
        except Exception as error:  # torch.compile raises many kinds
            return {"failed": f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0]}"}
        # Time on the host leaves out the wait; more than a few hundred launches at once would wait for room in a queue.
        host, total, done = row.startswith("run_"), 0.0, 0
        while done < count:
            now = min(count - done, 256) if host else count
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(now):
                run()
            if not host:
                torch.cuda.synchronize()
            total += time.perf_counter() - begin
            done += now
        torch.cuda.synchronize()
        return total / count


if __name__ == "__main__":
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.no_grad():
        turns.serve(sys.argv[1], "torch", 0, {"torch": torch.__version__, "cuda": torch.version.cuda}, Turns())
