// The one description of collectives, and what is derived from it.
#include "mesh/collective.h"

#include <gtest/gtest.h>

#include <string>

#include "mesh/collective_cost.h"

namespace plait {
namespace {

TEST(Collective, SaysWhatMoves) {
  EXPECT_EQ(std::size(kCollectives), 6u);
  const CollectiveInfo reduce = info(Collective::all_reduce), gather = info(Collective::all_gather),
                       scatter = info(Collective::reduce_scatter);
  EXPECT_TRUE(reduce.reduces && scatter.reduces && !gather.reduces);
  EXPECT_TRUE(!reduce.has_pieces() && gather.has_pieces() && scatter.has_pieces());
  EXPECT_EQ(gather.takes, Held::piece);
  EXPECT_EQ(gather.gives, Held::whole);
  EXPECT_EQ(scatter.gives, Held::piece);
  EXPECT_EQ(name(Collective::reduce_scatter), "reduce_scatter");
}

// An all-reduce is a reduce-scatter and an all-gather.
TEST(Collective, LeastBytesOnTheWire) {
  EXPECT_EQ(least_wire_bytes(Collective::all_gather, 4, 100), 300);
  EXPECT_EQ(least_wire_bytes(Collective::all_reduce, 4, 100),
            least_wire_bytes(Collective::reduce_scatter, 4, 100) + least_wire_bytes(Collective::all_gather, 4, 100));
  EXPECT_EQ(least_wire_bytes(Collective::all_to_all, 4, 100), 75);
  EXPECT_EQ(least_wire_bytes(Collective::gather_block, 4, 100), 75);
  for (Collective collective : kCollectives) EXPECT_EQ(least_wire_bytes(collective, 1, 100), 0) << name(collective);
}

// What each member takes: two halves of it for an all-reduce, a share of a share for an all-to-all.
TEST(Collective, CostsLatencyAndWhatAMemberTakes) {
  const double bytes = 1 << 20;
  EXPECT_EQ(collective_cost(Collective::all_gather, 4, bytes), 16384 + bytes * 3 / 4);
  EXPECT_EQ(collective_cost(Collective::all_reduce, 4, bytes), 16384 + bytes * 3 / 2);
  EXPECT_EQ(collective_cost(Collective::all_to_all, 4, bytes), 16384 + bytes * 3 / 16);
  EXPECT_EQ(collective_cost(Collective::reduce_scatter, 4, 8), 16384 + 1024);
  for (Collective collective : kCollectives) EXPECT_EQ(collective_cost(collective, 1, bytes), 0) << name(collective);
}

// A team is as slow as its slowest axis, in nanoseconds where the mesh says what links do.
TEST(Collective, CostsWhatTheSlowestLinkDoes) {
  const Mesh mesh("m", {{"dp", 2, "", 50, 12}, {"tp", 4, "", 500, 3}});
  const std::vector<LinkCost> links = {link_cost(mesh, 0), link_cost(mesh, 1)};
  EXPECT_EQ(links[0], (LinkCost{12000, 0.02}));
  EXPECT_EQ(links[1], (LinkCost{3000, 0.002}));
  EXPECT_EQ(slowest(links, {1}), links[1]);
  EXPECT_EQ(slowest(links, {1, 0}), links[0]);
  EXPECT_EQ(slowest({}, {1, 0}), LinkCost());
  EXPECT_EQ(link_cost(Mesh("m", {{"tp", 4, ""}}), 0), LinkCost());
  EXPECT_EQ(collective_cost(Collective::all_gather, 4, 1 << 20, links[1]), 3000 + 0.002 * (1 << 20) * 3 / 4);
  EXPECT_EQ(cost_text(mesh, 4200), "4200 ns");
  EXPECT_EQ(cost_text(Mesh("m", {{"tp", 4, ""}}), 4200), "4200 B");
}

}  // namespace
}  // namespace plait
