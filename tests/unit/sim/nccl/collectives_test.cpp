// Results of every collective, for one to four ranks of one process.
#include <barrier>
#include <cmath>

#include "unit/sim/nccl/library.h"

namespace plait::test {
namespace {

NcclWorld& world() {
  static NcclWorld world(PLAIT_BINARY_DIR, 4);
  return world;
}

double value(int rank, size_t i) { return double((rank * 5 + int(i) * 3) % 7) - (rank % 2); }
std::vector<double> values(int rank, size_t count, size_t first = 0) {
  std::vector<double> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = std::abs(value(rank, first + i));
  return all;
}

double reduced(ncclRedOp_t op, int ranks, size_t i) {
  double result = values(0, 1, i)[0];
  for (int r = 1; r < ranks; ++r) {
    const double next = values(r, 1, i)[0];
    if (op == ncclSum || op == ncclAvg) result += next;
    if (op == ncclProd) result *= next;
    if (op == ncclMax) result = std::max(result, next);
    if (op == ncclMin) result = std::min(result, next);
  }
  return op == ncclAvg ? result / ranks : result;
}

// Buffers of one call on one rank.
struct Buffers {
  void *in = nullptr, *out = nullptr;
};

class NcclCollectives : public ::testing::TestWithParam<int> {
 protected:
  NcclCollectives() : ranks(GetParam()), team(world(), ranks), nccl(world().nccl), buffers(size_t(ranks)) {
    world().machine.findings();
  }
  ~NcclCollectives() override { EXPECT_EQ(world().machine.findings(), ""); }

  // Runs a call for every rank: in one group of this thread, and with a thread for each rank.
  void run(const std::function<void()>& prepare, const std::function<ncclResult_t(Rank&, Buffers&)>& call,
           const std::function<void(Rank&, Buffers&)>& check) {
    for (bool threads : {false, true}) {
      prepare();
      if (threads) {
        std::vector<std::thread> all;
        for (Rank& rank : team.ranks) {
          all.emplace_back([&] {
            world().machine.use(rank.device);
            EXPECT_EQ(call(rank, buffers[rank.rank]), ncclSuccess);
            EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
          });
        }
        for (std::thread& thread : all) thread.join();
      } else {
        team.grouped([&](Rank& rank) { return call(rank, buffers[rank.rank]); });
        team.synchronize();
      }
      for (Rank& rank : team.ranks) check(rank, buffers[rank.rank]);
    }
  }
  void make(ncclDataType_t type, size_t in, size_t out) {
    for (Rank& rank : team.ranks) {
      buffers[rank.rank] = {rank.put(type, values(rank.rank, in)), rank.room(out * bytes_of(type))};
    }
  }

  int ranks;
  Team team;
  const Nccl& nccl;
  std::vector<Buffers> buffers;
};

TEST_P(NcclCollectives, AllReduceOfEveryTypeAndOperation) {
  for (int type = 0; type < ncclNumTypes; ++type) {
    if (type == ncclFloat8e4m3 || type == ncclFloat8e5m2) continue;
    for (int op = 0; op < ncclNumOps; ++op) {
      const auto t = static_cast<ncclDataType_t>(type);
      const auto o = static_cast<ncclRedOp_t>(op);
      constexpr size_t kCount = 1037;  // more than one block of the reduction
      run([&] { make(t, kCount, kCount); },
          [&](Rank& rank, Buffers& at) {
            return nccl.ncclAllReduce(at.in, at.out, kCount, t, o, rank.comm, rank.native());
          },
          [&](Rank& rank, Buffers& at) {
            const auto got = rank.read(t, at.out, kCount);
            for (size_t i = 0; i < kCount; ++i) {
              double expected = reduced(o, ranks, i);
              const bool integer = t < ncclFloat16;
              if (integer) expected = std::trunc(expected);
              if (o == ncclAvg && !integer) {
                ASSERT_NEAR(got[i], expected, expected * (t == ncclBfloat16 ? 0x1p-7 : 0x1p-10)) << type << " " << i;
              } else {
                ASSERT_EQ(got[i], expected) << type << " " << op << " " << i;
              }
            }
          });
    }
  }
}

TEST_P(NcclCollectives, AllReduceInPlace) {
  run([&] { make(ncclFloat32, 10, 1); },
      [&](Rank& rank, Buffers& at) {
        return nccl.ncclAllReduce(at.in, at.in, 10, ncclFloat32, ncclSum, rank.comm, rank.native());
      },
      [&](Rank& rank, Buffers& at) {
        const auto got = rank.read(ncclFloat32, at.in, 10);
        for (size_t i = 0; i < 10; ++i) EXPECT_EQ(got[i], reduced(ncclSum, ranks, i));
      });
}

TEST_P(NcclCollectives, ReduceToEveryRoot) {
  for (int root = 0; root < ranks; ++root) {
    run([&] { make(ncclBfloat16, 9, 9); },
        [&](Rank& rank, Buffers& at) {
          void* out = rank.rank == root ? at.out : nullptr;
          return nccl.ncclReduce(at.in, out, 9, ncclBfloat16, ncclMax, root, rank.comm, rank.native());
        },
        [&](Rank& rank, Buffers& at) {
          if (rank.rank != root) return;
          const auto got = rank.read(ncclBfloat16, at.out, 9);
          for (size_t i = 0; i < 9; ++i) EXPECT_EQ(got[i], reduced(ncclMax, ranks, i));
        });
  }
}

TEST_P(NcclCollectives, BroadcastFromEveryRoot) {
  for (int root = 0; root < ranks; ++root) {
    for (bool in_place : {false, true}) {
      run([&] { make(ncclInt64, 6, 6); },
          [&](Rank& rank, Buffers& at) {
            if (in_place) return nccl.ncclBcast(at.in, 6, ncclInt64, root, rank.comm, rank.native());
            void* in = rank.rank == root ? at.in : nullptr;
            return nccl.ncclBroadcast(in, at.out, 6, ncclInt64, root, rank.comm, rank.native());
          },
          [&](Rank& rank, Buffers& at) {
            EXPECT_EQ(rank.read(ncclInt64, in_place ? at.in : at.out, 6), values(root, 6));
          });
    }
  }
}

TEST_P(NcclCollectives, AllGatherAndInPlace) {
  for (bool in_place : {false, true}) {
    run(
        [&] {
          make(ncclFloat16, 5, 5 * size_t(ranks));
          for (Rank& rank : team.ranks) {
            if (!in_place) continue;
            Buffers& at = buffers[rank.rank];
            at.in = static_cast<std::byte*>(at.out) + size_t(rank.rank) * 5 * 2;
            world().machine.use(rank.device);
            world().machine.write(reinterpret_cast<CUdeviceptr>(at.in), encode(ncclFloat16, values(rank.rank, 5)));
          }
        },
        [&](Rank& rank, Buffers& at) {
          return nccl.ncclAllGather(at.in, at.out, 5, ncclFloat16, rank.comm, rank.native());
        },
        [&](Rank& rank, Buffers& at) {
          std::vector<double> expected;
          for (int r = 0; r < ranks; ++r) {
            for (double each : values(r, 5)) expected.push_back(each);
          }
          EXPECT_EQ(rank.read(ncclFloat16, at.out, expected.size()), expected);
        });
  }
}

TEST_P(NcclCollectives, ReduceScatterAndInPlace) {
  for (bool in_place : {false, true}) {
    run([&] { make(ncclFloat32, 4 * size_t(ranks), 4); },
        [&](Rank& rank, Buffers& at) {
          if (in_place) at.out = static_cast<float*>(at.in) + 4 * rank.rank;
          return nccl.ncclReduceScatter(at.in, at.out, 4, ncclFloat32, ncclSum, rank.comm, rank.native());
        },
        [&](Rank& rank, Buffers& at) {
          const auto got = rank.read(ncclFloat32, at.out, 4);
          for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], reduced(ncclSum, ranks, 4 * size_t(rank.rank) + i));
        });
  }
}

TEST_P(NcclCollectives, AllToAllGatherAndScatter) {
  const size_t all = 3 * size_t(ranks);
  run([&] { make(ncclUint8, all, all); },
      [&](Rank& rank, Buffers& at) { return nccl.ncclAlltoAll(at.in, at.out, 3, ncclUint8, rank.comm, rank.native()); },
      [&](Rank& rank, Buffers& at) {
        const auto got = rank.read(ncclUint8, at.out, all);
        for (size_t i = 0; i < all; ++i) EXPECT_EQ(got[i], values(int(i / 3), 1, 3 * size_t(rank.rank) + i % 3)[0]);
      });
  const int root = ranks - 1;
  run([&] { make(ncclUint8, 3, all); },
      [&](Rank& rank, Buffers& at) {
        return nccl.ncclGather(at.in, at.out, 3, ncclUint8, root, rank.comm, rank.native());
      },
      [&](Rank& rank, Buffers& at) {
        if (rank.rank != root) return;
        const auto got = rank.read(ncclUint8, at.out, all);
        for (size_t i = 0; i < all; ++i) EXPECT_EQ(got[i], values(int(i / 3), 1, i % 3)[0]);
      });
  run([&] { make(ncclUint8, all, 3); },
      [&](Rank& rank, Buffers& at) {
        return nccl.ncclScatter(at.in, at.out, 3, ncclUint8, root, rank.comm, rank.native());
      },
      [&](Rank& rank, Buffers& at) {
        EXPECT_EQ(rank.read(ncclUint8, at.out, 3), values(root, 3, 3 * size_t(rank.rank)));
      });
}

TEST_P(NcclCollectives, RingOfSendsAndReceives) {
  run([&] { make(ncclFloat32, 8, 8); },
      [&](Rank& rank, Buffers& at) {
        EXPECT_EQ(nccl.ncclGroupStart(), ncclSuccess);
        EXPECT_EQ(nccl.ncclSend(at.in, 8, ncclFloat32, (rank.rank + 1) % ranks, rank.comm, rank.native()), ncclSuccess);
        EXPECT_EQ(nccl.ncclRecv(at.out, 8, ncclFloat32, (rank.rank + ranks - 1) % ranks, rank.comm, rank.native()),
                  ncclSuccess);
        return nccl.ncclGroupEnd();
      },
      [&](Rank& rank, Buffers& at) {
        EXPECT_EQ(rank.read(ncclFloat32, at.out, 8), values((rank.rank + ranks - 1) % ranks, 8));
      });
}

// Pieces of different sizes, some empty: an all-gather as broadcasts, a reduce-scatter as reduces.
TEST_P(NcclCollectives, UnevenPiecesAsGroups) {
  const std::vector<size_t> counts = {5, 0, 3, 1};
  std::vector<size_t> first = {0};
  for (int r = 0; r < ranks; ++r) first.push_back(first.back() + counts[r]);
  const size_t total = first[ranks];
  run(
      [&] {
        for (Rank& rank : team.ranks) {
          buffers[rank.rank] = {rank.put(ncclFloat32, values(rank.rank, counts[rank.rank])), rank.room(total * 4)};
        }
      },
      [&](Rank& rank, Buffers& at) {
        EXPECT_EQ(nccl.ncclGroupStart(), ncclSuccess);
        for (int root = 0; root < ranks; ++root) {
          EXPECT_EQ(nccl.ncclBroadcast(at.in, static_cast<float*>(at.out) + first[root], counts[root], ncclFloat32,
                                       root, rank.comm, rank.native()),
                    ncclSuccess);
        }
        return nccl.ncclGroupEnd();
      },
      [&](Rank& rank, Buffers& at) {
        const auto got = rank.read(ncclFloat32, at.out, total);
        for (int root = 0; root < ranks; ++root) {
          for (size_t i = 0; i < counts[root]; ++i) EXPECT_EQ(got[first[root] + i], values(root, 1, i)[0]);
        }
      });
  run(
      [&] {
        for (Rank& rank : team.ranks) {
          buffers[rank.rank] = {rank.put(ncclFloat32, values(rank.rank, total)), rank.room(counts[rank.rank] * 4)};
        }
      },
      [&](Rank& rank, Buffers& at) {
        EXPECT_EQ(nccl.ncclGroupStart(), ncclSuccess);
        for (int root = 0; root < ranks; ++root) {
          EXPECT_EQ(nccl.ncclReduce(static_cast<float*>(at.in) + first[root], at.out, counts[root], ncclFloat32,
                                    ncclSum, root, rank.comm, rank.native()),
                    ncclSuccess);
        }
        return nccl.ncclGroupEnd();
      },
      [&](Rank& rank, Buffers& at) {
        const auto got = rank.read(ncclFloat32, at.out, counts[rank.rank]);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], reduced(ncclSum, ranks, first[rank.rank] + i));
      });
}

TEST_P(NcclCollectives, ScaledSums) {
  std::vector<ncclRedOp_t> ops(size_t(ranks), ncclSum);
  for (Rank& rank : team.ranks) {
    float factor = float(rank.rank) + 0.5f;
    if (rank.rank % 2 == 0) {
      ASSERT_EQ(
          nccl.ncclRedOpCreatePreMulSum(&ops[rank.rank], &factor, ncclFloat32, ncclScalarHostImmediate, rank.comm),
          ncclSuccess);
    } else {
      void* scalar = rank.put(ncclFloat32, {factor});
      ASSERT_EQ(nccl.ncclRedOpCreatePreMulSum(&ops[rank.rank], scalar, ncclFloat32, ncclScalarDevice, rank.comm),
                ncclSuccess);
    }
  }
  run([&] { make(ncclFloat32, 7, 7); },
      [&](Rank& rank, Buffers& at) {
        return nccl.ncclAllReduce(at.in, at.out, 7, ncclFloat32, ops[rank.rank], rank.comm, rank.native());
      },
      [&](Rank& rank, Buffers& at) {
        const auto got = rank.read(ncclFloat32, at.out, 7);
        for (size_t i = 0; i < 7; ++i) {
          double expected = 0;
          for (int r = 0; r < ranks; ++r) expected += (r + 0.5) * values(r, 1, i)[0];
          EXPECT_EQ(got[i], expected);
        }
      });
  for (Rank& rank : team.ranks) EXPECT_EQ(nccl.ncclRedOpDestroy(ops[rank.rank], rank.comm), ncclSuccess);
}

// Every seed of the interleaving gives the same; more calls than a member keeps records of.
TEST_P(NcclCollectives, ManyCallsUnderManySeeds) {
  for (uint64_t seed : {0, 1, 2}) {
    world().machine.driver.plait_sim_set_seed(seed);
    make(ncclFloat32, 4, 4);
    for (int i = 0; i < 400; ++i) {
      team.grouped([&](Rank& rank) {
        Buffers& at = buffers[rank.rank];
        return nccl.ncclAllReduce(at.in, at.out, 4, ncclFloat32, ncclSum, rank.comm, rank.native());
      });
    }
    team.synchronize();
    for (Rank& rank : team.ranks) {
      EXPECT_EQ(rank.read(ncclFloat32, buffers[rank.rank].out, 1)[0], reduced(ncclSum, ranks, 0));
    }
  }
  world().machine.driver.plait_sim_set_seed(0);
}

TEST_P(NcclCollectives, CapturedCallsRunAtEveryLaunch) {
  const Driver& driver = world().machine.driver;
  make(ncclFloat32, 4, 4);
  std::vector<CUgraphExec> graphs(static_cast<size_t>(ranks));
  for (Rank& rank : team.ranks) {
    world().machine.use(rank.device);
    ASSERT_EQ(driver.cuStreamBeginCapture(rank.stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  }
  team.grouped([&](Rank& rank) {
    Buffers& at = buffers[rank.rank];
    return nccl.ncclAllReduce(at.in, at.out, 4, ncclFloat32, ncclSum, rank.comm, rank.native());
  });
  team.grouped([&](Rank& rank) {
    Buffers& at = buffers[rank.rank];
    return nccl.ncclAllReduce(at.out, at.in, 4, ncclFloat32, ncclMax, rank.comm, rank.native());
  });
  for (Rank& rank : team.ranks) {
    world().machine.use(rank.device);
    CUgraph graph = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    ASSERT_EQ(driver.cuStreamEndCapture(rank.stream, &graph), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuGraphInstantiateWithParams(&graphs[rank.rank], graph, &params), CUDA_SUCCESS);
    driver.cuGraphDestroy(graph);
  }
  for (int launch = 0; launch < 3; ++launch) {
    for (Rank& rank : team.ranks) {
      world().machine.use(rank.device);
      ASSERT_EQ(driver.cuGraphLaunch(graphs[rank.rank], rank.stream), CUDA_SUCCESS);
    }
    team.synchronize();
  }
  for (Rank& rank : team.ranks) {
    const double once = reduced(ncclSum, ranks, 2);
    EXPECT_EQ(rank.read(ncclFloat32, buffers[rank.rank].in, 4)[2], once * ranks * ranks);
    driver.cuGraphExecDestroy(graphs[rank.rank]);
  }
}

TEST_P(NcclCollectives, SplitByColorOrderedByKey) {
  std::vector<ncclComm_t> children(static_cast<size_t>(ranks));
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (Rank& rank : team.ranks) {
    const int color = rank.rank == 0 && ranks == 4 ? NCCL_SPLIT_NOCOLOR : rank.rank % 2;
    EXPECT_EQ(nccl.ncclCommSplit(rank.comm, color, -rank.rank, &children[rank.rank], nullptr), ncclSuccess);
  }
  ASSERT_EQ(nccl.ncclGroupEnd(), ncclSuccess);
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  make(ncclInt32, 1, 1);
  for (Rank& rank : team.ranks) {
    if (children[rank.rank] == nullptr) continue;
    EXPECT_EQ(nccl.ncclAllReduce(buffers[rank.rank].in, buffers[rank.rank].out, 1, ncclInt32, ncclSum,
                                 children[rank.rank], rank.native()),
              ncclSuccess);
  }
  ASSERT_EQ(nccl.ncclGroupEnd(), ncclSuccess);
  team.synchronize();
  for (Rank& rank : team.ranks) {
    if (children[rank.rank] == nullptr) continue;
    double expected = 0;
    int members = 0, position = 0;
    for (int r = rank.rank % 2; r < ranks; r += 2) {
      if (r == 0 && ranks == 4) continue;
      expected += values(r, 1)[0];
      ++members;
      position += r > rank.rank;
    }
    EXPECT_EQ(rank.read(ncclInt32, buffers[rank.rank].out, 1)[0], expected);
    int count = 0, own = 0;
    ASSERT_EQ(nccl.ncclCommCount(children[rank.rank], &count), ncclSuccess);
    ASSERT_EQ(nccl.ncclCommUserRank(children[rank.rank], &own), ncclSuccess);
    EXPECT_EQ(count, members);
    EXPECT_EQ(own, position);
    EXPECT_EQ(nccl.ncclCommDestroy(children[rank.rank]), ncclSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, NcclCollectives, ::testing::Values(1, 2, 3, 4), ::testing::PrintToStringParamName());

// Narrow types add in f32 in the order of ranks and round once: 1 + 2^-9 + 2^-9 in bf16 is 1 + 2^-8.
TEST(NcclNumbers, NarrowSumsRoundOnce) {
  Team team(world(), 3);
  const double tiny = 0x1p-8;
  std::vector<void*> out(3);
  team.grouped([&](Rank& rank) {
    void* in = rank.put(ncclBfloat16, {rank.rank == 0 ? 1.0 : tiny / 2});
    out[rank.rank] = rank.room(2);
    return team.nccl.ncclAllReduce(in, out[rank.rank], 1, ncclBfloat16, ncclSum, rank.comm, rank.native());
  });
  team.synchronize();
  for (Rank& rank : team.ranks) EXPECT_EQ(rank.read(ncclBfloat16, out[rank.rank], 1)[0], 1.0);  // ties to even
  team.grouped([&](Rank& rank) {
    void* in = rank.put(ncclBfloat16, {rank.rank == 0 ? 1.0 : tiny});
    return team.nccl.ncclAllReduce(in, out[rank.rank], 1, ncclBfloat16, ncclSum, rank.comm, rank.native());
  });
  team.synchronize();
  for (Rank& rank : team.ranks) EXPECT_EQ(rank.read(ncclBfloat16, out[rank.rank], 1)[0], 1.0 + 2 * tiny);
}

TEST(NcclNumbers, IntegersWrapAndAveragesTruncate) {
  Team team(world(), 2);
  std::vector<void*> out(2);
  auto reduce = [&](double first, double second, ncclRedOp_t op) {
    team.grouped([&](Rank& rank) {
      void* in = rank.put(ncclInt8, {rank.rank == 0 ? first : second});
      out[rank.rank] = rank.room(1);
      return team.nccl.ncclAllReduce(in, out[rank.rank], 1, ncclInt8, op, rank.comm, rank.native());
    });
    team.synchronize();
    return team.ranks[1].read(ncclInt8, out[1], 1)[0];
  };
  EXPECT_EQ(reduce(100, 100, ncclSum), -56);
  EXPECT_EQ(reduce(-3, 0, ncclAvg), -1);
  EXPECT_EQ(reduce(-3, 5, ncclMin), -3);
}

TEST(NcclNumbers, MaximumGivesTheNumber) {
  Team team(world(), 2);
  std::vector<void*> out(2);
  team.grouped([&](Rank& rank) {
    void* in = rank.put(ncclFloat32, {rank.rank == 0 ? std::nan("") : 2.0});
    out[rank.rank] = rank.room(4);
    return team.nccl.ncclAllReduce(in, out[rank.rank], 1, ncclFloat32, ncclMax, rank.comm, rank.native());
  });
  team.synchronize();
  EXPECT_EQ(team.ranks[0].read(ncclFloat32, out[0], 1)[0], 2.0);
}

}  // namespace
}  // namespace plait::test
