#pragma once
// Programs for tests, with kernels written as lambdas.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/local/local.h"
#include "program/assign_streams.h"
#include "program/program.h"
#include "run/bound_program.h"
#include "support/fake_gpu.h"

namespace plait::test {

class LambdaExecutable : public Executable {
 public:
  using Fn = std::function<void(const LaunchArguments&)>;
  explicit LambdaExecutable(Fn fn) : fn_(std::move(fn)) {}
  // On the stream of a fake GPU it runs later, on a copy of the arguments.
  void launch(const LaunchArguments& arguments) const override {
    if (!arguments.stream) return fn_(arguments);
    static_cast<FakeStream*>(arguments.stream)
        ->enqueue([fn = fn_, arguments, buffers = std::vector(arguments.buffers.begin(), arguments.buffers.end()),
                   integers = std::vector(arguments.integers.begin(), arguments.integers.end())] {
          LaunchArguments later = arguments;
          later.buffers = buffers;
          later.integers = integers;
          fn(later);
          return true;
        });
  }

 private:
  Fn fn_;
};

struct Builder {
  Program program;

  explicit Builder(std::vector<MeshAxis> axes = {}, std::vector<int64_t> sizes = {}) {
    program.name = "test";
    program.pool = std::make_shared<sym::Pool>();
    if (!axes.empty()) program.mesh = Mesh("m", std::move(axes));
    program.devices = DeviceMesh(std::move(sizes));
  }
  // The mesh of one axis tp.
  static Builder tp(int64_t size) { return Builder({{"tp", 0, "t"}}, {size}); }

  sym::Expr expr(const std::string& text) { return sym::parse(*program.pool, text); }
  std::vector<sym::Expr> shape(const std::vector<std::string>& texts) {
    std::vector<sym::Expr> out;
    for (const auto& text : texts) out.push_back(expr(text));
    return out;
  }
  ValueId input(std::string name, const std::vector<std::string>& extents, DType dtype = DType::f32) {
    return program.add_value(std::move(name), dtype, shape(extents), ProgramValueKind::input);
  }
  ValueId alloc(std::string name, const std::vector<std::string>& extents, DType dtype = DType::f32,
                ProgramValueKind kind = ProgramValueKind::temporary) {
    const ValueId id = program.add_value(std::move(name), dtype, shape(extents), kind);
    program.add_step<AllocStep>().value = id;
    return id;
  }
  ValueId output(std::string name, const std::vector<std::string>& extents, DType dtype = DType::f32) {
    return alloc(std::move(name), extents, dtype, ProgramValueKind::output);
  }
  LaunchStep& launch(std::string name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                     const std::vector<std::string>& integers, LambdaExecutable::Fn fn) {
    KernelSlot slot;
    slot.code = {std::move(name), "", inputs.size() + outputs.size(), integers.size()};
    slot.schedule = "pointwise(vector = 8)";
    slot.executable = std::make_shared<LambdaExecutable>(std::move(fn));
    program.kernels.push_back(std::move(slot));
    auto& step = program.add_step<LaunchStep>();
    step.kernel = {uint32_t(program.kernels.size() - 1)};
    step.inputs.assign(inputs.begin(), inputs.end());
    step.outputs.assign(outputs.begin(), outputs.end());
    step.integers = shape(integers);
    return step;
  }
  // out[i] = sum of in[k][i] * (k + 1) + add, over n elements of f32.
  LaunchStep& combine(std::vector<ValueId> inputs, ValueId out, const std::string& n, float add) {
    const size_t count = inputs.size();
    auto& step = launch("k" + std::to_string(program.kernels.size() + 1), std::move(inputs), {out}, {n},
                        [count, add](const LaunchArguments& args) {
                          auto* to = static_cast<float*>(args.buffers[count]);
                          for (int64_t i = 0; i < args.integers[0]; ++i) {
                            float sum = add;
                            for (size_t k = 0; k < count; ++k)
                              sum += static_cast<const float*>(args.buffers[k])[i] * float(k + 1);
                            to[i] = sum;
                          }
                        });
    step.threads = expr(n);
    return step;
  }
  CollectiveStep& all_reduce(ValueId in, ValueId out, CommReduce reduce = CommReduce::sum, int axis = 0) {
    auto& step = program.add_step<CollectiveStep>(ProgramStream::comm);
    step.in = in;
    step.out = out;
    step.reduce = reduce;
    step.team = {{axis}};
    return step;
  }
  CollectiveStep& pieces(Collective kind, ValueId in, ValueId out, const std::vector<std::string>& view, int axis = 0) {
    auto& step = program.add_step<CollectiveStep>(ProgramStream::comm);
    step.collective = kind;
    step.in = in;
    step.out = out;
    if (kind == Collective::reduce_scatter) step.reduce = CommReduce::sum;
    step.team = {{axis}};
    step.outer = expr(view[0]);
    step.count = expr(view[1]);
    step.total = expr(view[2]);
    step.inner = expr(view[3]);
    return step;
  }
  // out = a x b by a library without an executable; views of a [m, k], b [k, n].
  LibraryStep& contraction(View a, View b, ValueId out, LibraryContraction of = {}) {
    program.libraries.push_back({of, nullptr});
    auto& step = program.add_step<LibraryStep>();
    step.library = {uint32_t(program.libraries.size() - 1)};
    step.a = std::move(a);
    step.b = std::move(b);
    step.out = out;
    return step;
  }
  // [k, n] of a weight [n, k]
  View transposed(ValueId w, const std::string& n, const std::string& k) {
    return {w, {}, {expr(k), expr(n)}, {expr("1"), expr(k)}};
  }
  CopyStep& slice(ValueId in, ValueId out, const std::vector<std::string>& view) {
    auto& step = program.add_step<CopyStep>();
    step.in = in;
    step.out = out;
    step.outer = expr(view[0]);
    step.start = expr(view[1]);
    step.count = expr(view[2]);
    step.total = expr(view[3]);
    step.inner = expr(view[4]);
    return step;
  }
  RecordStep& record(uint32_t event, ProgramStream stream) {
    auto& step = program.add_step<RecordStep>(stream);
    step.event = {event};
    return step;
  }
  WaitStep& wait(uint32_t event, ProgramStream stream) {
    auto& step = program.add_step<WaitStep>(stream);
    step.event = {event};
    return step;
  }
  // The program, verified, with streams and events placed unless it has events; the builder is empty afterwards.
  std::shared_ptr<const Program> done() {
    if (program.count(StepKind::RecordStep) == 0) assign_streams(program);
    verify(program);
    return std::make_shared<const Program>(std::move(program));
  }
};

// Host memory with an allocator that counts; compiles nothing.
class TestDevice : public Device {
 public:
  std::string name() const override { return "test"; }
  HostAllocator& allocator(int = 0) override { return allocator_; }
  std::shared_ptr<Executable> compile(const KernelText&, KernelFacts*) override { return nullptr; }
  std::shared_ptr<Executable> library(const LibraryContraction&, std::string*) override { return nullptr; }
  const Target& target() const override { return target_; }

 private:
  const Target target_;
  HostAllocator allocator_;
};

// A bound program with all that it needs.
struct Runner {
  TestDevice device;
  HostAllocator& allocator = device.allocator();
  std::shared_ptr<LocalCommunicators> comms = std::make_shared<LocalCommunicators>();
  BoundProgram bound;
  Runner(std::shared_ptr<const Program> program, const sym::Environment& sizes, ExecutorOptions options = {})
      : bound(std::move(program), sizes, device, comms, std::move(options)) {}
};

inline Tensor tensor(std::vector<int64_t> shape, const std::vector<double>& values, DType dtype = DType::f32) {
  return Tensor::from_doubles(dtype, std::move(shape), values);
}

}  // namespace plait::test
