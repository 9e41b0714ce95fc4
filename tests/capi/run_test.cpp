// Fusions built, compiled and run through the C ABI.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "capi/c_api.h"
#include "session/devices.h"
#include "support/scratch_folder.h"

namespace plait::testing {
namespace {

TEST(CApi, VersionIsThatOfTheHeader) {
  EXPECT_EQ(plait_abi_version(), PLAIT_ABI_VERSION);
  EXPECT_STREQ(plait_version(), "0.1.0");
}

TEST(CApi, LinesMakeTheFusionOfTheText) {
  plait_fusion* made = nullptr;
  ASSERT_OK(plait_fusion_new("f", "@m (tp = t)", &made));
  const Owned<plait_fusion> fusion(made);
  ASSERT_OK(plait_fusion_let(made, "b", 4));
  ASSERT_OK(plait_fusion_input(made, "%x: f32[b, 8]"));
  ASSERT_OK(plait_fusion_input(made, "param %w: f32[6, 8] {0: tp}"));
  plait_text* name = nullptr;
  ASSERT_OK(plait_fusion_statement(made, "linear(%x, %w)", &name));
  EXPECT_EQ(text_of(name), "linear");
  ASSERT_OK(plait_fusion_statement(made, "%y = softmax(%linear, dim = -1)", nullptr));
  ASSERT_OK(plait_fusion_output(made, "y", "%y"));
  plait_text* printed = nullptr;
  ASSERT_OK(plait_fusion_print(made, &printed));
  const std::string text = text_of(printed);
  plait_fusion* copied = nullptr;
  ASSERT_OK(plait_fusion_copy(made, &copied));
  const Owned<plait_fusion> copy(copied);
  ASSERT_OK(plait_fusion_print(parsed(text).get(), &printed));
  EXPECT_EQ(text_of(printed), text);
  ASSERT_OK(plait_fusion_print(copied, &printed));
  EXPECT_EQ(text_of(printed), text);

  ASSERT_EQ(plait_fusion_input_count(made), 2u);
  ASSERT_EQ(plait_fusion_output_count(made), 1u);
  plait_tensor_info w = {}, y = {};
  w.struct_size = y.struct_size = sizeof(w);
  ASSERT_OK(plait_fusion_input_info(made, 1, &w));
  ASSERT_OK(plait_fusion_output_info(made, 0, &y));
  EXPECT_STREQ(w.name, "w");
  EXPECT_EQ(w.role, PLAIT_ROLE_PARAMETER);
  EXPECT_EQ(w.rank, 2);
  EXPECT_STREQ(y.name, "y");
  EXPECT_STREQ(y.type, "f32[b, 6]");
  EXPECT_EQ(y.role, PLAIT_ROLE_OUTPUT);
  EXPECT_EQ(y.dtype.bits, 32);
}

TEST(CApi, ListsTheOpsThatStatementsCall) {
  plait_text* listed = nullptr;
  ASSERT_OK(plait_op_schemas(&listed));
  const std::string ops = text_of(listed);
  for (const char* op :
       {"\"name\": \"tanh\"", "\"name\": \"amax\"", "\"name\": \"var_mean\"", "\"results\": [\"mean\", \"var\"]"})
    EXPECT_NE(ops.find(op), std::string::npos) << op;
  EXPECT_NE(words(plait_op_schemas(nullptr)), "");
}

TEST(CApi, RunsOnStridedScalarAndEmptyTensors) {
  const auto fusion = parsed("fusion @f (%x: f32[m, n], %s: f32[]) -> (%y) { %y = mul(%x, %s) }");
  for (const char* device : {"reference", "cpu"}) {
    const auto program = compiled(fusion.get(), device);
    Values<float> column({1, 2, 3, 4, 5, 6}, {2, 3}, kF32, {1, 2});  // column-major
    Values<float> s({2}, {}, kF32);
    EXPECT_EQ(read<float>(*run(program.get(), {{"x", &column.tensor}, {"s", &s.tensor}})),
              (std::vector<float>{2, 6, 10, 4, 8, 12}));
    Values<float> spread({3}, {2, 2}, kF32, {0, 0});  // one number everywhere
    EXPECT_EQ(read<float>(*run(program.get(), {{"x", &spread.tensor}, {"s", &s.tensor}})),
              (std::vector<float>{6, 6, 6, 6}));
    Values<float> offset({9, 9, 1, 2}, {1, 2}, kF32);
    offset.tensor.byte_offset = 8;
    EXPECT_EQ(read<float>(*run(program.get(), {{"x", &offset.tensor}, {"s", &s.tensor}})), (std::vector<float>{2, 4}));
    Values<float> empty({}, {0, 5}, kF32);
    const auto y = run(program.get(), {{"x", &empty.tensor}, {"s", &s.tensor}});
    EXPECT_EQ(y->dl_tensor.ndim, 2);
    EXPECT_EQ(y->dl_tensor.shape[0], 0);
    EXPECT_EQ(y->dl_tensor.shape[1], 5);
  }
}

// A number of dims that does not fit is refused before shape and strides are read.
TEST(CApi, ReadsNoMoreExtentsThanTheInputHas) {
  const auto program = compiled(parsed("fusion @f (%x: f32[m, n]) -> (%y) { %y = neg(%x) }").get(), "reference");
  Values<float> x({1, 2}, {1, 2}, kF32);
  for (const int32_t ndim : {3, 2000000000, INT32_MAX}) {
    x.tensor.ndim = ndim;
    for (const char* name : {"x", "nothing"}) {
      const plait_input input = {name, &x.tensor};
      DLManagedTensorVersioned* out = nullptr;
      if (name == std::string("nothing") && ndim == 3) continue;  // of which nobody knows
      const std::string error = words(plait_program_run(program.get(), &input, 1, nullptr, &out, 1));
      EXPECT_NE(error.find(name == std::string("x") ? "expected 2 dims, got" : "expected at most 64 dims, got"),
                std::string::npos)
          << error;
    }
  }
}

// A program's own folder may be anybody's: plug-ins are taken from that of the library. Run by the test below too.
TEST(CApiPlugins, Compile) {
  const auto program = compiled(parsed("fusion @f (%x: f32[2]) -> (%y) { %y = neg(%x) }").get(), "cpu");
  Values<float> x({1, 2}, {2}, kF32);
  EXPECT_EQ(read<float>(*run(program.get(), {{"x", &x.tensor}})), (std::vector<float>{-1, -2}));
}

TEST(CApiPlugins, AreNotTakenFromBesideAProgram) {
  Dl_info info;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "plait_abi_version"), &info), 0);
  const ScratchFolder scratch;
  const std::string program = scratch / "program";
  std::filesystem::copy_file("/proc/self/exe", program);
  std::filesystem::copy_file(info.dli_fname, scratch / "libplait_llvm.so");  // loads, and is no plug-in
  const std::string line = "PLAIT_CACHE_MIB=0 '" + program + "' --gtest_filter=CApiPlugins.Compile > /dev/null 2>&1";
  EXPECT_EQ(std::system(line.c_str()), 0);
}

// Outputs that were given back are the memory of later ones.
TEST(CApi, MemoryIsCountedAndUsedAgain) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }");
  const auto program = compiled(fusion.get(), "cpu");
  Values<float> x(std::vector<float>(300000, 2.0F), {300000}, kF32);
  const auto counts = [&] {
    plait_memory_info out = {};
    out.struct_size = sizeof(out);
    EXPECT_OK(plait_program_memory_get(program.get(), &out));
    return out;
  };
  run(program.get(), {{"x", &x.tensor}});
  const plait_memory_info before = counts();
  EXPECT_GE(before.held_bytes, 1200000);
  {
    const auto y = run(program.get(), {{"x", &x.tensor}});
    EXPECT_EQ(read<float>(*y)[299999], -2.0F);
    EXPECT_GE(counts().in_use_bytes, before.in_use_bytes + 1200000);
  }
  EXPECT_EQ(counts().misses, before.misses);
  EXPECT_GT(counts().hits, before.hits);
  EXPECT_EQ(counts().in_use_bytes, before.in_use_bytes);
  const auto reference = compiled(fusion.get(), "reference");
  plait_memory_info none = {};
  none.struct_size = sizeof(none);
  ASSERT_OK(plait_program_memory_get(reference.get(), &none));
  EXPECT_EQ(none.held_bytes, 0);
}

TEST(CApi, DtypesAreThoseOfDlpack) {
  const auto fusion = parsed(
      "fusion @f (%i: i64[2], %b: bool[2]) -> (%y, %c, %h) { %y = where(%b, %i, %i)  %c = logical_not(%b)"
      "  %h = cast(%i, to = bf16) }");
  const auto program = compiled(fusion.get(), "reference");
  Values<int64_t> i({-3, int64_t{1} << 40}, {2}, kI64);
  Values<uint8_t> b({1, 0}, {2}, kBool);
  DLManagedTensorVersioned* outputs[3] = {};
  const plait_input inputs[] = {{"i", &i.tensor}, {"b", &b.tensor}};
  ASSERT_OK(plait_program_run(program.get(), inputs, 2, nullptr, outputs, 3));
  const Owned<DLManagedTensorVersioned> y(outputs[0]), c(outputs[1]), h(outputs[2]);
  EXPECT_EQ(read<int64_t>(*y), i.data);
  EXPECT_EQ(read<uint8_t>(*c), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(c->dl_tensor.dtype.code, 6);
  EXPECT_EQ(h->dl_tensor.dtype.code, 4);
  EXPECT_EQ(h->dl_tensor.dtype.bits, 16);
  EXPECT_EQ(h->version.major, 1u);
}

TEST(CApi, LetsAreDefaultsOfSizesThatNoInputGives) {
  plait_fusion* made = nullptr;
  ASSERT_OK(plait_fusion_new(nullptr, nullptr, &made));
  const Owned<plait_fusion> fusion(made);
  ASSERT_OK(plait_fusion_let(made, "n", 4));
  ASSERT_OK(plait_fusion_statement(made, "%y = iota(shape = [n], dim = 0, dtype = i64)", nullptr));
  ASSERT_OK(plait_fusion_output(made, "y", "y"));
  EXPECT_EQ(read<int64_t>(*run(compiled(made, "reference").get(), {})), (std::vector<int64_t>{0, 1, 2, 3}));
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  const plait_setting two = {"n", "2"};
  options.sizes = &two;
  options.size_count = 1;
  plait_program* program = nullptr;
  ASSERT_OK(plait_compile(made, &options, &program));
  EXPECT_EQ(read<int64_t>(*run(Owned<plait_program>(program).get(), {})), (std::vector<int64_t>{0, 1}));
}

TEST(CApi, TextsOfInfosStay) {
  const auto fusion = parsed("fusion @f (%a: bf16[4096, 4096, 16], %b: f32[4096, 8192, 32]) -> (%y) { %y = neg(%a) }");
  plait_tensor_info a = {}, b = {};
  a.struct_size = b.struct_size = sizeof(a);
  ASSERT_OK(plait_fusion_input_info(fusion.get(), 0, &a));
  ASSERT_OK(plait_fusion_input_info(fusion.get(), 1, &b));
  ASSERT_OK(plait_fusion_input_info(fusion.get(), 0, &b));
  EXPECT_STREQ(a.type, "bf16[4096, 4096, 16]");
  EXPECT_STREQ(b.type, "bf16[4096, 4096, 16]");
}

TEST(CApi, SaysWhatWasCompiled) {
  const auto fusion = parsed(
      "mesh @m (tp = t)\nfusion @f on @m (%x: f32[4, 8], param %w: f32[6, 8] {0: tp}) -> (%y {1: tp}) {"
      " %h = linear(%x, %w) %y = gelu(%h) }");
  const auto program = compiled(fusion.get(), "cpu", 4);
  plait_program_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_NE(words(plait_program_info_get(program.get(), &info)).find("prepare"), std::string::npos);
  const int64_t x[] = {4, 8}, w[] = {6, 8};
  const plait_metadata metadata[] = {{"x", kF32, 2, x}, {"w", kF32, 2, w}};
  ASSERT_OK(plait_program_prepare(program.get(), metadata, 2));
  ASSERT_OK(plait_program_info_get(program.get(), &info));
  EXPECT_EQ(info.ranks, 4);
  ASSERT_GE(info.kernels, 1);
  EXPECT_GE(info.launches, info.kernels);
  EXPECT_EQ(info.bytes_least, 4 * (4 * 8 + 2 * 8 + 4 * 2)) << "of rank 0";
  EXPECT_GE(info.bytes_moved, info.bytes_least);
  EXPECT_EQ(info.bytes_copied, 0);
  plait_kernel_info kernel = {};
  kernel.struct_size = sizeof(kernel);
  ASSERT_OK(plait_program_kernel(program.get(), 0, &kernel));
  EXPECT_NE(std::string(kernel.source).find("define"), std::string::npos);  // LLVM IR
  EXPECT_EQ(kernel.registers, -1);
  EXPECT_GT(kernel.instructions, 10);
  plait_text* text = nullptr;
  ASSERT_OK(plait_program_layout(program.get(), "h", &text));
  EXPECT_EQ(text_of(text), "{1: tp}");
  int64_t shape[2] = {};
  size_t dims = 0;
  for (int64_t rank = 0; rank < 4; ++rank) {  // 6 columns over 4 ranks: 2, 2, 2, 0
    ASSERT_OK(plait_program_local_shape(program.get(), "y", rank, shape, 2, &dims));
    EXPECT_EQ(dims, 2u);
    EXPECT_EQ(shape[1], rank < 3 ? 2 : 0);
  }
  EXPECT_NE(words(plait_program_local_shape(program.get(), "y", 0, shape, 1, &dims)), "");
  EXPECT_NE(words(plait_program_local_shape(program.get(), "y", 4, shape, 2, &dims)), "");
  for (const char* stage : {"fusion", "graph", "sharded", "localized", "segments", "params", "scheduled", "kir", "cuda",
                            "llvm", "program", "memory", "timings"}) {
    ASSERT_OK(plait_program_dump(program.get(), stage, &text));
    EXPECT_NE(text_of(text), "") << stage;
  }
  EXPECT_NE(words(plait_program_dump(program.get(), "kirr", &text)).find("did you mean `kir`"), std::string::npos);
}

TEST(CApi, ShorterStructsOfOlderCallersAreTaken) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }");
  plait_compile_options options = {};
  options.struct_size = offsetof(plait_compile_options, comm);  // knows the device only
  options.device = "reference";
  options.comm = "nonsense";
  plait_program* made = nullptr;
  ASSERT_OK(plait_compile(fusion.get(), &options, &made));
  const Owned<plait_program> program(made);
  Values<float> x({1}, {1}, kF32);
  EXPECT_EQ(read<float>(*run(made, {{"x", &x.tensor}})), (std::vector<float>{-1}));
  plait_program_info info = {};
  info.struct_size = offsetof(plait_program_info, kernels);
  info.kernels = 77;
  ASSERT_OK(plait_program_info_get(made, &info));
  EXPECT_EQ(info.ranks, 1);
  EXPECT_EQ(info.kernels, 77);
}

TEST(CApi, TheDefaultDeviceIsThatOfCpp) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }");
  plait_compile_options options = {};
  options.struct_size = sizeof options;
  const plait_compile_options* const without[] = {nullptr, &options};
  for (const plait_compile_options* given : without) {
    plait_program* made = nullptr;
    ASSERT_OK(plait_compile(fusion.get(), given, &made));
    const Owned<plait_program> program(made);
    const int64_t shape = 2;
    const plait_metadata x = {"x", kF32, 1, &shape};
    ASSERT_OK(plait_program_prepare(made, &x, 1));
    plait_program_info info = {};
    info.struct_size = sizeof info;
    ASSERT_OK(plait_program_info_get(made, &info));
    EXPECT_EQ(info.device, default_device());
  }
}

TEST(CApi, ThreadsRunOneProgramAndMany) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %a = exp(%x) %y = sum(%a, dims = [0]) }");
  const auto shared = compiled(fusion.get());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto own = compiled(fusion.get());
      for (int i = 1; i <= 20; ++i) {
        Values<float> x(std::vector<float>(size_t(i), 0.0F), {i}, kF32);
        for (plait_program* program : {shared.get(), own.get()})
          if (read<float>(*run(program, {{"x", &x.tensor}})) != std::vector<float>{float(i)}) ++wrong[size_t(t)];
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

// Who wants the program alone has it after the runs that are going on, however many come behind them.
TEST(CApi, RunsDoNotPassWhoWantsTheProgramAlone) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = exp(%x) }");
  const auto program = compiled(fusion.get());
  std::atomic<int64_t> runs = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Values<float> x(std::vector<float>(20000, 0.0F), {20000}, kF32);
      while (!done) {
        run(program.get(), {{"x", &x.tensor}});
        ++runs;
      }
    });
  while (runs < 20) std::this_thread::yield();
  std::vector<int64_t> passed(5);
  for (int64_t& count : passed) {
    const int64_t before = runs;
    plait_program_info info = {};
    info.struct_size = sizeof info;
    EXPECT_OK(plait_program_info_get(program.get(), &info));
    count = runs - before;
  }
  // A run of each thread, and those of moments in which this thread has no core.
  std::sort(passed.begin(), passed.end());
  EXPECT_LE(passed[2], 200);
  done = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace plait::testing
