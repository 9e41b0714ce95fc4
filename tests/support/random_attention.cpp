#include "support/random_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <random>
#include <regex>
#include <vector>

namespace plait::testing {

namespace {

class Drawer {
 public:
  Drawer(uint64_t seed, int64_t most, bool narrow)
      : random_(seed), most_(most), merged_(seed % 4 == 3), narrow_(narrow) {}

  std::string run() {
    sizes();
    input("q", {"h", "s", "d"}), input("k", {"g", "t", "d"}), input("v", {"g", "t", "e"});
    if (chance(35))
      gradient();
    else if (chance(40))
      one_op();
    else
      by_hand();
    // Heads that share keys are a known number of them: n is written as one, and h is n * g.
    std::string text = fmt::format("fusion @f ({}) -> ({}) {{\n{}}}\n", inputs_, outputs_, body_);
    // A window asks for as many keys as queries.
    if (s_ == t_) text = std::regex_replace(text, std::regex("\\bt\\b"), "s");
    text = fmt::format("let T = {}, b = {}, g = {}, s = {}, t = {}, d = {}, e = {}\n", type_, b_, g_, s_, t_, d_, e_) +
           text;
    return std::regex_replace(std::regex_replace(text, std::regex("\\bh\\b"), "n*g"), std::regex("\\bn\\b"),
                              std::to_string(n_));
  }

 private:
  int draw(int n) { return int(random_() % uint64_t(n)); }
  bool chance(int percent) { return draw(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return of.begin()[draw(int(of.size()))];
  }

  void sizes() {
    type_ = chance(75) ? "f32" : chance(60) ? "f64" : "bf16";
    b_ = 1 + draw(2), g_ = 1 + draw(2), n_ = chance(60) ? 1 : 1 + draw(3);
    s_ = chance(15) ? 1 + draw(31) : 32 + draw(200);
    t_ = chance(15) ? 1 + draw(255) : 256 + draw(160);
    if (chance(45)) s_ = t_;
    if (chance(4)) s_ = 32 + draw(8), t_ = 4100 + draw(100), g_ = b_ = n_ = 1;
    d_ = pick({1, 8, 16, 24, 5}), e_ = chance(50) ? d_ : pick({1, 8, 40, 3});
    if (narrow_) {
      type_ = chance(60) ? "bf16" : "f16";
      if (s_ > 100 && chance(50)) s_ = 1 + draw(100), t_ = chance(50) ? s_ : 1 + draw(160);
      d_ = pick({8, 16, 24, 40, 64}), e_ = chance(50) ? d_ : pick({8, 16, 48});
      return;
    }
    while (int64_t(b_) * g_ * n_ * s_ * t_ * (d_ + e_) > most_ && (d_ > 1 || e_ > 1))
      d_ = (d_ + 1) / 2, e_ = (e_ + 1) / 2;
  }

  void input(const std::string& name, const std::vector<std::string>& dims, const std::string& type = "T",
             const std::string& range = "") {
    inputs_ +=
        fmt::format("{}%{}: {}[{}]{}", inputs_.empty() ? "" : ", ", name, type, fmt::join(leading(dims), ", "), range);
  }
  std::vector<std::string> leading(std::vector<std::string> dims) {
    dims.insert(dims.begin(), "b");
    return dims;
  }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  std::string wide() const { return narrow_ ? "f32" : "T"; }
  std::string fresh() { return "%r" + std::to_string(next_++); }
  std::string let(const std::string& call) {
    if (call.starts_with('%')) return call;
    const std::string name = fresh();
    line(name + " = " + call);
    return name;
  }

  // Dims of scores, some of them 1, that a mask or bias has: of [b, g, n, s, t] by hand, [b, h, s, t] of the op.
  std::vector<std::string> some(const std::vector<std::string>& dims) {
    std::vector<std::string> out = dims;
    for (size_t d = 0; d + 1 < out.size(); ++d)
      if (chance(40)) out[d] = "1";
    while (out.size() > 2 && out.front() == "1" && chance(70)) out.erase(out.begin());
    return out;
  }
  std::string raw_input(const std::vector<std::string>& dims, const std::string& type, const std::string& range = "") {
    const std::string name = "%i" + std::to_string(next_++);
    inputs_ += fmt::format(", {}: {}[{}]{}", name, type, fmt::join(dims, ", "), range);
    return name;
  }

  void one_op() {
    std::string more;
    const int mask = draw(3);
    if (mask > 0) more += ", mask = " + raw_input(some({"b", "h", "s", "t"}), mask == 1 ? "bool" : "T");
    if (chance(50)) more += ", causal = true";
    if (chance(40)) more += ", scale = 0.3";
    const bool statistics = chance(25);
    if (statistics) more += ", statistics = true";
    line(fmt::format("%y{} = scaled_dot_product_attention(%q, %k, %v{})", statistics ? ", %l" : "", more));
    finish("%y", statistics ? "%l" : "");
  }

  // Where scores count, or nothing where all do.
  std::string kept() {
    const std::string query = let("iota(shape = [s, 1], dim = 0)"), key = let("iota(shape = [t], dim = 0)");
    std::string out;
    for (int parts = draw(3); parts > 0; --parts) {
      std::string part;
      switch (draw(8)) {
        case 0:
          part = fmt::format("le({}, {})", key, query);
          break;
        case 1:
          part = fmt::format("lt(sub({}, {}), {})", query, key, 1 + draw(90));
          break;
        case 2:
          part = fmt::format("le({}, add({}, {}))", key, query, draw(50) - 20);
          break;
        case 3:
          part = fmt::format("lt(abs(sub({}, {})), {})", key, query, 1 + draw(60));
          break;
        case 4:
          part = fmt::format("logical_and(le({0}, {1}), lt(sub({1}, {0}), {2}))", key, query, 1 + draw(60));
          break;
        case 5:
          part = fmt::format("lt({}, {})", key, raw_input({"b", "1", "1", "1", "1"}, "i64", " in 0..t + 1"));
          break;
        case 6:
          part = fmt::format("eq({}, {})", raw_input({"b", "1", "1", "s", "1"}, "i64", " in 0..3"),
                             raw_input({"b", "1", "1", "1", "t"}, "i64", " in 0..3"));
          break;
        default:
          part = raw_input(some({"b", "g", "n", "s", "t"}), "bool");
      }
      out = let(out.empty() ? part : fmt::format("{}({}, {})", chance(70) ? "logical_and" : "logical_or", out, part));
    }
    return out;
  }

  // Queries [b, g, n, s, d], keys [b, g, 1, t, d], values [b, g, 1, t, e].
  void parts() {
    line("%qg = reshape(%q, shape = [b, g, n, s, d])");
    line("%kg = unsqueeze(%k, dims = [2])\n  %vg = unsqueeze(%v, dims = [2])");
  }
  static std::string turned(const std::string& t) { return fmt::format("permute({}, dims = [0, 1, 2, 4, 3])", t); }
  // Of [b, g, n, rows, terms] and [b, g, n or 1, terms, columns]; merged, of stacks of b*g*n matrices.
  std::string product(const std::string& a, const std::string& b, const char* rows, const char* terms,
                      const char* columns) {
    const std::string more = narrow_ ? ", accumulate = true" : "";
    if (!merged_) return fmt::format("matmul({}, {}{})", a, b, more);
    const auto merge = [&](const std::string& t, const char* one, const char* other) {
      const std::string all =
          n_ == 1 ? t : fmt::format("broadcast({}, shape = [b, g, n, {}, {}], dims = [0, 1, 2, 3, 4])", t, one, other);
      return fmt::format("reshape({}, shape = [b*g*n, {}, {}])", all, one, other);
    };
    return fmt::format("reshape(matmul({}, {}{}), shape = [b, g, n, {}, {}])", merge(a, rows, terms),
                       merge(b, terms, columns), more, rows, columns);
  }
  std::string scores() {
    const std::string left = chance(narrow_ ? 5 : 30) ? let("mul(%qg, 0.3)") : "%qg";
    std::string out = let(product(left, turned("%kg"), "s", "d", "t"));
    return left == "%qg" ? let(fmt::format("{}({}, {})", chance(50) ? "mul" : "div", out, "0.7")) : out;
  }

  void by_hand() {
    parts();
    std::string x = scores();
    if (chance(20)) x = let(fmt::format("mul(tanh(div({}, 20.0)), 20.0)", x));
    if (chance(25)) x = let(fmt::format("add({}, {})", x, raw_input(some({"b", "g", "n", "s", "t"}), wide())));
    if (chance(15)) {
      const std::string apart =
          let("cast(sub(iota(shape = [t], dim = 0), iota(shape = [s, 1], dim = 0)), to = " + wide() + ")");
      x = let(fmt::format("add({}, mul({}, {}))", x, apart, raw_input({"g", "n", "1", "1"}, wide())));
    }
    if (const std::string mask = kept(); !mask.empty())
      x = let(chance(80) ? fmt::format("where({}, {}, -inf)", mask, x)
                         : fmt::format("where(logical_not({}), -inf, {})", mask, x));
    std::string p = let(fmt::format("softmax({}, dim = 4)", x));
    if (chance(20)) {
      inputs_ += ", %seed: u64[]";
      p = let(fmt::format("dropout({}, p = 0.25, seed = %seed)", p));
    }
    if (narrow_) p = let(fmt::format("cast({}, to = T)", p));
    finish(let(product(p, "%vg", "s", "t", "e")), "");
  }

  void finish(std::string y, const std::string& also) {
    if (chance(30)) y = let(fmt::format("add({}, 1.5)", y));
    const bool grouped = also.empty() && body_.find("%qg") != std::string::npos;
    if (chance(40) && grouped) {
      y = let(fmt::format("reshape(permute({}, dims = [0, 3, 1, 2, 4]), shape = [b, s, h*e])", y));
      if (chance(40)) y = let(fmt::format("add({}, {})", y, raw_input({"b", "s", "h*e"}, wide())));
    }
    outputs_ = y + (also.empty() ? "" : ", " + also);
  }

  // As frameworks compute it from the logsumexp %l and the sums of rows of g times out, %z.
  void gradient() {
    parts();
    inputs_ += fmt::format(", %g0: T[b, g, n, s, e], %l: {0}[b, g, n, s, 1], %z: {0}[b, g, n, s, 1]", wide());
    const std::string mask = kept();
    const auto choose = [&](const std::string& call, const char* otherwise) {
      return let(mask.empty() ? call : fmt::format("where({}, {}, {})", mask, call, otherwise));
    };
    const std::string x = choose(scores(), "-inf");
    const std::string p = choose(fmt::format("exp(sub({}, add(%l, 3.0)))", x), "0.0");
    std::string weights = p, dp = let(product("%g0", turned("%vg"), "s", "e", "t"));
    if (chance(25)) {
      inputs_ += ", %seed: u64[]";
      const std::string keep = let("ge(uniform(shape = [b, g, n, s, t], seed = %seed), 0.25)");
      weights = let(fmt::format("where({}, mul({}, 1.3333), 0.0)", keep, p));
      dp = let(fmt::format("where({}, mul({}, 1.3333), 0.0)", keep, dp));
    }
    const auto rounded = [&](const std::string& t) { return narrow_ ? let(fmt::format("cast({}, to = T)", t)) : t; };
    weights = rounded(weights);
    const std::string ds = rounded(choose(fmt::format("mul({}, sub({}, %z))", p, dp), "0.0"));
    const bool share = n_ > 1;
    const auto of_keys = [&](const std::string& call) {
      return let(share ? fmt::format("sum({}, dims = [2])", call) : call);
    };
    std::vector<std::string> out;
    if (chance(90)) out.push_back(let(fmt::format("mul({}, 0.7)", product(ds, "%kg", "s", "t", "d"))));
    if (chance(90)) out.push_back(of_keys(fmt::format("mul({}, 0.7)", product(turned(ds), "%qg", "t", "s", "d"))));
    if (out.empty() || chance(90)) out.push_back(of_keys(product(turned(weights), "%g0", "t", "s", "e")));
    outputs_ = fmt::format("{}", fmt::join(out, ", "));
  }

  std::mt19937_64 random_;
  const int64_t most_;
  const bool merged_;  // stacks of products have one batch dim
  const bool narrow_;
  std::string type_, inputs_, outputs_, body_;
  int b_ = 1, g_ = 1, n_ = 1, s_ = 1, t_ = 1, d_ = 1, e_ = 1, next_ = 0;
};

}  // namespace

std::string random_attention(uint64_t seed, int64_t most) { return Drawer(seed, most, false).run(); }

std::string random_narrow_attention(uint64_t seed, int64_t most) { return Drawer(seed, most, true).run(); }

}  // namespace plait::testing
