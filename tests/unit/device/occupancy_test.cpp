// How many blocks a multiprocessor holds: numbers of NVIDIA's occupancy calculator.
#include "device/occupancy.h"

#include <gtest/gtest.h>

namespace plait {
namespace {

struct Row {
  const char* architecture;
  BlockNeeds block;
  int blocks;
  const char* limit;
  double share;
};

TEST(Occupancy, WhatLimitsIt) {
  const Row rows[] = {
      {"sm_80", {256, 32, 0}, 8, "threads", 1},
      {"sm_80", {256, 0, 0}, 8, "threads", 1},
      {"sm_80", {32, 16, 0}, 32, "blocks", 0.5},
      {"sm_80", {1, 16, 0}, 32, "blocks", 0.5},
      {"sm_80", {256, 40, 0}, 6, "registers", 0.75},
      {"sm_80", {256, 64, 0}, 4, "registers", 0.5},
      {"sm_80", {256, 255, 0}, 1, "registers", 0.125},
      {"sm_80", {512, 128, 0}, 1, "registers", 0.25},
      {"sm_80", {1024, 65, 0}, 0, "registers", 0},
      {"sm_80", {256, 32, 48 << 10}, 3, "shared memory", 0.375},
      {"sm_90a", {256, 32, 48 << 10}, 4, "shared memory", 0.5},
      {"sm_90a", {1024, 64, 227 << 10}, 1, "registers", 0.5},
      {"sm_86", {256, 32, 0}, 6, "threads", 1},
      {"sm_89", {64, 32, 0}, 24, "blocks", 1},
      {"sm_100a", {128, 48, 0}, 10, "registers", 0.625},
  };
  for (const Row& row : rows) {
    const Occupancy got = occupancy(target_named(row.architecture), row.block);
    SCOPED_TRACE(testing::Message() << row.architecture << ", " << row.block.threads << " threads of "
                                    << row.block.registers << " registers, " << row.block.shared_bytes << " B");
    EXPECT_EQ(got.blocks, row.blocks);
    EXPECT_EQ(got.limit, row.limit);
    EXPECT_DOUBLE_EQ(got.share, row.share);
  }
}

}  // namespace
}  // namespace plait
