// What shares a kernel with scatters on CPUs, and what does not, with the reason.
#include <gtest/gtest.h>

#include "segment/segment.h"

namespace plait {
namespace {

// Per segment, its ops but constants; then the end of what the explanation says of edges.
std::string groups(const std::string& body, const std::string& outputs = "%y", const char* pin = nullptr,
                   bool cuda = false) {
  const auto fusion =
      parse_fusion(fmt::format("fusion @f (%x: f32[90, 8], %b: f32[90], %i: i64[50], %k: i64[50], %s: f32[50, 8], %w: "
                               "f32[50]) -> ({}) {{\n{}}}\n",
                               outputs, body));
  SegmentOptions options;
  std::string reasons, out;
  options.explain = &reasons;
  if (cuda) options.target = target_named("sm_90a");
  if (pin != nullptr) options.pins["z"] = parse_schedule(pin);
  segment(*fusion, options);
  for (const Segment& s : fusion->segments) {
    std::string ops;
    for (const Op* op : s.ops)
      if (op->kind != OpKind::Full) ops += (ops.empty() ? "" : " ") + op->results[0]->name;
    out += fmt::format("{}: {}\n", plait::name(s.schedule), ops);
  }
  for (size_t at = 0, end; (end = reasons.find('\n', at)) != std::string::npos; at = end + 1)
    if (const std::string line = reasons.substr(at, end - at); line.find(" is apart ") != std::string::npos)
      out += line.substr(line.rfind(": ") + 2) + "\n";
  return out;
}

constexpr const char* kRows = "  %at = broadcast(%i, shape = [50, 8], dims = [0])\n  %t = mul(%s, 2.0)\n";

TEST(ScatterGroups, TakeProducersAndConsumers) {
  const std::string body = fmt::format(
      "{}  %z = scatter(full(shape = [90, 8], value = 0.0, dtype = f32), %at, %t, dim = 0, update = add)\n"
      "  %y = relu(%z)\n",
      kRows);
  EXPECT_EQ(groups(body), "scatter: at t z y\n");
  EXPECT_EQ(groups(body, "%y, %z"), "scatter: at t z y\n");
  EXPECT_EQ(groups(body, "%y", "nest()"), "pointwise: at t\npointwise: \nnest: z\npointwise: y\n");
  EXPECT_EQ(groups(body, "%y", nullptr, true), "scatter: at t z y\n");
}

TEST(ScatterGroups, LeaveWhatOthersRead) {
  const std::string z = fmt::format("{}  %z = scatter(%x, %at, %t, dim = 0, update = add)\n", kRows);
  EXPECT_EQ(groups(z + "  %y = relu(%z)\n", "%y, %t"),
            "pointwise: t\nscatter: at z y\n%t is in memory, and made before the scatter\n");
  EXPECT_EQ(groups(z + "  %y = permute(%z, dims = [1, 0])\n"),
            "scatter: at t z\npointwise: y\nf32[8, 90] has other dims than the scatter\n");
  EXPECT_EQ(groups(z + "  %y = broadcast(%z, shape = [3, 90, 8], dims = [1, 2])\n"),
            "scatter: at t z\npointwise: y\nf32[3, 90, 8] has other dims than the scatter\n");
}

TEST(ScatterGroups, ShareOneIndex) {
  const std::string body = fmt::format(
      "{}  %z = scatter(%x, %at, %t, dim = 0, update = add)\n"
      "  %n = scatter(%b, {{}}, %w, dim = 0, update = max)\n"
      "  %y = sub(%z, unsqueeze(%n, dims = [1]))\n",
      kRows);
  const auto with = [&](const char* index) { return fmt::format(fmt::runtime(body), index); };
  EXPECT_EQ(groups(with("%i")), "scatter: at t z n y_unsqueeze y\n");
  EXPECT_EQ(groups(with("%i"), "%z, %n, %y"), "scatter: at t z n y_unsqueeze y\n");
  EXPECT_EQ(groups(with("%k")),
            "scatter: n\nscatter: at t z y_unsqueeze y\n%n = scatter(%b, %k, %w) have no index in common\n");
  // Views of it are read through.
  const std::string of_rows =
      "  %u = unsqueeze(%i, dims = [1])\n"
      "  %z = scatter(%x, broadcast(%u, shape = [50, 8], dims = [0, 1]), %s, dim = 0, update = add)\n";
  EXPECT_EQ(groups(of_rows + "  %n = scatter(%b, %i, %w, dim = 0, update = max)\n"
                             "  %y = sub(%z, unsqueeze(%n, dims = [1]))\n"),
            "scatter: u z_broadcast z n y_unsqueeze y\n");
  EXPECT_EQ(
      groups(of_rows + "  %n = scatter(%x, broadcast(%u, shape = [50, 8], dims = [0, 1]), %s, dim = 0, update = max)\n"
                       "  %y = sub(%z, %n)\n"),
      "scatter: u z_broadcast z n_broadcast n y\n");
  EXPECT_EQ(groups(of_rows + "  %y = relu(%z)\n", "%y, %u"), "alias: u\nscatter: z_broadcast z y\n");
  // The second waits for the first.
  EXPECT_EQ(groups("  %z = scatter(%b, %i, %w, dim = 0)\n  %y = scatter(%z, %i, %w, dim = 0, update = add)\n"),
            "scatter: z\nscatter: y\n%y = scatter(%z, %i, %w) reads %z, which waits for another scatter\n");
}

}  // namespace
}  // namespace plait
