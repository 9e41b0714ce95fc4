// What is said where there is no driver, and what a driver tells of its devices.
#include <gtest/gtest.h>

#include <fstream>

#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

void expect_missing(const std::string& path, const std::string& part) {
  CudaOptions options;
  options.driver = path;
  std::string why_not;
  EXPECT_FALSE(cuda_available(options, &why_not));
  EXPECT_NE(why_not.find(part), std::string::npos) << why_not;
  EXPECT_FALSE(cuda_available(options, nullptr)) << "asked again";
  try {
    make_cuda_device(options);
    FAIL();
  } catch (const MissingError& error) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
    EXPECT_EQ(error.where(), "device cuda");
    EXPECT_FALSE(error.remedy().empty());
  }
  const CudaFacts facts = cuda_facts(options);
  EXPECT_TRUE(facts.devices.empty());
  ASSERT_EQ(facts.libraries.size(), 3u);
  EXPECT_EQ(facts.libraries[0].name, "CUDA driver");
  EXPECT_NE(facts.libraries[0].why_not.find(part), std::string::npos);
  EXPECT_EQ(facts.libraries[0].version, "");
}

bool built_without() {
  std::string why_not;
  nvrtc_available(&why_not);
  return why_not.find("built without") != std::string::npos;
}

TEST(CudaDriver, MissingSaysWhy) {
  if (built_without()) return expect_missing("", "built without CUDA");
  expect_missing("/nowhere/libcuda.so.1", "/nowhere/libcuda.so.1");
  expect_missing("libm.so.6", "lacks cuDriverGetVersion");
  const std::string text = ::testing::TempDir() + "plait_no_library.so";
  std::ofstream(text) << "no library";
  expect_missing(text, text);
  std::filesystem::remove(text);
}

TEST(CudaDriver, RealOneOrTheReason) {
  std::string why_not;
  const CudaFacts facts = cuda_facts();
  if (cuda_available({}, &why_not)) {
    EXPECT_FALSE(facts.devices.empty());
    EXPECT_EQ(facts.libraries[0].why_not, "");
  } else {
    EXPECT_EQ(facts.libraries[0].why_not, why_not);
    EXPECT_FALSE(why_not.empty());
    EXPECT_THROW(make_cuda_device(), MissingError);
  }
}

class CudaFactsTest : public CudaTest {};

TEST_F(CudaFactsTest, Devices) {
  const CudaFacts facts = cuda_facts(options_);
  ASSERT_GE(facts.devices.size(), 2u);
  for (const CudaDeviceFacts& each : facts.devices) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_EQ(each.architecture.rfind("sm_", 0), 0u);
    EXPECT_GT(each.memory_bytes, 0u);
    EXPECT_GT(each.multiprocessors, 0);
  }
  for (const CudaLibraryFacts& each : {facts.libraries[0], facts.libraries[1]}) {
    EXPECT_EQ(each.why_not, "") << each.name;
    EXPECT_NE(each.version.find('.'), std::string::npos) << each.name;
    EXPECT_FALSE(each.path.empty()) << each.name;
  }
  if (real_) return;
  EXPECT_TRUE(std::filesystem::equivalent(facts.libraries[0].path, options_.driver));
  EXPECT_EQ(facts.devices[size_t(options_.ordinals[0])].architecture, "sm_90a");
}

TEST_F(CudaFactsTest, Queries) {
  EXPECT_TRUE(device_->target().cuda());
  EXPECT_FALSE(device_->host_memory());
  EXPECT_GE(device_->count(), 2);
  if (real_) return;
  EXPECT_EQ(device_->name(), "sim:sm_90a:2");
  EXPECT_EQ(device_->target().architecture, "sm_90a");
  EXPECT_EQ(device_->count(), 2);
}

TEST_F(CudaFactsTest, OrdinalsThatAreNotThere) {
  for (int ordinal : {-1, 1000}) {
    CudaOptions options = options_;
    options.ordinals = {ordinal};
    EXPECT_THROW(make_cuda_device(options), UserError) << ordinal;
  }
  EXPECT_THROW(device_->make_stream(-1), InternalError);
  EXPECT_THROW(device_->make_stream(device_->count()), InternalError);
  EXPECT_THROW(device_->allocator(device_->count()), InternalError);
}

TEST_F(CudaFactsTest, UnlikeDevicesAreRefused) {
  if (real_) GTEST_SKIP() << "stand-in only";
  const int other = driver_->get<int(const char*, int)>("plait_sim_add_devices")("sm_80", 1);
  ASSERT_GE(other, 0);
  CudaOptions options = options_;
  options.ordinals = {options_.ordinals[0], other};
  EXPECT_THROW(make_cuda_device(options), UserError);
  options.ordinals = {other};
  EXPECT_EQ(make_cuda_device(options)->target().architecture, "sm_80");
  options.ordinals = {};
  const auto alike = make_cuda_device(options);
  const CudaFacts facts = cuda_facts(options_);
  EXPECT_EQ(alike->target().architecture, facts.devices[0].architecture);
  EXPECT_LT(alike->count(), int(facts.devices.size()));
}

}  // namespace
}  // namespace plait
