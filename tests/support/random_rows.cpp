// Reductions of one segment, by numbers of schedule norm.
#include <algorithm>

#include "support/random_fusion.h"
#include "support/random_text.h"

namespace plait::testing {

namespace {

class RowsWriter : RandomText {
 public:
  RowsWriter(uint64_t seed, bool gpu) : RandomText(seed, 11), gpu_(gpu) { indent_ = "    "; }

  RandomRows make() {
    rank_ = 1 + below(3);
    do
      for (int d = 0; d < rank_; ++d) reduced_[static_cast<size_t>(d)] = below(2) == 0;
    while (std::count(reduced_, reduced_ + rank_, true) == 0);
    full_ = {add("%x", false), add("%z", false)};
    kept_ = {add("%w", true)};
    const std::string inputs = fmt::format("%x: T[{0}], %z: T[{0}], %w: T[{1}]", shape(false), shape(true));
    reduction();
    for (int i = 0, n = 3 + below(9); i < n; ++i) step();
    std::string outputs;
    for (size_t i = 3; i < tensors_.size(); ++i)
      if (tensors_[i].readers == 0 || below(6) == 0) outputs += (outputs.empty() ? "" : ", ") + tensors_[i].name;
    return {
        fmt::format("let a = 3, b = 4, n = 5, T = f32\nfusion @f ({}) -> ({}) {{\n  segment @s (%x, %z, %w) -> ({}) "
                    "schedule norm({}) {{\n{}  }}\n}}\n",
                    inputs, outputs, outputs, numbers(), body_),
        split_};
  }

 private:
  struct Named {
    std::string name;
    bool kept = false;
    int readers = 0;
  };

  size_t add(const std::string& name, bool kept) {
    tensors_.push_back({name, kept, 0});
    return tensors_.size() - 1;
  }
  const std::string& read(size_t i) {
    ++tensors_[i].readers;
    return tensors_[i].name;
  }
  std::string shape(bool kept) const {
    std::string out;
    for (int d = 0; d < rank_; ++d)
      out +=
          std::string(d > 0 ? ", " : "") + (kept && reduced_[static_cast<size_t>(d)] ? "1" : std::string(1, "abn"[d]));
    return out;
  }
  std::string dims() const {
    std::string out;
    for (int d = 0; d < rank_; ++d)
      if (reduced_[static_cast<size_t>(d)]) out += fmt::format("{}{}", out.empty() ? "" : ", ", d);
    return "[" + out + "]";
  }

  void result(bool kept, const std::string& value) { (kept ? kept_ : full_).push_back(add(define(value), kept)); }

  void reduction() {
    const size_t from = pick(full_);
    const std::string of = tensors_[from].name, how = fmt::format("dims = {}, keepdim = true", dims());
    const int kind = below(9);
    if (kind != 3) ++tensors_[from].readers;
    switch (kind) {
      case 0:
        return result(true, fmt::format("amax({}, {})", of, how));
      case 1:
        return result(true, fmt::format("amin({}, {})", of, how));
      case 2: {
        const std::string mean = fresh(), var = fresh();
        body_ += fmt::format("    {}, {} = var_mean({}, {}, correction = 0)\n", mean, var, of, how);
        kept_.push_back(add(mean, true));
        kept_.push_back(add(var, true));
        return;
      }
      case 3: {  // of what is exact: among others the greatest may not be known
        const std::string at = define(fmt::format("argmax({}, {})", read(full_[static_cast<size_t>(below(2))]), how));
        return result(true, fmt::format("cast({}, to = T)", at));
      }
      case 4:
        return result(true, fmt::format("var({}, {}, correction = 0)", of, how));
      case 5:
        return exponentials(of, how);
      default:
        return result(true, fmt::format("sum({}, {})", of, how));
    }
  }

  // A sum of exp(x - greatest), of which the terms are read again at times.
  void exponentials(const std::string& of, const std::string& how) {
    const std::string greatest = define(fmt::format("amax({}, {})", of, how));
    std::string from = greatest;
    if (below(3) == 0) {
      const std::string infinite = define(fmt::format("eq({}, -inf)", greatest));
      from = define(fmt::format("where({}, 0.0, {})", infinite, greatest));
    }
    const std::string terms = define(fmt::format("exp(sub({}, {}))", of, from));
    if (below(3) == 0) full_.push_back(add(terms, false));
    if (below(3) == 0) kept_.push_back(add(greatest, true));
    result(true, fmt::format("sum({}, {})", terms, how));
  }

  void step() {
    switch (below(7)) {
      case 0:
      case 1:
        return reduction();
      case 2:
        return result(false, fmt::format("sub({}, {})", read(pick(full_)), read(pick(kept_))));
      case 3:
        return result(false, fmt::format("tanh({})", read(pick(full_))));
      case 4:
        return result(false, fmt::format("add({}, {})", read(pick(full_)), read(pick(full_))));
      case 5:
        return result(true, fmt::format("add({}, {})", read(pick(kept_)), read(pick(kept_))));
      default:
        return result(true, fmt::format("tanh({})", read(pick(kept_))));
    }
  }

  // Rows share a block, or columns do, each with its threads.
  std::string numbers_of_gpus() {
    const bool row = reduced_[rank_ - 1], all = std::count(reduced_, reduced_ + rank_, true) == rank_;
    const int vector = 1 << below(4), parts = 1 + below(3);
    const int threads = all ? 32 << below(4) : row ? 2 << below(6) : 1 << below(5);
    const int rows = all ? 1 : std::max(32 / threads, 1) << below(3);
    split_ = below(2) != 0;
    std::string out = fmt::format("vector = {}, rows = {}, parts = {}, threads = {}", vector, rows, parts, threads);
    if (split_)
      out += fmt::format(", keep = 0, split = {}", (row ? vector : 1) * parts * threads * (1 + below(3)));
    else if (below(3) == 0)
      out += ", keep = 0";
    return out;
  }

  std::string numbers() {
    if (gpu_) return numbers_of_gpus();
    const int vector = 1 << below(4), parts = 1 + below(3);
    split_ = below(4) != 0;
    std::string out = fmt::format("vector = {}, parts = {}, keep = 0", vector, parts);
    if (split_) out += fmt::format(", split = {}", vector * parts * (1 + below(3)));
    return out;
  }

  const bool gpu_;
  int rank_ = 1;
  bool reduced_[3] = {};
  std::vector<Named> tensors_;
  std::vector<size_t> full_, kept_;
  bool split_ = false;
};

}  // namespace

RandomRows random_rows(uint64_t seed) { return RowsWriter(seed, false).make(); }
RandomRows random_rows_of_gpus(uint64_t seed) { return RowsWriter(seed, true).make(); }

}  // namespace plait::testing
