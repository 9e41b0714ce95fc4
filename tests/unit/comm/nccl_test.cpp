// On the stand-ins for the driver and NCCL, beside the executable.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <thread>

#include "backend/cuda/cuda_device.h"
#include "base/environment.h"
#include "base/error.h"
#include "comm/file_bootstrap.h"
#include "comm/flight_recorder.h"
#include "comm/nccl/nccl_communicators.h"
#include "comm_cases.h"
#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char *kFolder = "PLAIT_TEST_NCCL_FOLDER", *kRank = "PLAIT_TEST_NCCL_RANK";
constexpr int64_t kProcesses = 3;

std::string beside(const char* library) {
  return (fs::read_symlink("/proc/self/exe").parent_path() / library).string();
}

std::vector<int64_t> ranks_up_to(int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), int64_t(0));
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

template <class Fn>
std::string comm_error(Fn fn) {
  try {
    fn();
  } catch (const CommError& e) {
    return e.what();
  }
  return "no error";
}

class Nccl : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string driver = beside("libplait_sim_cuda.so"), nccl = beside("libplait_sim_nccl.so");
    if (const NcclFacts facts = nccl_facts(nccl); !facts.why_not.empty()) GTEST_SKIP() << facts.why_not;
    handle_ = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) GTEST_SKIP() << "libplait_sim_cuda.so is not built";
    const auto add = reinterpret_cast<int (*)(const char*, int)>(dlsym(handle_, "plait_sim_add_devices"));
    CudaOptions options;
    options.driver = driver;
    options.name = "sim:sm_80:4";
    options.code = CudaCode::ptx;
    const int first = add("sm_80", 4);
    for (int i = 0; i < 4; ++i) options.ordinals.push_back(first + i);
    device_ = make_cuda_device(options);
    findings();
  }
  std::string findings() { return reinterpret_cast<const char* (*)()>(dlsym(handle_, "plait_sim_take_findings"))(); }

  NcclOptions options(std::vector<int64_t> held) {
    NcclOptions out;
    out.library = beside("libplait_sim_nccl.so");
    out.device = device_.get();
    out.with_device = [this](int ordinal, const std::function<void()>& body) {
      with_cuda_context(*device_, ordinal, body);
    };
    out.held = std::move(held);
    return out;
  }

  // A member on its GPU: its input goes there, what comes back is its output.
  struct Member {
    std::unique_ptr<Stream> stream;
    std::shared_ptr<Memory> in, out;
    CommMember member;
  };
  Member place(const CommCase& test, int64_t position, const Tensor& in) {
    Member out;
    const int ordinal = int(position % device_->count());
    out.stream = device_->make_stream(ordinal);
    out.in = device_->allocator(ordinal).allocate(in.bytes());
    out.out = device_->allocator(ordinal).allocate(size_t(test.out_elements(position)) * size_of(test.dtype));
    out.stream->copy(out.in->data(), in.data(), in.bytes());
    out.member = {position, out.in->data(), out.out->data(), out.stream.get()};
    return out;
  }
  Tensor fetch(const CommCase& test, Member& member, Communicators& comms) {
    while (!member.stream->done()) comms.check();
    Tensor out = blank(test.dtype, test.out_elements(member.member.position));
    member.stream->copy(out.data(), member.out->data(), out.bytes());
    member.stream->synchronize();
    return out;
  }
  static bool refused(const CommCase& test) {
    if (!info(test.kind).reduces) return false;
    if (test.dtype == DType::i16 || test.dtype == DType::u16 || is_f8(test.dtype)) return true;
    return is_float(test.dtype) && (test.reduce == CommReduce::max || test.reduce == CommReduce::min);
  }

  // All members in one call.
  void check_together(Communicators& comms, int64_t members, UnevenWay way) {
    Communicator& team = comms.team(ranks_up_to(members));
    const std::vector<CommCase> cases = all_cases(members);
    for (size_t i = size_t(way); i < cases.size(); i += size_t(members)) {
      const CommCase& test = cases[i];
      if (refused(test) && members > 1) continue;
      SCOPED_TRACE(describe(test.call()));
      const std::vector<Tensor> in = inputs_of(test, CommValues::exact, uint32_t(i));
      CommTraffic traffic;
      const std::vector<Tensor> expected = expected_of(test, in, &traffic);
      std::vector<Member> all;
      std::vector<CommMember> plain;
      for (int64_t p = 0; p < members; ++p) all.push_back(place(test, p, in[size_t(p)]));
      for (const Member& member : all) plain.push_back(member.member);
      comms.reset_traffic();
      call(team, test, plain);
      for (int64_t p = 0; p < members; ++p)
        ASSERT_TRUE(same_bits(expected[size_t(p)], fetch(test, all[size_t(p)], comms))) << "member " << p;
      if (way == UnevenWay::grouped) {
        ASSERT_EQ(comms.traffic(), traffic);
      } else {
        ASSERT_EQ(comms.traffic().wire_bytes_min, traffic.wire_bytes_min);
        ASSERT_GE(comms.traffic().wire_bytes, traffic.wire_bytes);
      }
    }
  }

  // One member per thread or process.
  void check_alone(Communicators& comms, int64_t members, int64_t position) {
    Communicator& team = comms.team(ranks_up_to(members));
    const std::vector<CommCase> cases = all_cases(members);
    for (size_t i = 0; i < cases.size(); i += 3) {
      const CommCase& test = cases[i];
      if (refused(test)) continue;
      SCOPED_TRACE(describe(test.call()));
      const std::vector<Tensor> in = inputs_of(test, CommValues::exact, uint32_t(i));
      CommTraffic traffic;
      const Tensor expected = expected_of(test, in, &traffic)[size_t(position)];
      Member member = place(test, position, in[size_t(position)]);
      call(team, test, {&member.member, 1});
      ASSERT_TRUE(same_bits(expected, fetch(test, member, comms))) << "member " << position;
    }
  }
  const CommCase sum_{Collective::all_reduce, DType::f32, CommReduce::sum, 1, 1, {8}, 2};
  Tensor ones() { return Tensor::from_doubles(DType::f32, {8}, std::vector<double>(8, 1)); }

  void* handle_ = nullptr;
  std::unique_ptr<Device> device_;
};

TEST_F(Nccl, MembersOfOneThreadAgreeWithLocal) {
  for (UnevenWay way : {UnevenWay::grouped, UnevenWay::padded}) {
    for (int64_t members : {1, 2, 3, 4}) {
      NcclOptions how = options(ranks_up_to(members));
      how.uneven = way;
      check_together(*make_nccl_communicators(how), members, way);
    }
  }
  EXPECT_EQ(findings(), "");
}

TEST_F(Nccl, MembersOfThreadsAgreeWithLocal) {
  const auto comms = make_nccl_communicators(options(ranks_up_to(3)));
  std::vector<std::thread> threads;
  for (int64_t p = 0; p < 3; ++p) threads.emplace_back([&, p] { check_alone(*comms, 3, p); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(findings(), "");
}

TEST_F(Nccl, MembersOfProcessesAgreeWithLocal) {
  if (const auto rank = environment(kRank)) {
    FileBootstrap job({std::stoll(*rank), kProcesses, *environment(kFolder), milliseconds(30'000)});
    NcclOptions how = options({job.rank()});
    how.bootstrap = &job;
    const auto comms = make_nccl_communicators(how);
    check_alone(*comms, kProcesses, job.rank());
    job.barrier();
    EXPECT_EQ(findings(), "");
    return;
  }
  const ScratchFolder folder;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::vector<CommandResult> results(kProcesses);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < kProcesses; ++rank)
    threads.emplace_back([&, rank] {
      const fs::path own = folder.path() / std::to_string(rank);
      fs::create_directory(own);
      results[size_t(rank)] = run_words({"/usr/bin/env", std::string(kFolder) + "=" + (folder.path() / "job").string(),
                                         std::string(kRank) + "=" + std::to_string(rank), self,
                                         "--gtest_filter=Nccl.MembersOfProcessesAgreeWithLocal", "--gtest_brief=1"},
                                        own);
    });
  for (std::thread& thread : threads) thread.join();
  for (const CommandResult& result : results) EXPECT_EQ(result.exit, 0) << result.out << result.err;
}

TEST_F(Nccl, AMemberThatDoesNotComeIsNamedAfterTheTimeLimitAndTheProcessGoesOn) {
  NcclOptions how = options({0, 1});
  how.timeout = milliseconds(150);
  const ScratchFolder folder;
  how.dump_folder = (folder.path() / "flight").string();
  auto comms = make_nccl_communicators(how);
  const int64_t ranks[] = {0, 1};
  Communicator& team = comms->team(ranks);
  comms->recorder(0)->set_step("step 3");
  Member member = place(sum_, 0, ones());
  call(team, sum_, {&member.member, 1});
  const auto begin = std::chrono::steady_clock::now();
  const std::string error = comm_error([&] {
    while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) comms->check();
  });
  EXPECT_TRUE(has(error,
                  "rank 0, operation 0, all_reduce(f32, sum, 8 elements) of ranks 0, 1, in step 3 is not done "
                  "after 150 ms"))
      << error;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(has(read_file(folder.path() / "flight" / "rank_0.json"), "is not done after 150 ms"));
  EXPECT_THROW(call(team, sum_, {&member.member, 1}), CommError);
  EXPECT_THROW(comms->check(), CommError);
  comms.reset();
  member = {};
  findings();
  check_together(*make_nccl_communicators(options({0, 1})), 2, UnevenWay::by_cost);
  EXPECT_EQ(findings(), "");
}

TEST_F(Nccl, AbortOfAnotherThreadEndsTheWait) {
  auto comms = make_nccl_communicators(options({0, 1}));
  const int64_t ranks[] = {0, 1};
  Member member = place(sum_, 0, ones());
  call(comms->team(ranks), sum_, {&member.member, 1});
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    comms->abort("the user gave up");
  });
  const std::string error = comm_error([&] {
    for (;;) comms->check();
  });
  EXPECT_TRUE(has(error, "the user gave up")) << error;
  other.join();
}

TEST_F(Nccl, MembersThatAskForDifferentThingsAreAnError) {
  auto comms = make_nccl_communicators(options({0, 1}));
  const int64_t ranks[] = {0, 1};
  CommCase other = sum_;
  other.counts = {4};
  Member a = place(sum_, 0, ones()), b = place(sum_, 1, ones());
  Communicator& team = comms->team(ranks);
  const std::string error = comm_error([&] {
    call(team, sum_, {&a.member, 1});
    call(team, other, {&b.member, 1});
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) comms->check();
  });
  EXPECT_TRUE(has(error, "NCCL")) << error;
  EXPECT_TRUE(has(findings(), "count 4")) << "the stand-in's own report";
}

TEST_F(Nccl, LargestAndSmallestOfFloatsAreRefused) {
  NcclOptions how = options({0, 1});
  const int64_t ranks[] = {0, 1};
  CommCase largest = sum_;
  largest.reduce = CommReduce::max;
  for (bool take : {false, true}) {
    how.lose_nan = take;
    auto comms = make_nccl_communicators(how);
    Member a = place(largest, 0, ones()), b = place(largest, 1, ones());
    const CommMember members[] = {a.member, b.member};
    if (take) {
      call(comms->team(ranks), largest, members);
      EXPECT_TRUE(same_bits(ones(), fetch(largest, a, *comms)));
    } else {
      EXPECT_THROW(call(comms->team(ranks), largest, members), UserError);
      comms->check();
    }
  }
}

// No integers of two bytes, and f8 on some GPUs only: they are moved, not calculated with.
TEST_F(Nccl, TypesThatTheLibraryDoesNotReduceAreRefused) {
  auto comms = make_nccl_communicators(options({0, 1}));
  for (const DType dtype : {DType::i16, DType::u16, DType::f8e4m3, DType::f8e5m2}) {
    CommCase sum = sum_;
    sum.dtype = dtype;
    const Tensor zeros = Tensor::from_doubles(dtype, {8}, std::vector<double>(8, 0));
    Member a = place(sum, 0, zeros), b = place(sum, 1, zeros);
    const CommMember members[] = {a.member, b.member};
    try {
      call(comms->team(ranks_up_to(2)), sum, members);
      FAIL() << name(dtype);
    } catch (const UserError& error) {
      EXPECT_EQ(error.message(), fmt::format("NCCL has no sum of {}", name(dtype)));
      EXPECT_FALSE(error.remedy().empty());
    }
    comms->check();
  }
}

TEST_F(Nccl, AdoptedCommunicatorsAreUsedAndLeft) {
  void* nccl = dlopen(beside("libplait_sim_nccl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(nccl, nullptr);
  const auto init = reinterpret_cast<int (*)(void**, int, const int*)>(dlsym(nccl, "ncclCommInitAll"));
  const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(nccl, "ncclCommDestroy"));
  void* given[2] = {};
  const int devices[] = {0, 1};
  ASSERT_EQ(init(given, 2, devices), 0);
  NcclOptions how = options({0, 1});
  how.adopted[{0, 1}] = {given[0], given[1]};
  check_together(*make_nccl_communicators(how), 2, UnevenWay::by_cost);
  how.adopted[{0, 1}] = {given[1], given[0]};
  EXPECT_THROW(make_nccl_communicators(how)->team(ranks_up_to(2)), UserError) << "of other members";
  EXPECT_EQ(destroy(given[0]), 0);
  EXPECT_EQ(destroy(given[1]), 0);
  EXPECT_EQ(findings(), "");
}

TEST(NcclLibrary, AbsentIsNamed) {
  const NcclFacts facts = nccl_facts("/nowhere/libnccl.so.2");
  EXPECT_EQ(facts.version, "");
  EXPECT_NE(facts.why_not, "");
}

TEST(UnevenCost, PaddingPaysForManyLikePiecesAndNotForOneLongOne) {
  const std::vector<int64_t> alike = {11 << 20, 11 << 20, 10 << 20}, one = {64 << 20, 0, 0, 0};
  EXPECT_EQ(choose_uneven(UnevenWay::by_cost, one, false), UnevenWay::grouped);
  EXPECT_EQ(choose_uneven(UnevenWay::padded, one, false), UnevenWay::padded);
  std::vector<int64_t> many(64, 4096);
  many.back() = 1024;
  EXPECT_EQ(choose_uneven(UnevenWay::by_cost, many, true), UnevenWay::padded);
  EXPECT_EQ(choose_uneven(UnevenWay::by_cost, alike, false), UnevenWay::padded);
  const std::vector<int64_t> few = {44, 40};
  EXPECT_EQ(choose_uneven(UnevenWay::by_cost, few, false), UnevenWay::grouped) << "copies cost more than a launch";
}

}  // namespace
}  // namespace plait::testing
