#pragma once
// Random programs over pieces and wholes of [n] on one axis, with the values that they must give.
#include <algorithm>
#include <random>

#include "base/error.h"
#include "unit/program/build.h"

namespace plait::test {

using Values = std::vector<std::vector<std::vector<float>>>;  // by value, by rank, elements

struct RandomProgram {
  static constexpr const char* kPiece = "chunk(n, t, rank.tp)";
  Builder builder;
  int64_t ranks, n;
  std::mt19937 random;
  std::vector<ValueId> pieces, wholes;  // written so far
  Values values;

  RandomProgram(uint32_t seed, int64_t rank_count, int64_t extent)
      : builder(Builder::tp(rank_count)), ranks(rank_count), n(extent), random(seed) {
    add_input(kPiece, pieces);
    add_input("n", wholes);
    const int steps = 3 + int(random() % 20);
    for (int i = 0; i < steps; ++i) add_step(random() % 5 == 0 || i == steps - 1);
  }

  int64_t start(int64_t rank) const { return std::min(n, rank * ((n + ranks - 1) / ranks)); }
  int64_t count(int64_t rank) const { return start(rank + 1) - start(rank); }
  int64_t extent(bool whole, int64_t rank) const { return whole ? n : count(rank); }
  ValueId pick(const std::vector<ValueId>& from) { return from[random() % from.size()]; }

  void add_input(const std::string& shape, std::vector<ValueId>& list) {
    list.push_back(builder.input(fmt::format("x{}", values.size()), {shape}));
    auto& mine = values.emplace_back(size_t(ranks));
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (int64_t i = 0; i < extent(shape == "n", rank); ++i) mine[rank].push_back(float(random() % 7) - 3);
  }

  ValueId add_value(bool whole, bool output) {
    const std::string name = fmt::format("v{}", values.size());
    values.emplace_back(size_t(ranks));
    const ValueId id =
        output ? builder.output(name, {whole ? "n" : kPiece}) : builder.alloc(name, {whole ? "n" : kPiece});
    return id;
  }

  void add_step(bool output) {
    const int kind = int(random() % 6);
    const bool whole = kind == 0 || kind == 2 || kind == 4;
    if (kind <= 1) {
      const std::vector<ValueId>& from = whole ? wholes : pieces;
      const ValueId a = pick(from), b = pick(from), out = add_value(whole, output);
      builder.combine({a, b}, out, whole ? "n" : kPiece, 1);
      for (int64_t rank = 0; rank < ranks; ++rank)
        for (int64_t i = 0; i < extent(whole, rank); ++i)
          values[out.index][rank].push_back((1 + values[a.index][rank][i]) + 2 * values[b.index][rank][i]);
      return finish(out, whole);
    }
    const ValueId in = pick(kind == 2 ? pieces : wholes), out = add_value(whole, output);
    const auto& from = values[in.index];
    auto& to = values[out.index];
    if (kind == 2) builder.pieces(Collective::all_gather, in, out, {"1", kPiece, "n", "1"});
    if (kind == 3)
      builder.pieces(Collective::reduce_scatter, in, out, {"1", kPiece, "n", "1"}).reduce = CommReduce::max;
    if (kind == 4) builder.all_reduce(in, out, CommReduce::min);
    if (kind == 5) builder.slice(in, out, {"1", "chunk_start(n, t, rank.tp)", kPiece, "n", "1"});
    for (int64_t rank = 0; rank < ranks; ++rank) {
      if (kind == 2)
        for (const auto& piece : from) to[rank].insert(to[rank].end(), piece.begin(), piece.end());
      for (int64_t i = 0; kind != 2 && i < extent(whole, rank); ++i) {
        const int64_t at = whole ? i : start(rank) + i;
        float value = from[rank][at];
        for (int64_t r = 0; r < ranks && kind != 5; ++r)
          value = kind == 3 ? std::max(value, from[r][at]) : std::min(value, from[r][at]);
        to[rank].push_back(value);
      }
    }
    finish(out, whole);
  }

  void finish(ValueId out, bool whole) { (whole ? wholes : pieces).push_back(out); }

  // What a rank holds of a value.
  std::vector<double> expected(int64_t rank, ValueId id) const {
    return {values[id.index][rank].begin(), values[id.index][rank].end()};
  }
  std::vector<RankTensors> inputs() const {
    std::vector<RankTensors> out;
    out.resize(size_t(ranks));
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (uint32_t input : {0, 1}) {
        const auto mine = expected(rank, {input});
        out[rank].push_back(tensor({int64_t(mine.size())}, mine));
      }
    return out;
  }
};

}  // namespace plait::test
