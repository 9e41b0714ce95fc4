#include "support/op_words.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "base/error.h"

namespace plait::testing {

namespace {

constexpr int kReductionCount = 0
#define X(name, ...) +1
#include "ir/reductions.def"
#undef X
    ;

bool said_by_users(OpKind kind) {
  const OpProperty p = property(kind);
  return p != OpProperty::communication && p != OpProperty::local_move;
}

std::vector<OpWord> list_words() {
  std::vector<OpWord> out;
  const auto add = [&](OpKind kind) {
    if (!said_by_users(kind)) return;
    const int count = kind == OpKind::PointwiseOp ? kPointwiseCount : kind == OpKind::Reduce ? kReductionCount : 1;
    for (int i = 0; i < count; ++i) out.push_back({kind, i});
  };
#define PLAIT_OP(Name, text, properties) add(OpKind::Name);
#include "ir/ops.def"
#undef PLAIT_OP
  return out;
}

}  // namespace

std::string text(const OpWord& word) {
  if (word.kind == OpKind::PointwiseOp) return std::string(name(static_cast<Pointwise>(word.which)));
  if (word.kind == OpKind::Reduce) return std::string(name(static_cast<Reduction>(word.which)));
  return std::string(name(word.kind));
}

const std::vector<OpWord>& op_words() {
  static const std::vector<OpWord> words = list_words();
  return words;
}

bool keeps_integers(const OpWord& word) {
  switch (word.kind) {
    case OpKind::PointwiseOp:
      return info(static_cast<Pointwise>(word.which)).keeps_integers;
    case OpKind::Reduce:
      return static_cast<Reduction>(word.which) != Reduction::prod;
    case OpKind::Uniform:
    case OpKind::Normal:
    case OpKind::Var:
    case OpKind::Bitcast:
    case OpKind::LogCumSumExp:
    case OpKind::CumProd:
      return false;
    case OpKind::Einsum:
    case OpKind::Dropout:
    case OpKind::Set:
    case OpKind::Stack:
    case OpKind::Expand:
    case OpKind::Eye:
    case OpKind::Tril:
    case OpKind::Triu:
    case OpKind::Embedding:
    case OpKind::TakeAlong:
    case OpKind::OneHot:
    case OpKind::ArgSort:
    case OpKind::TopK:
    case OpKind::SliceAt:
    case OpKind::SliceUpdate:
    case OpKind::Any:
    case OpKind::All:
      return true;
    default:
      return property(word.kind) != OpProperty::composite;
  }
}

std::set<OpWord> words_of(const Fusion& fusion) {
  std::set<OpWord> out;
  for (const Op* op : fusion.ops()) {
    OpWord word{op->kind};
    if (const auto* p = as<PointwiseOp>(*op)) word.which = static_cast<int>(p->function);
    if (const auto* r = as<Reduce>(*op)) word.which = static_cast<int>(r->function);
    out.insert(word);
  }
  return out;
}

void WordCounts::add(const Fusion& fusion) {
  for (const OpWord& word : words_of(fusion)) ++graphs_[word];
}

void WordCounts::expect_each(int least) const {
  std::multimap<int, std::string> by_count;
  for (const OpWord& word : op_words()) {
    const auto it = graphs_.find(word);
    by_count.emplace(it == graphs_.end() ? 0 : it->second, text(word));
  }
  std::string line;
  for (const auto& [count, word] : by_count) {
    EXPECT_GE(count, least) << word;
    line += fmt::format(" {} {},", word, count);
  }
  line.pop_back();
  std::printf("%zu ops, each in at least %d graphs:%s\n", by_count.size(), by_count.begin()->first, line.c_str());
}

}  // namespace plait::testing
