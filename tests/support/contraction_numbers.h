#pragma once
// Integers of contractions whose operands are dense, for launches of a library.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "device/contraction.h"

namespace plait::test {

// a as [batch, m, k], or [batch, k, m] where transposed; b as [batch, k, n], or [batch, n, k]; `shared_b`: b as one for
// all of the batch.
struct DenseContraction {
  bool transpose_a = false, transpose_b = false, shared_b = false;

  std::vector<int64_t> integers(int64_t batch, int64_t m, int64_t n, int64_t k) const {
    const int64_t extents[] = {batch}, of_a[] = {m * k}, of_b[] = {shared_b ? 0 : k * n}, of_out[] = {m * n};
    ContractionArguments out;
    out.batch = extents;
    out.m = m, out.n = n, out.k = k;
    out.a = {transpose_a ? 1 : k, transpose_a ? m : 1, 0, of_a};
    out.b = {transpose_b ? 1 : n, transpose_b ? k : 1, 0, of_b};
    out.out = {n, 1, 0, of_out};
    return simplify_contraction(out.integers());
  }
  // Of a linear.
  static DenseContraction linear() { return {false, true, true}; }
};

// A contraction whose operands are views: what they are, the sizes of their buffers, and what it gives.
struct StridedContraction {
  std::string name;
  std::vector<int64_t> batch, a_batch, b_batch;
  ContractionArguments numbers;  // but the batch, and the result, which is dense
  int64_t size_a = 0, size_b = 0;

  int64_t matrices() const {
    int64_t count = 1;
    for (int64_t extent : batch) count *= extent;
    return count;
  }
  int64_t size_out() const { return matrices() * numbers.m * numbers.n; }
  // Whether every matrix has rows or columns without holes.
  bool dense_lines() const {
    return (numbers.a.row == 1 || numbers.a.column == 1) && (numbers.b.row == 1 || numbers.b.column == 1);
  }
  std::vector<int64_t> integers() const {
    std::vector<int64_t> out_batch(batch.size());
    int64_t stride = numbers.m * numbers.n;
    for (size_t d = batch.size(); d-- > 0; stride *= batch[d]) out_batch[d] = stride;
    ContractionArguments all = numbers;
    all.batch = batch;
    all.a.batch = a_batch, all.b.batch = b_batch, all.out.batch = out_batch;
    all.out.row = numbers.n, all.out.column = 1;
    return simplify_contraction(all.integers());
  }
  std::vector<double> expected(const std::vector<double>& a, const std::vector<double>& b) const {
    ContractionOperand of_a = numbers.a, of_b = numbers.b;
    of_a.batch = a_batch, of_b.batch = b_batch;
    std::vector<double> out;
    for (int64_t i = 0; i < matrices(); ++i)
      for (int64_t e = 0; e < numbers.m * numbers.n; ++e) {
        const int64_t in_a = of_a.offset + of_a.matrix(i, batch) + e / numbers.n * of_a.row;
        const int64_t in_b = of_b.offset + of_b.matrix(i, batch) + e % numbers.n * of_b.column;
        double sum = 0;
        for (int64_t k = 0; k < numbers.k; ++k)
          sum += a[size_t(in_a + k * of_a.column)] * b[size_t(in_b + k * of_b.row)];
        out.push_back(sum);
      }
    return out;
  }
};

inline std::vector<StridedContraction> strided_contractions() {
  std::vector<StridedContraction> out;
  const auto add = [&](std::string name, std::vector<int64_t> batch, std::array<int64_t, 3> mnk, ContractionOperand a,
                       std::vector<int64_t> a_batch, ContractionOperand b, std::vector<int64_t> b_batch) {
    StridedContraction& one = out.emplace_back();
    one.name = std::move(name);
    one.numbers.m = mnk[0], one.numbers.n = mnk[1], one.numbers.k = mnk[2];
    one.numbers.a = a, one.numbers.b = b;
    const auto size = [&](const ContractionOperand& operand, const std::vector<int64_t>& strides, int64_t rows,
                          int64_t columns) {
      int64_t last = operand.offset + (rows - 1) * operand.row + (columns - 1) * operand.column;
      for (size_t d = 0; d < batch.size(); ++d) last += (batch[d] - 1) * strides[d];
      return last + 1;
    };
    one.size_a = size(a, a_batch, mnk[0], mnk[2]);
    one.size_b = size(b, b_batch, mnk[2], mnk[1]);
    one.batch = std::move(batch);
    one.a_batch = std::move(a_batch), one.b_batch = std::move(b_batch);
  };
  // Matrices of one.
  add("rows_of_a_sliced", {}, {5, 7, 6}, {20, 1, 3}, {}, {7, 1, 0}, {});
  add("every_third_row_of_both", {}, {5, 7, 6}, {18, 1, 0}, {}, {21, 1, 0}, {});
  add("both_transposed_and_sliced", {}, {5, 7, 6}, {1, 9, 2}, {}, {1, 11, 1}, {});
  add("every_second_column_of_a", {}, {5, 7, 6}, {12, 2, 1}, {}, {7, 1, 0}, {});
  add("every_second_column_of_both", {}, {5, 7, 6}, {12, 2, 0}, {}, {14, 2, 0}, {});
  add("one_row", {}, {1, 7, 6}, {50, 1, 4}, {}, {1, 6, 0}, {});
  add("one_column", {}, {5, 1, 6}, {6, 1, 0}, {}, {9, 1, 2}, {});
  add("one_term", {}, {5, 7, 1}, {4, 1, 0}, {}, {1, 3, 0}, {});
  add("long_sum_of_slices", {}, {4, 4, 2000}, {2100, 1, 7}, {}, {6, 1, 1}, {});
  add("long_sum_of_transposed", {}, {4, 4, 2000}, {1, 5, 0}, {}, {1, 2001, 0}, {});
  add("more_rows_than_a_panel", {}, {600, 66, 9}, {30, 1, 0}, {}, {1, 12, 0}, {});
  // Heads h of [s, h, d], keys transposed; groups of heads that share keys.
  add("heads_interleaved", {2, 4}, {5, 6, 8}, {32, 1, 0}, {160, 8}, {1, 32, 0}, {192, 8});
  add("grouped_dense", {2, 3, 4}, {5, 6, 8}, {8, 1, 0}, {480, 160, 40}, {1, 8, 0}, {144, 48, 0});
  add("grouped_interleaved", {2, 3, 4}, {5, 6, 8}, {96, 1, 0}, {480, 32, 8}, {1, 24, 0}, {144, 8, 0});
  add("grouped_one_token", {2, 3, 4}, {1, 6, 8}, {96, 1, 0}, {96, 32, 8}, {1, 8, 0}, {144, 48, 0});
  add("shared_a", {4}, {5, 6, 8}, {8, 1, 0}, {0}, {6, 1, 0}, {48});
  add("shared_both", {4}, {5, 6, 8}, {8, 1, 0}, {0}, {6, 1, 0}, {0});
  add("batch_sliced", {3}, {5, 6, 8}, {8, 1, 40}, {80}, {6, 1, 0}, {96});
  add("four_batch_dims", {2, 2, 3, 2}, {3, 4, 5}, {5, 1, 0}, {500, 200, 40, 15}, {4, 1, 0}, {300, 100, 0, 20});
  return out;
}

}  // namespace plait::test
