// plait as a guest: a caller's stream, allocator and communicators, and nothing else touched.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/plugin_loader.h"
#include "comm/local/local.h"
#include "reference/draw_inputs.h"
#include "session/devices.h"
#include "sim/cuda/simulator.h"
#include "support/examples.h"
#include "support/run_case.h"

extern char** environ;

namespace plait {
namespace {

using testing::example;

constexpr const char* kDevice = "sim:sm_80";

plait_sim_counts counts() {
  static const auto get = reinterpret_cast<void (*)(plait_sim_counts*)>(
      load_plugin("libplait_sim_cuda.so", "plait_sim_get_counts", "", ""));
  plait_sim_counts out{};
  get(&out);
  return out;
}

size_t threads() { return size_t(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {})); }

std::vector<std::string> environment_now() {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) out.emplace_back(*at);
  return out;
}

// The caller's allocator: the device's, counted.
class Lent : public Allocator {
 public:
  explicit Lent(Allocator& inner) : inner_(inner) {}
  std::shared_ptr<Memory> allocate(size_t bytes) override {
    ++count;
    return inner_.allocate(bytes);
  }
  std::shared_ptr<Memory> allocate_on(size_t bytes, Stream* stream) override {
    ++count;
    streams.push_back(stream ? stream->native() : nullptr);
    return inner_.allocate_on(bytes, stream);
  }
  int64_t count = 0;
  std::vector<void*> streams;

 private:
  Allocator& inner_;
};

// A tensor's copy in the device's memory, by the caller's stream.
Tensor on_device(const Tensor& host, Stream& stream, Allocator& allocator) {
  Tensor out = host;
  out.memory = allocator.allocate_on(std::max<size_t>(host.bytes(), 1), &stream);
  out.byte_offset = 0;
  if (host.bytes() > 0) stream.copy(out.data(), host.data(), host.bytes());
  return out;
}

class Guest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = testing::why_no_device(kDevice); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Guest, OneRankTouchesTheCallersStreamAndAllocatorOnly) {
  Device& device = find_device(kDevice, {});
  const auto stream = device.make_stream();
  auto fusion = parse_fusion(example("mlp_block"));
  CompileOptions how;
  how.device = kDevice;
  Compiled p = compile(*fusion, how);
  const auto drawn = reference::draw_inputs(*fusion, {});
  const Tensors want = p.run({drawn.begin(), drawn.end()});  // compiles, and loads what is loaded once

  Lent mine(device.allocator());
  Tensors inputs;
  for (const auto& [name, tensor] : drawn) inputs[name] = on_device(tensor, *stream, device.allocator());
  RunOptions lent;
  lent.stream = stream->native();
  lent.allocator = &mine;
  stream->synchronize();
  const plait_sim_counts before = counts();
  const size_t threads_before = threads();
  const auto environment_before = environment_now();
  {
    const Tensors got = p.run(inputs, lent);
    EXPECT_GT(mine.count, 0);
    for (void* on : mine.streams) EXPECT_EQ(on, stream->native());
    stream->synchronize();
    const plait_sim_counts now = counts();
    EXPECT_EQ(now.streams, before.streams);
    EXPECT_EQ(now.events, before.events);
    EXPECT_EQ(now.graphs, before.graphs);
    EXPECT_GT(now.launches, before.launches);
    for (const auto& [name, tensor] : want) {
      EXPECT_FALSE(got.at(name).on_host());
      Tensor home = Tensor::empty(tensor.dtype, tensor.shape);
      stream->copy(home.data(), got.at(name).data(), home.bytes());
      stream->synchronize();
      EXPECT_EQ(0, std::memcmp(home.data(), tensor.data(), home.bytes())) << name;
    }
  }
  stream->synchronize();
  // All memory of the run came from the caller, and went back; outputs kept from the first run may have gone too.
  EXPECT_LE(counts().allocations, before.allocations);
  EXPECT_EQ(threads(), threads_before);
  EXPECT_EQ(environment_now(), environment_before);
}

TEST_F(Guest, RunsAreReplayedAsAGraph) {
  auto fusion = parse_fusion(example("mlp_block"));
  const auto drawn = reference::draw_inputs(*fusion, {});
  const Tensors inputs(drawn.begin(), drawn.end());
  CompileOptions plain, graph;
  plain.device = graph.device = kDevice;
  graph.options.cuda_graph = true;
  const Tensors want = compile(*fusion, plain).run(inputs);
  Compiled p = compile(*fusion, graph);
  for (int i = 0; i < 3; ++i) {
    const Tensors got = p.run(inputs);
    for (const auto& [name, tensor] : want)
      EXPECT_EQ(0, std::memcmp(got.at(name).data(), tensor.data(), tensor.bytes())) << name << ", run " << i;
  }
}

TEST_F(Guest, AStreamIsRefusedOnTheHostAndForSeveralRanks) {
  auto fusion = parse_fusion(example("tp_mlp"));
  const auto drawn = reference::draw_inputs(*fusion, {});
  const Tensors inputs(drawn.begin(), drawn.end());
  int dummy = 0;
  RunOptions lent;
  lent.stream = &dummy;
  EXPECT_THROW(compile(*fusion, {.device = "cpu"}).run(inputs, lent), UserError);
  CompileOptions how;
  how.device = "sim:sm_80:4";
  how.ranks = 4;
  EXPECT_THROW(compile(*fusion, how).run(inputs, lent), UserError);
}

TEST_F(Guest, CommunicatorsMayBeTheCallers) {
  auto fusion = parse_fusion(example("tp_mlp"));
  const auto drawn = reference::draw_inputs(*fusion, {});
  const Tensors inputs(drawn.begin(), drawn.end());
  CompileOptions how;
  how.device = "cpu";
  how.ranks = 4;
  Compiled p = compile(*fusion, how);
  const Tensors want = p.run(inputs);
  for (int i = 0; i < 3; ++i) {  // new ones each time, at one address
    LocalCommunicators mine;
    HostAllocator memory;
    RunOptions lent;
    lent.comms = &mine;
    lent.allocator = &memory;
    const Tensors got = p.run(inputs, lent);
    for (const auto& [name, tensor] : want)
      EXPECT_EQ(0, std::memcmp(got.at(name).data(), tensor.data(), tensor.bytes())) << name;
    EXPECT_GT(mine.traffic().wire_bytes, 0);
    EXPECT_GT(memory.allocations(), 0);
  }
}

TEST_F(Guest, OutOfMemoryLeavesTheProcessUsable) {
  auto fusion = parse_fusion("fusion @big (%a: f32[n]) -> (%c) {\n  %c = add(%a, %a)\n}\n");
  CompileOptions how;
  how.device = kDevice;
  Compiled p = compile(*fusion, how);
  static const auto limit =
      reinterpret_cast<int (*)(int, size_t)>(load_plugin("libplait_sim_cuda.so", "plait_sim_set_memory", "", ""));
  constexpr int64_t kElements = 1 << 23;  // 32 MiB: more than any memory kept from before
  const Tensors large = {{"a", Tensor::empty(DType::f32, {kElements})}};
  const Tensors small = {{"a", Tensor::from_doubles(DType::f32, {3}, {1, 2, 3})}};
  static const auto add =
      reinterpret_cast<int (*)(const char*, int)>(load_plugin("libplait_sim_cuda.so", "plait_sim_add_devices", "", ""));
  const int ordinal = add("sm_80", 1);
  ASSERT_EQ(0, limit(ordinal, 1 << 20));
  EXPECT_THROW(p.run(large), MissingError);
  EXPECT_EQ(p.run(small).at("c").to_doubles(), (std::vector<double>{2, 4, 6}));
  ASSERT_EQ(0, limit(ordinal, size_t(16) << 30));
}

}  // namespace
}  // namespace plait
