"""Documents of several kinds for the page of `plait view`: sharded, large, empty, not run, hostile, of a later format."""

import json
import pathlib
import random

PAGE = pathlib.Path(__file__).resolve().parents[2] / "csrc/api/page"
SIZES = {"f32": 4, "bf16": 2, "u64": 8, "bool": 1}

KIR = """kernel @tp_mlp_s2(%linear1_product: f32[n0*n1] read, %b0: bf16[n1] read, %linear1: bf16[n0*n1] write, %gelu: bf16[n0*n1] write; n0, n1) given n0: 4 in 4..2147483644 target cpu schedule pointwise(vector = 8, unroll = 1, split = 1, block = 0) {
  for i0 in 0..n0 on cpu_thread {
    for i1 in 0..floordiv(n1, 8) {
      %0: f32x8 = load %linear1_product[i0*n1 + 8*i1 + lane] contiguous
      %1: f32x8 = load %b0[8*i1 + lane] aligned
      %2: f32x8 = add(%0, %1)
      %3: f32x8 = gelu_tanh(%2)
      store %linear1[i0*n1 + 8*i1 + lane] = %2 contiguous
      store %gelu[i0*n1 + 8*i1 + lane] = %3 contiguous
    }
  }
}
"""
CUDA = """// tp_mlp_s2: pointwise(vector = 4, unroll = 1, split = 1, threads = 32, rows = 8)
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float logistic2(float t) {
  float power, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  return y;
}
#endif
// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
__device__ __forceinline__ float gelu_tanh(float x) {
  return x * logistic2(x * (-0.102943242f * (x * x) - 2.30220819f));
}

extern "C" __global__ void __launch_bounds__(256) tp_mlp_s2(
    const float* __restrict__ b0, const bf16* __restrict__ b1, bf16* __restrict__ b2, bf16* __restrict__ b3,
    unsigned n0, unsigned n1) {
  const unsigned bx = blockIdx.x;
  const unsigned k3 = 4 * threadIdx.x;
  if (k3 < n1) {
    const unsigned k4 = k3 + bx * n1;
    Vec<float, 4> v0;
    load_vector(v0, b0 + k4);
    Vec<float, 4> v1;
    load_vector(v1, b1 + k3);
    Vec<float, 4> v2;
    Vec<float, 4> v3;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      v2[j] = v0[j] + v1[j];
      v3[j] = gelu_tanh(v2[j]);
    }
    store_vector(b2 + k4, v2);
    store_vector(b3 + k4, v3);
  }
}
"""
LLVM = """define void @tp_mlp_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  br label %loop0
loop0:
  %t13 = phi i64 [ %begin, %entry ], [ %loop0.next, %loop0 ]
  %t20 = getelementptr inbounds float, ptr %t1, i64 %t13
  %t21 = load <8 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5
  %t22 = getelementptr inbounds i16, ptr %t3, i64 %t13
  %t23 = load <8 x i16>, ptr %t22, align 2
  %t25 = fadd <8 x float> %t21, splat (float 0x3FF0000000000000)  ; %2
  %t26 = call <8 x float> @plait.gelu_tanh.v8f32(<8 x float> %t25)  ; %3
  %t30 = getelementptr inbounds i16, ptr %t5, i64 %t13
  store <8 x float> %t26, ptr %t30, align 2
  %loop0.next = add nuw nsw i64 %t13, 1
  %t52 = icmp slt i64 %loop0.next, %end
  br i1 %t52, label %loop0, label %done2
done2:
  ret void
}

define internal <8 x float> @plait.exp.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <8 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <8 x i1> %t0, <8 x float> splat (float 0.0), <8 x float> %p0 ; a comment
  ret <8 x float> %t1
}
"""
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="650" height="200" viewBox="0 0 650 200" role="img">
<title>@tp_mlp</title>
<style>svg{font:12px system-ui,sans-serif;background:#fff}text{fill:#1b1f24}.small{font-size:10px;fill:#57606a}.all{fill:none;stroke:#8c959f}.own{fill:#4f8fd9}.pending{fill:url(#pending)}.band{fill:#fff3d6}@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.small{fill:#9198a1}.all{stroke:#6e7681}.own{fill:#3f7fca}.band{fill:#3a2c0a}}</style><defs><pattern id="pending" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="6" fill="#c2410c"/></pattern></defs>
<text x="8" y="20" font-weight="bold">@tp_mlp</text><text x="250" y="20">rank 0</text><text x="346" y="20">rank 1</text>
<text x="8" y="80" font-weight="bold">%linear1</text><text x="8" y="95" class="small">f32[sb, h4] {1: tp}</text>
<g><rect x="250" y="68" width="12" height="38" class="own"/><rect x="250" y="68" width="46" height="38" class="all"/><title>rank 0</title></g>
<g><rect x="358" y="68" width="12" height="38" class="own"/><rect x="346" y="68" width="46" height="38" class="pending"/><title>rank 1</title></g>
<rect x="4" y="114" width="638" height="28" class="band"/><text x="8" y="129">all-reduce over tp, 128 KiB</text>
</svg>"""


class Builder:
    """A document that grows tensor by tensor."""

    def __init__(self, title, ranks, mesh):
        self.ranks = ranks
        self.steps = []
        self.document = {
            "format": 1, "title": title, "version": "0.1.0", "device": "cpu", "ranks": ranks, "mesh": mesh, "sizes": {},
            "counts": {}, "times": {"compile_ms": 1.5, "run_ms": 0.2}, "stages": [], "tensors": [], "ops": [], "segments": [],
            "boundaries": [], "kernels": [], "steps": [], "layouts_svg": "", "layouts_text": "", "memory": [], "timeline": None}

    def tensor(self, name, shape, kind="value", dtype="bf16", symbols=None, layout=""):
        self.document["tensors"].append({
            "name": name, "dtype": dtype, "shape": shape, "symbols": symbols or f"{dtype}[{', '.join(map(str, shape))}]",
            "layout": layout, "kind": kind})
        return len(self.document["tensors"]) - 1

    def bytes(self, tensors):
        total = 0
        for number in tensors:
            tensor = self.document["tensors"][number]
            size = SIZES[tensor["dtype"]]
            for extent in tensor["shape"]:
                size *= extent
            total += size
        return total

    def op(self, function, inputs, output, attributes=""):
        names = [self.document["tensors"][number]["name"] for number in inputs]
        result = self.document["tensors"][output]
        operands = ", ".join("%" + name for name in names)
        self.document["ops"].append({
            "name": function, "text": f"%{result['name']}: {result['symbols']} = {function}({operands}{attributes})",
            "inputs": inputs, "outputs": [output], "segment": None})
        return len(self.document["ops"]) - 1

    def segment(self, name, kind, ops, inputs, outputs, schedule="", launch=None, excess=1.0, kernel=None):
        number = len(self.document["segments"])
        for op in ops:
            self.document["ops"][op]["segment"] = number
        least = self.bytes(inputs) + self.bytes(outputs)
        self.document["segments"].append({
            "name": name, "kind": kind, "schedule": schedule, "launch": launch or name, "inputs": inputs, "outputs": outputs,
            "ops": ops, "kernel": kernel, "bytes": int(least * excess), "bytes_least": least})
        return number

    def kernel(self, name, schedule, stages, **more):
        self.document["kernels"].append({
            "name": name, "schedule": schedule, "arch": "cpu", "registers": None, "spill_bytes": None, "shared_bytes": None,
            "instructions": 210, "compile_ms": 3.1, "from_disk": False, "stages": stages, **more})
        return len(self.document["kernels"]) - 1

    def step(self, text, kind, segment=None, kernel=None, stream="compute", size=0):
        self.document["steps"].append({
            "text": text, "kind": kind, "stream": stream, "segment": segment, "kernel": kernel, "bytes": size})

    def boundary(self, first, second, tensors, refusers):
        self.document["boundaries"].append({"from": first, "to": second, "tensors": tensors, "refusers": refusers})

    def run(self, seed=1):
        """A run that took some time for each step on each rank."""
        chance = random.Random(seed)
        spans = []
        for rank in range(self.ranks):
            time = chance.random() * 2
            for number, step in enumerate(self.document["steps"]):
                took = {"launch": 8, "library": 30, "collective": 18, "copy": 5}.get(step["kind"], 0.1)
                took *= 0.7 + chance.random() * 0.6
                spans.append([rank, number, round(time, 3), round(time + took, 3)])
                time += took + 0.2
        spans.sort(key=lambda span: span[2])
        self.document["timeline"] = {"note": "ranks take turns on one thread", "spans": spans}

    def finish(self):
        segments = self.document["segments"]
        moved = sum(segment["bytes"] for segment in segments)
        least = sum(segment["bytes_least"] for segment in segments)
        kinds = [step["kind"] for step in self.document["steps"]]
        ran = self.document["timeline"] is not None
        memory = self.document["memory"]
        self.document["counts"] = {
            "kernels": len(self.document["kernels"]), "launches": kinds.count("launch"), "library_calls": kinds.count("library"),
            "collectives": kinds.count("collective"), "bytes_moved": moved, "bytes_least": least,
            "arena_bytes": memory[0]["arena_bytes"] if memory else 0, "arena_least": memory[0]["alive_bytes"] if memory else 0,
            "wire_bytes": 98304 if ran else None, "wire_bytes_min": 98304 if ran else None}
        if not ran:
            self.document["times"]["run_ms"] = None
        return self.document


def mlp():
    """A small sharded MLP, two kernels of which compute three segments."""
    b = Builder("tp_mlp", 4, [{"axis": "tp", "size": 4}])
    b.document["sizes"] = {"sb": 64, "h": 128, "h4": 512}
    x = b.tensor("x", [64, 128], "input", symbols="T[sb, h]")
    w0 = b.tensor("w0", [128, 128], "param", symbols="T[h4, h]", layout="{0: tp}")
    b0 = b.tensor("b0", [128], "param", symbols="T[h4]", layout="{0: tp}")
    w1 = b.tensor("w1", [128, 128], "param", symbols="T[h, h4]", layout="{1: tp}")
    b1 = b.tensor("b1", [128], "param", symbols="T[h]")
    seed = b.tensor("seed", [], "input", dtype="u64", symbols="u64[]")
    product = b.tensor("linear1_product", [64, 128], dtype="f32", symbols="f32[sb, h4]", layout="{1: tp}")
    linear1 = b.tensor("linear1", [64, 128], "output", symbols="T[sb, h4]", layout="{1: tp}")
    gelu = b.tensor("gelu", [64, 128], "output", symbols="T[sb, h4]", layout="{1: tp}")
    product2 = b.tensor("linear2_product", [64, 128], dtype="f32", symbols="f32[sb, h]", layout="{} partial (tp: sum)")
    reduced = b.tensor("linear2_product_reduced", [64, 128], dtype="f32", symbols="f32[sb, h]")
    linear2 = b.tensor("linear2", [64, 128], "output", symbols="T[sb, h]")
    dropout = b.tensor("dropout", [64, 128], "output", symbols="T[sb, h]")
    mean = b.tensor("mean", [64], "output", dtype="f32", symbols="f32[sb]")
    schedule = "pointwise(vector = 8, unroll = 1, split = 1, block = 0)"
    texts = [{"name": "kir", "text": KIR}, {"name": "cuda", "text": CUDA}, {"name": "llvm", "text": LLVM}]
    k0 = b.kernel("tp_mlp_s2", schedule, texts, registers=24)
    k1 = b.kernel("tp_mlp_s5", schedule, [{"name": "kir", "text": KIR.replace("s2", "s5")},
                                          {"name": "llvm", "text": LLVM.replace("s2", "s5")}], from_disk=True, compile_ms=None)
    s1 = b.segment("s1", "library", [b.op("linear", [x, w0], product)], [x, w0], [product], "library(onednn)")
    s2 = b.segment("s2", "kernel", [b.op("add", [product, b0], linear1), b.op("gelu", [linear1], gelu, ", approx = tanh")],
                   [product, b0], [linear1, gelu], schedule, kernel=k0, excess=1.02)
    s3 = b.segment("s3", "library", [b.op("linear", [gelu, w1], product2)], [gelu, w1], [product2], "library(onednn)")
    s4 = b.segment("s4", "collective", [b.op("all_reduce", [product2], reduced, ", op = sum, team = tp")], [product2], [reduced])
    s5 = b.segment("s5", "kernel", [b.op("add", [reduced, b1], linear2), b.op("dropout", [linear2, seed], dropout, ", p = 0.1")],
                   [reduced, b1, seed], [linear2, dropout], schedule, launch="s5", kernel=k1, excess=1.4)
    s6 = b.segment("s6", "kernel", [b.op("mean", [reduced], mean, ", dim = 1")], [reduced], [mean],
                   "norm(vector = 32, rows = 1, parts = 32, keep = 16384)", launch="s5", kernel=k1, excess=2.6)
    library = {"by": "library", "reason": "the product is computed by onednn, which has no gelu of this form after it",
               "change": "--option contractions=own computes both"}
    b.boundary(s1, s2, [product], [library, {"by": "pointwise", "reason": "linear is not pointwise", "change": ""}])
    b.boundary(s2, s3, [gelu], [library])
    b.boundary(s4, s5, [reduced], [{"by": "collective", "reason": "ranks exchange data here", "change": ""}])
    b.step("%linear1_product = alloc f32[sb, floordiv(h4, 4)]", "alloc")
    b.step("library @l1(%x, %w0[h, floordiv(h4, 4)] strides [1, h]) -> (%linear1_product) on compute", "library", s1, size=81920)
    b.step("launch @tp_mlp_s2(%linear1_product, %b0) -> (%linear1, %gelu) (integers = [h4, sb]) on compute", "launch", s2, k0, size=65792)
    b.step("library @l2(%gelu, %w1) -> (%linear2_product) on compute", "library", s3, size=81920)
    b.step("record %e1 on compute", "record")
    b.step("wait %e1 on comm", "wait", stream="comm")
    b.step("all_reduce %linear2_product -> %linear2_product_reduced (op = sum, team = tp) on comm", "collective", s4, stream="comm", size=65536)
    b.step("record %e2 on comm", "record", stream="comm")
    b.step("wait %e2 on compute", "wait")
    b.step("launch @tp_mlp_s5(%linear2_product_reduced, %b1, %seed) -> (%linear2, %dropout, %mean) on compute", "launch", s5, k1, size=66048)
    buffers = [("linear1_product", 32768, 0, 0, 2), ("gelu_kept", 16384, 32768, 2, 3), ("linear2_product", 32768, 0, 3, 6),
               ("linear2_product_reduced", 32768, 32768, 6, 9)]
    b.document["memory"] = [{"ranks": "0 to 3", "arena_bytes": 65536, "alive_bytes": 65536, "input_bytes": 98304, "output_bytes": 65792,
                             "buffers": [dict(zip(("name", "bytes", "offset", "first", "last"), entry)) for entry in buffers]}]
    b.document["layouts_svg"] = PICTURE
    b.document["layouts_text"] = "%linear1: each rank of tp holds a quarter of dim 1\n%linear2_product: each rank holds a summand; all-reduce over tp, 128 KiB"
    b.document["stages"] = mlp_stages()
    b.run()
    return b.finish()


def mlp_stages():
    fusion = """mesh @m (tp = t)
fusion @tp_mlp on @m (
  %x: T[sb, h],
  param %w0: T[h4, h] {0: tp},
  param %b0: T[h4],
  param %w1: T[h, h4],
  param %b1: T[h],
  %seed: u64[]
) -> (%linear1, %gelu, %linear2, %dropout) {
  %linear1: T[sb, h4] = linear(%x, %w0, %b0)
  %gelu: T[sb, h4] = gelu(%linear1, approx = tanh)
  %linear2: T[sb, h] = linear(%gelu, %w1, %b1)
  %dropout: T[sb, h] = dropout(%linear2, p = 0.1, seed = %seed)
}
"""
    graph = fusion.replace("  %linear1: T[sb, h4] = linear(%x, %w0, %b0)\n",
                           "  %linear1_product: f32[sb, h4] = linear(%x, %w0)\n  %linear1: T[sb, h4] = add(%linear1_product, %b0)\n")
    graph = graph.replace("  %linear2: T[sb, h] = linear(%gelu, %w1, %b1)\n",
                          "  %linear2_product: f32[sb, h] = linear(%gelu, %w1)\n  %linear2: T[sb, h] = add(%linear2_product, %b1)\n")
    sharded = graph.replace("linear(%gelu, %w1)\n", "linear(%gelu, %w1)\n  %linear2_product_reduced: f32[sb, h] {} = all_reduce(%linear2_product, over = tp)\n")
    sharded = sharded.replace("add(%linear2_product, %b1)", "add(%linear2_product_reduced, %b1)").replace("%b0: T[h4],", "%b0: T[h4] {0: tp},")
    program = """mesh @m (tp = 4)
program @tp_mlp on @m[4] (
  %x: bf16[sb, h]
) -> (
  %dropout: bf16[sb, h]
) {
  kernel @tp_mlp_s2 (buffers = 4, integers = 2) schedule pointwise(vector = 1, unroll = 1)
  %linear1_product = alloc f32[sb, floordiv(h4, 4)]
  library @l1(%x, %w0) -> (%linear1_product) on compute
  launch @tp_mlp_s2(%linear1_product, %b0) -> (%linear1, %gelu) (integers = [h4, sb]) on compute
  all_reduce %linear2_product -> %linear2_product_reduced (op = sum, team = tp) on comm
}
"""
    return [{"name": "fusion", "text": fusion}, {"name": "graph", "text": graph}, {"name": "sharded", "text": sharded},
            {"name": "program", "text": program}]


def large(blocks=100):
    """Six segments and twenty ops per block of a transformer, with residuals, parameters and long texts."""
    b = Builder("transformer", 4, [{"axis": "dp", "size": 2}, {"axis": "tp", "size": 2}])
    b.document["sizes"] = {"s": 512, "h": 1024}
    chance = random.Random(2)
    stream = b.tensor("x", [512, 1024], "input", symbols="T[s, h]")
    b.tensor("seed", [], "input", dtype="u64", symbols="u64[]")
    previous = None
    for block in range(blocks):
        stream, previous = add_block(b, block, stream, previous, chance)
    b.document["tensors"][stream]["kind"] = "output"
    lines = [op["text"] for op in b.document["ops"]]
    text = "fusion @transformer (\n  %x: T[s, h]\n) -> (%y) {\n" + "\n".join("  " + line for line in lines) + "\n}\n"
    long_text = "\n".join(f"  %t{n}_{n % 7}: f32[s, h] = add(%t{n - 1}_{(n - 1) % 7}, %t{n // 2}_{n // 2 % 7})" for n in range(1, 20001))
    b.document["stages"] = [{"name": "fusion", "text": text}, {"name": "graph", "text": text.replace("softmax", "softmax_split")},
                            {"name": "segments", "text": long_text}, {"name": "program", "text": long_text.replace("add(%t7", "sub(%t7")}]
    b.document["memory"] = [large_memory(b, chance), dict(large_memory(b, chance), ranks="2 and 3")]
    b.document["layouts_svg"] = PICTURE
    b.run()
    return b.finish()


def tenth():
    """The same with a tenth of the blocks."""
    return large(10)


def add_block(b, block, stream, previous, chance):
    def value(name, dtype="bf16"):
        return b.tensor(f"b{block}_{name}", [512, 1024], dtype=dtype, symbols=f"{dtype}[s, h]", layout="{0: dp}")

    schedule = "norm(vector = 32, rows = 1, parts = 32, keep = 16384)"
    weight = [b.tensor(f"b{block}_w{n}", [1024, 1024], "param", symbols="T[h, h]", layout="{1: tp}") for n in range(2)]
    kernels = [b.kernel(f"transformer_s{6 * block + n}", schedule, long_stages(block, n), instructions=chance.randint(80, 900),
                        registers=chance.choice([None, 40, 64]), compile_ms=chance.random() * 9, from_disk=chance.random() < 0.3)
               for n in (1, 3)]
    chain, ops = stream, []
    for n in range(9):
        following = value(f"norm{n}")
        ops.append(b.op(("mean", "sub", "mul", "rsqrt", "add")[n % 5], [chain], following))
        chain = following
    s1 = b.segment(f"s{6 * block + 1}", "kernel", ops, [stream], [chain], schedule, kernel=kernels[0], excess=1 + chance.random() * 1.5)
    projected = value("projected", "f32")
    s2 = b.segment(f"s{6 * block + 2}", "library", [b.op("linear", [chain, weight[0]], projected)], [chain, weight[0]], [projected], "library(onednn)")
    side, reached, ops = value("side"), projected, []
    for n in range(6):
        following = value(f"softmax{n}")
        ops.append(b.op(("exp", "sum", "div", "softmax")[n % 4], [reached], following))
        reached = following
    ops.append(b.op("gelu", [projected], side))
    s3 = b.segment(f"s{6 * block + 3}", "kernel", ops, [projected], [reached, side], schedule, kernel=kernels[1], excess=1.05)
    partial = value("partial", "f32")
    s4 = b.segment(f"s{6 * block + 4}", "library", [b.op("linear", [reached, weight[1]], partial)], [reached, weight[1]], [partial], "library(onednn)")
    summed = value("summed", "f32")
    s5 = b.segment(f"s{6 * block + 5}", "collective", [b.op("all_reduce", [partial], summed)], [partial], [summed])
    result = value("out")
    more = [1] + ([previous] if previous is not None and block % 5 == 0 else [])
    s6 = b.segment(f"s{6 * block + 6}", "kernel", [b.op("add", [summed, stream, side] + more, result)], [summed, stream, side] + more,
                   [result], "pointwise(vector = 8)", launch=f"s{6 * block + 3}" if block % 3 == 0 else None, kernel=kernels[1])
    b.boundary(s1, s2, [chain], [{"by": "library", "reason": "onednn computes the product alone", "change": "--option contractions=own"}])
    b.boundary(s5, s6, [summed], [{"by": "collective", "reason": "ranks exchange data here", "change": ""}])
    for number, kind, kernel in ((s1, "launch", kernels[0]), (s2, "library", None), (s3, "launch", kernels[1]), (s4, "library", None),
                                 (s5, "collective", None), (s6, "launch", kernels[1])):
        segment = b.document["segments"][number]
        names = ", ".join("%" + b.document["tensors"][tensor]["name"] for tensor in segment["outputs"])
        b.step(f"{kind} @{segment['name']} -> ({names}) on compute", kind, number, kernel, "comm" if kind == "collective" else "compute", segment["bytes"])
        b.step(f"record %e{number} on compute", "record")
    return result, side


def long_stages(block, place):
    if (block, place) == (0, 1):
        body = "\n".join(f"      %{n}: f32x8 = add(%{n - 1}, %{n // 2})" for n in range(1, 20001))
        cuda = "\n".join(f"    const float v{n} = v{n - 1} + v{n // 2};" for n in range(1, 20001))
        head = KIR.split("\n", 1)[0].replace("tp_mlp_s2", "transformer_s1")
        return [{"name": "kir", "text": head + "\n" + body + "\n}\n"}, {"name": "cuda", "text": cuda}]
    return [{"name": "kir", "text": KIR}, {"name": "llvm", "text": LLVM}]


def large_memory(b, chance):
    buffers, offset = [], 0
    for number in range(600):
        size = chance.choice([4096, 65536, 262144, 1048576])
        buffers.append({"name": f"buffer{number}", "bytes": size, "offset": offset, "first": 2 * number,
                        "last": min(1199, 2 * number + chance.randint(2, 30))})
        offset = (offset + size) % 12000000
    arena = max(entry["offset"] + entry["bytes"] for entry in buffers)
    return {"ranks": "0 and 1", "arena_bytes": arena, "alive_bytes": arena - 300000, "input_bytes": 1, "output_bytes": 1, "buffers": buffers}


def empty():
    b = Builder("nothing", 1, [])
    b.document["stages"] = [{"name": "fusion", "text": "fusion @nothing () -> () {\n}\n"}]
    return b.finish()


def not_run():
    document = mlp()
    document.update(timeline=None, mesh=[], ranks=1, layouts_svg="", layouts_text="", title="not_run")
    document["counts"].update(wire_bytes=None, wire_bytes_min=None)
    document["times"]["run_ms"] = None
    return document


def hostile():
    """Every string is one that a careless page would run or be broken by."""
    attack = "</script><img src=x onerror=\"document.body.dataset.attacked='yes'\"><!-- <script>&amp;\u2028 ' \" \\ $& % /"

    def spoil(value, key=""):
        if isinstance(value, str) and key not in ("kind", "dtype"):
            return value + attack
        if isinstance(value, list):
            return [spoil(item) for item in value]
        if isinstance(value, dict):
            return {name: spoil(item, name) for name, item in value.items()}
        return value

    document = spoil(mlp())
    document["layouts_svg"] = PICTURE.replace("</svg>", "<script>document.body.dataset.attacked='yes'</script><image href='x' "
                                              "onerror=\"document.body.dataset.attacked='yes'\"/><foreignObject/></svg>")
    return document


def later_format():
    return dict(mlp(), format=2)


def page_of(document):
    """The page of a document, put together as the command does it."""
    folder = PAGE
    script = "".join((folder / name).read_text() for name in (folder / "order.txt").read_text().split())
    text = (folder / "page.html").read_text()
    for place, content in (("/*STYLE*/", (folder / "page.css").read_text()), ("/*SCRIPT*/", script),
                           ("/*DOCUMENT*/", json.dumps(document).replace("<", "\\u003c"))):
        assert text.count(place) == 1, place
        first, second = text.split(place)
        text = first + content + second
    return text


def write_pages(folder):
    """A page for each kind, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for make in (mlp, large, tenth, empty, not_run, hostile, later_format):
        (folder / f"{make.__name__}.html").write_text(page_of(make()))
