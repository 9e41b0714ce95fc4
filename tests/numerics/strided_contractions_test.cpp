// Contractions of operands that are transposed, sliced, broadcast or permuted: the library reads them where they lie,
// and no kernel copies them. Judged against the reference evaluator.
#include <gtest/gtest.h>

#include <algorithm>

#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

struct Layout {
  std::string name, body;  // of a fusion with the inputs below
  int64_t kernels = 0;     // that copy an operand
  std::string text() const {
    return R"(
let b = 2, g = 2, r = 3, s = 5, t = 7, d = 8, T = f32
fusion @f (%q: T[b, s, g * r * d], %k: T[b, t, g * d], %x: T[s, 3 * d], %y: T[2 * d, 2 * t], %z: T[t, d], %u: T[1, d]) -> (%out) {
  %qh = reshape(%q, shape = [b, s, g * r, d])
  %kh = reshape(%k, shape = [b, t, g, d])
)" + body + "}\n";
  }
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"transposed",
       "%zt = permute(%z, dims = [1, 0])\n%xs = slice(%x, dim = 1, start = 0, stop = d)\n"
       "%out = matmul(%xs, %zt)\n"},
      {"sliced_columns", "%xs = slice(%x, dim = 1, start = d, stop = 2 * d)\n%out = linear(%xs, %z)\n"},
      {"sliced_rows_in_steps",
       "%ys = slice(%y, dim = 0, start = 1, step = 2)\n"
       "%yt = slice(%ys, dim = 1, start = 2, stop = 2 + t)\n"
       "%xs = slice(%x, dim = 1, start = 2 * d)\n%out = matmul(%xs, %yt)\n"},
      {"transposed_result_of_a_slice",
       "%xs = slice(%x, dim = 1, start = 0, stop = d)\n"
       "%xt = permute(%xs, dims = [1, 0])\n%zt = permute(%z, dims = [1, 0])\n"
       "%p = matmul(%z, %xt)\n%pt = permute(%p, dims = [1, 0])\n"
       "%out = matmul(%pt, %z)\n"},
      {"heads",
       "%qp = permute(%qh, dims = [0, 2, 1, 3])\n%qr = reshape(%qp, shape = [b, g, r, s, d])\n"
       "%kp = permute(%kh, dims = [0, 2, 3, 1])\n%ku = unsqueeze(%kp, dims = [2])\n%out = matmul(%qr, %ku)\n"},
      {"repeated_heads",
       "%qp = permute(%qh, dims = [0, 2, 1, 3])\n%kp = permute(%kh, dims = [0, 2, 1, 3])\n"
       "%ku = unsqueeze(%kp, dims = [2])\n%ke = expand(%ku, shape = [b, g, r, t, d])\n"
       "%kr = reshape(%ke, shape = [b, g * r, t, d])\n%kt = permute(%kr, dims = [0, 1, 3, 2])\n"
       "%out = matmul(%qp, %kt)\n"},
      {"one_matrix_for_all",
       "%zt = permute(%z, dims = [1, 0])\n%qp = permute(%qh, dims = [0, 2, 1, 3])\n"
       "%out = matmul(%qp, %zt)\n"},
      {"last_token",
       "%ql = slice(%qh, dim = 1, start = s - 1)\n%qp = permute(%ql, dims = [0, 2, 1, 3])\n"
       "%qr = reshape(%qp, shape = [b, g, r, 1, d])\n%kp = permute(%kh, dims = [0, 2, 3, 1])\n"
       "%ku = unsqueeze(%kp, dims = [2])\n%out = matmul(%qr, %ku)\n"},
      // Steps that do not divide: the matrices, or the batch dims, reach into each other.
      {"steps_under_a_batch",
       "%ks = slice(%k, dim = 1, step = 2)\n%kt = permute(%k, dims = [0, 2, 1])\n%out = matmul(%ks, %kt)\n"},
      {"steps_of_a_batch",
       "%ks = slice(%kh, dim = 1, step = 2)\n%kt = permute(%ks, dims = [0, 1, 3, 2])\n%out = matmul(%ks, %kt)\n"},
      {"linear_of_heads", "%qp = permute(%qh, dims = [2, 0, 1, 3])\n%out = linear(%qp, %z)\n"},
      {"repeated_rows_are_copied",
       "%ue = expand(%u, shape = [s, d])\n%zt = permute(%z, dims = [1, 0])\n"
       "%out = matmul(%ue, %zt)\n",
       1},
      {"columns_in_steps_are_copied", "%xs = slice(%x, dim = 1, step = 3)\n%out = linear(%xs, %z)\n", 1},
      {"merged_heads_are_copied",
       "%qp = permute(%qh, dims = [0, 1, 3, 2])\n"
       "%qm = reshape(%qp, shape = [b * s, d * g * r])\n"
       "%out = linear(%qm, %qm)\n",
       1},
  };
  return all;
}

class StridedContractions : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  std::string device() const { return std::get<0>(GetParam()); }
  std::string dtype() const { return std::get<1>(GetParam()); }
  // Whether a library computes contractions of the dtype.
  bool library() const {
    const DType type = *parse_dtype(dtype());
    return find_device(device(), {}).library({type, type, true}, nullptr) != nullptr;
  }
  CaseResult run(const Layout& layout, std::map<std::string, std::string, std::less<>> set) {
    CaseOptions how;
    how.device = device();
    how.set = std::move(set);
    how.set["T"] = dtype();
    CaseResult out = run_case(layout.text(), how);
    EXPECT_TRUE(out.ok) << layout.name << ": " << out.message;
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(All, StridedContractions,
                         ::testing::Combine(::testing::Values("cpu", "reference", "sim:sm_90a"),
                                            ::testing::Values("f32", "bf16", "f16", "f64")),
                         [](const auto& info) {
                           std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_P(StridedContractions, NeedNoCopies) {
  if (const std::string why = testing::why_no_device(device()); !why.empty()) GTEST_SKIP() << why;
  for (const Layout& layout : layouts()) {
    const CaseResult r = run(layout, {});
    if (!library()) continue;
    EXPECT_EQ(r.kernels, layout.kernels) << layout.name;
    EXPECT_GE(r.library_calls, 1) << layout.name;
  }
}

// Sizes that are bound later, of 0 and 1 among them.
TEST_P(StridedContractions, Sizes) {
  if (const std::string why = testing::why_no_device(device()); !why.empty()) GTEST_SKIP() << why;
  for (const Layout& layout : layouts()) {
    for (const char* size : {"b", "g", "r", "s", "t", "d"})
      for (const char* value : {"0", "1"})
        if (layout.name != "last_token" || std::string(size) != "s" || std::string(value) != "0")
          run(layout, {{size, value}});
    run(layout, {{"b", "3"}, {"s", "33"}, {"t", "18"}, {"d", "20"}});
  }
}

// A whole operand of a contraction whose sum is sharded: each rank reads its own columns of it, uneven and empty ones.
TEST_P(StridedContractions, ColumnsOfARank) {
  if (const std::string why = testing::why_no_device(device()); !why.empty()) GTEST_SKIP() << why;
  if (device() != "cpu" && device() != "reference") GTEST_SKIP() << "ranks of simulated GPUs: multidevice tests";
  for (int64_t ranks = 1; ranks <= 4; ++ranks)
    for (const char* k : {"12", "10", "3", "0"}) {
      CaseOptions how;
      how.device = device();
      how.ranks = ranks;
      how.set = {{"T", dtype()}, {"k", k}};
      const CaseResult r = run_case(R"(
let m = 5, n = 7, k = 12, T = f32
mesh @m (tp = t)
fusion @f on @m (%x: T[m, k], param %w: T[n, k] {1: tp}) -> (%y) {
  %y = linear(%x, %w)
}
)",
                                    how);
      EXPECT_TRUE(r.ok) << r.message << " on " << ranks << " ranks, k = " << k;
      if (library() && ranks > 1) {
        EXPECT_EQ(r.kernels, 0);
        EXPECT_EQ(r.library_calls, 1);
      }
    }
}

}  // namespace
}  // namespace plait
