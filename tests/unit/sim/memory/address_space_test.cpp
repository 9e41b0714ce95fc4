// Allocations, look-up, descriptions, frees, host memory, reuse of addresses.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sim/memory/address_space.h"

namespace plait::sim {
namespace {

template <class Fn>
Fault fault_of(Fn fn) {
  try {
    fn();
  } catch (const Fault& fault) {
    return fault;
  }
  return {0, "no fault"};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
#define EXPECT_TEXT(text, part) EXPECT_TRUE(contains(text, part)) << (text)

class AddressSpaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    space.add_device(0, 1 << 20);
    space.add_device(3, 1 << 16);
  }
  Actor host(const std::string& name) {
    const Actor out = space.trace().begin({name, 0, ++sequence_, "host"}, Clock{});
    return out;
  }
  AddressSpace space;
  uint64_t sequence_ = 0;
};

TEST_F(AddressSpaceTest, AllocatesApartAndAligned) {
  std::vector<std::pair<uint64_t, size_t>> all;
  for (size_t bytes : {1, 3, 511, 512, 513, 5000}) {
    const uint64_t address = space.allocate(0, bytes);
    ASSERT_NE(address, 0u);
    EXPECT_EQ(address % AddressSpace::kAlignment, 0u);
    for (const auto& [other, size] : all)
      EXPECT_GE(address > other ? address - other - size : other - address - bytes, 4096u);
    all.emplace_back(address, bytes);
    EXPECT_TRUE(space.is_device_address(address));
  }
  EXPECT_EQ(space.live_count(), 6u);
  EXPECT_EQ(space.used(0), 512u * 5 + 512 + 5120 - 512 + 512);
  EXPECT_EQ(space.used(3), 0u);
  EXPECT_EQ(space.allocate(0, 0), 0u);
}

TEST_F(AddressSpaceTest, CapacityEndsAndComesBack) {
  EXPECT_EQ(space.allocate(3, (1 << 16) + 1), 0u);
  const uint64_t all = space.allocate(3, 1 << 16);
  EXPECT_NE(all, 0u);
  EXPECT_EQ(space.allocate(3, 1), 0u);
  space.release(all, host("free"));
  EXPECT_NE(space.allocate(3, 1 << 16), 0u);
  EXPECT_EQ(space.capacity(3), size_t(1 << 16));
}

TEST_F(AddressSpaceTest, FindsByAddress) {
  const uint64_t a = space.allocate(0, 100), b = space.allocate(0, 100);
  ASSERT_NE(space.find(a + 99), nullptr);
  EXPECT_EQ(space.find(a + 99)->number, 1u);
  EXPECT_EQ(space.find(a + 100), nullptr);
  EXPECT_EQ(space.find(a - 1), nullptr);
  EXPECT_EQ(space.find(b)->number, 2u);
  EXPECT_NE(space.host_address(b, 100), nullptr);
  EXPECT_EQ(space.host_address(b, 101), nullptr);
  EXPECT_EQ(space.host_address(b + 1, 100), nullptr);
  EXPECT_EQ(space.host_address(b, ~size_t(0)), nullptr);
  EXPECT_EQ(static_cast<uint8_t*>(space.host_address(b + 7, 1)), static_cast<uint8_t*>(space.host_address(b, 1)) + 7);
  EXPECT_FALSE(space.is_device_address(reinterpret_cast<uint64_t>(&space)));
}

TEST_F(AddressSpaceTest, Describes) {
  const uint64_t a = space.allocate(0, 4096, kBeforeAll, "cuMemAllocAsync");
  EXPECT_EQ(space.describe(a + 128), "allocation 1 + 128 of 4096 bytes (cuMemAllocAsync, device 0)");
  EXPECT_EQ(space.describe(a + 4096), "allocation 1 + 4096 of 4096 bytes (cuMemAllocAsync, device 0)");
  EXPECT_EQ(space.describe(a - 4), "allocation 1 - 4 of 4096 bytes (cuMemAllocAsync, device 0)");
  EXPECT_TEXT(space.describe(16), "no device memory");
}

TEST_F(AddressSpaceTest, FreesOnceAndWhole) {
  const uint64_t a = space.allocate(0, 100);
  EXPECT_TEXT(fault_of([&] { space.release(a + 4, host("cuMemFree")); }).text, "where no allocation starts");
  EXPECT_TEXT(fault_of([&] { space.release(0, host("cuMemFree")); }).text, "where no allocation starts");
  space.release(a, host("cuMemFree"));
  const Fault twice = fault_of([&] { space.release(a, host("cuMemFreeAsync")); });
  EXPECT_EQ(twice.code, kInvalidValue);
  EXPECT_TEXT(twice.text, "`cuMemFreeAsync` (operation 4 on stream host) frees allocation 1 + 0 of 100 bytes");
  EXPECT_TEXT(twice.text, "which `cuMemFree` (operation 3 on stream host) has freed");
  EXPECT_EQ(space.live_count(), 0u);
  EXPECT_EQ(space.find_live(a), nullptr);
  EXPECT_NE(space.find(a), nullptr);
}

TEST_F(AddressSpaceTest, LeaksAreListed) {
  const uint64_t a = space.allocate(0, 100, kBeforeAll, "weights"), b = space.allocate(3, 200),
                 c = space.allocate(0, 300);
  space.release(b, host("free"));
  const auto live = space.live_allocations();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0]->address, a);
  EXPECT_EQ(live[0]->label, "weights");
  EXPECT_EQ(live[1]->address, c);
}

TEST_F(AddressSpaceTest, HostMemoryIsRegisteredAtItsOwnAddress) {
  std::vector<uint8_t> memory(1000);
  const uint64_t address = reinterpret_cast<uint64_t>(memory.data());
  EXPECT_TRUE(space.read(host("k"), address, 4));
  space.register_host(memory.data(), 500);
  EXPECT_EQ(space.host_address(address + 10, 1), memory.data() + 10);
  EXPECT_FALSE(space.read(host("k"), address + 496, 4));  // counts as written
  EXPECT_TRUE(space.read(host("k"), address + 497, 4));
  EXPECT_EQ(fault_of([&] { space.register_host(memory.data() + 499, 10); }).code, kInvalidValue);
  EXPECT_EQ(fault_of([&] { space.register_host(nullptr, 10); }).code, kInvalidValue);
  const uint64_t device = space.allocate(0, 8);
  EXPECT_EQ(fault_of([&] { space.register_host(reinterpret_cast<void*>(device), 8); }).code, kInvalidValue);
  EXPECT_EQ(fault_of([&] { space.unregister_host(memory.data() + 1, host("u")); }).code, kInvalidValue);
  EXPECT_EQ(fault_of([&] { space.unregister_host(reinterpret_cast<void*>(device), host("u")); }).code, kInvalidValue);
  Actor last = host("u");
  last.before.raise(0, 100);
  space.unregister_host(memory.data(), last);
  EXPECT_EQ(space.find(address), nullptr);
}

TEST_F(AddressSpaceTest, PeersAreEnabledOneByOne) {
  const uint64_t there = space.allocate(3, 64);
  Actor actor = space.trace().begin({"k", 1, 1, ""}, Clock{}, 0);
  EXPECT_TEXT(space.write(actor, there, 4).text, "no peer access: device 0 writes 4 bytes");
  space.set_peer_access(0, 3, true);
  EXPECT_FALSE(space.write(actor, there, 4));
  EXPECT_TRUE(space.peer_access(0, 3));
  EXPECT_FALSE(space.peer_access(3, 0));
  EXPECT_TRUE(space.peer_access(3, 3));
  space.set_peer_access(0, 3, false);
  EXPECT_TRUE(space.write(actor, there, 4));
}

// Far more memory over time than addresses: places come again, never twice at once, the oldest first.
TEST(AddressReuse, WrapsAround) {
  AddressSpace space;
  space.add_device(0, size_t(40) << 20, size_t(64) << 20);
  std::mt19937_64 random(1);
  std::vector<std::pair<uint64_t, size_t>> live;
  uint64_t sequence = 0;
  const size_t unit = size_t(32) << 10;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 20) {
      const size_t which = random() % live.size();
      space.release(live[which].first, space.trace().begin({"free", 0, ++sequence, ""}, Clock{}));
      live.erase(live.begin() + static_cast<long>(which));
    }
    const size_t bytes = (1 + random() % 32) * unit;
    const uint64_t address = space.allocate(0, bytes);
    ASSERT_NE(address, 0u) << i;
    for (const auto& [other, size] : live)
      ASSERT_TRUE(address >= other + size + 4096 || other >= address + bytes + 4096);
    live.emplace_back(address, bytes);
  }
}

TEST(AddressReuseDeathTest, HostCodeCannotTouchDeviceMemory) {
  AddressSpace space;
  space.add_device(0, 1 << 20);
  const uint64_t address = space.allocate(0, 64);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(address) = 1, "");
}

}  // namespace
}  // namespace plait::sim
