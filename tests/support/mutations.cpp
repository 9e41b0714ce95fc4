#include "support/mutations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "kir/passes/edit.h"
#include "kir/statements.h"

namespace plait::testing {

namespace {

using namespace kir;

// ---- Kernel IR.

// Lists the mutations of a kernel, and makes the one that is wanted.
class KernelMutations {
 public:
  KernelMutations(Kernel& kernel, std::optional<size_t> wanted, bool traps)
      : kernel_(kernel), wanted_(wanted), traps_(traps) {}

  std::vector<Mutation> walk() {
    for (Phase& phase : kernel_.phases) block(phase.body);
    return std::move(found_);
  }

 private:
  // Whether the mutation is to be made here.
  bool here(std::string_view kind, std::string where) {
    found_.push_back({std::string(kind), std::move(where)});
    if (wanted_ != found_.size() - 1) return false;
    trap_here_ = traps_;
    return !traps_;
  }

  void block(Block& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      look_at(body, i);
      if (std::exchange(trap_here_, false)) put_trap(body, i++);
    }
  }

  // In front of the statement.
  void put_trap(Block& body, size_t at) {
    auto number = std::make_unique<Literal>();
    auto store = std::make_unique<Store>();
    while (!kernel_.buffers[store->buffer].written) ++store->buffer;
    number->out = {next_value_id(kernel_), compute_type(kernel_.buffers[store->buffer].dtype), 1};
    number->constant = {number->out.dtype, 0};
    store->index = kernel_.pool->constant(int64_t{1} << 40);
    store->in = number->out;
    const auto to = body.begin() + static_cast<std::ptrdiff_t>(at);
    body.insert(body.insert(to, std::move(store)), std::move(number));
  }

  void look_at(Block& body, size_t i) {
    Stmt& stmt = *body[i];
    loops_.push_back(stmt.kind == StmtKind::For ? static_cast<const For*>(&stmt) : nullptr);
    if (Block* inner = body_of(stmt)) block(*inner);
    loops_.pop_back();
    if (is_deletable(stmt) && here(fmt::format("{} deleted", name(stmt.kind)), text(stmt))) {
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if ((stmt.kind == StmtKind::If && here("condition dropped", text(stmt))) ||
        (stmt.kind == StmtKind::LastBlock && here("each block is the last", text(stmt)))) {
      Block inner = std::move(*body_of(stmt));
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(inner.begin()),
                  std::make_move_iterator(inner.end()));
      return;
    }
    inside(stmt);
  }

  static bool is_deletable(const Stmt& stmt) {
    return stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::Assign || stmt.kind == StmtKind::Store;
  }

  void inside(Stmt& stmt) {
    if (auto* sync = as_mutable<Sync>(stmt))
      if (sync->scope == SyncScope::block && here("block waits as warps", text(stmt))) sync->scope = SyncScope::warp;
    if (auto* shuffle = as_mutable<Shuffle>(stmt))
      if (here("shuffle by others", text(stmt))) shuffle->by = shuffle->by == 1 ? 2 : shuffle->by / 2;
    if (auto* branch = as_mutable<If>(stmt)) condition(*branch);
    if (auto* last = as_mutable<LastBlock>(stmt))
      if (here("last of fewer blocks", text(stmt))) last->blocks = last->blocks - 1;
    if (auto* await = as_mutable<Await>(stmt))
      if (here("waits for fewer blocks", text(stmt))) await->from = await->from + 1;
    if (auto* loop = as_mutable<For>(stmt))
      if (!is_parallel(loop->loop) && here("iteration lost", text(stmt))) loop->extent = loop->extent - 1;
    if (auto* load = as_mutable<Load>(stmt)) access(*load);
    if (auto* store = as_mutable<Store>(stmt)) access(*store);
    if (auto* variable = as_mutable<Variable>(stmt))
      if (here("initial value changed", text(stmt))) variable->initial = other(variable->initial);
    if (auto* random = as_mutable<Random>(stmt))
      if (here("number drawn elsewhere", text(stmt))) random->index = random->index + 1;
    if (auto* compute = as_mutable<Compute>(stmt)) function(*compute);
  }

  template <class T>
  static T* as_mutable(Stmt& stmt) {
    return stmt.kind == T::kKind ? static_cast<T*>(&stmt) : nullptr;
  }

  void condition(If& branch) {
    const auto parts = conjuncts(branch.condition);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind() != sym::Kind::lt && parts[i].kind() != sym::Kind::le) continue;
      const sym::Expr left = parts[i].operands()[0], right = parts[i].operands()[1];
      for (int by : {1, -1}) {
        if (!here(by > 0 ? "bound raised" : "bound lowered", text(branch))) continue;
        sym::Expr all;
        for (size_t k = 0; k < parts.size(); ++k) {
          sym::Expr part = parts[k];
          if (k == i) part = part.kind() == sym::Kind::lt ? sym::lt(left, right + by) : sym::le(left, right + by);
          all = all ? sym::logical_and(all, part) : part;
        }
        branch.condition = all;
        return;
      }
    }
  }

  template <class T>
  void access(T& stmt) {
    if (here("index shifted", text(stmt))) stmt.index = stmt.index + 1;
    if (stmt.active && here("all lanes active", text(stmt))) stmt.active = {};
    std::vector<std::pair<sym::Expr, int64_t>> strides;
    for (const For* loop : loops_)
      if (loop != nullptr)
        if (const auto slope = slope_in(stmt.index, loop->var); slope && slope->step != 0)
          strides.emplace_back(loop->var, slope->step);
    if (strides.size() < 2 || strides.end()[-1].second == strides.end()[-2].second) return;
    if (!here("strides exchanged", text(stmt))) return;
    const sym::Expr a = strides.end()[-2].first, b = strides.end()[-1].first;
    stmt.index = sym::substitute(stmt.index, {{a.symbol_name(), b}, {b.symbol_name(), a}});
  }

  // One that differs by 1, or the other bool.
  static Constant other(const Constant& c) {
    if (c.dtype == DType::boolean) return Constant::from_bool(c.to_int64() == 0);
    if (is_float(c.dtype)) return Constant::from_double(c.dtype, std::isfinite(c.to_double()) ? c.to_double() + 1 : 0);
    return Constant::from_int64(c.dtype, c.to_int64() + 1);
  }

  void function(Compute& compute) {
    static const std::map<Pointwise, Pointwise> kOthers = {
        {Pointwise::add, Pointwise::sub}, {Pointwise::sub, Pointwise::add}, {Pointwise::mul, Pointwise::add},
        {Pointwise::div, Pointwise::mul}, {Pointwise::max, Pointwise::min}, {Pointwise::min, Pointwise::max},
        {Pointwise::lt, Pointwise::le},   {Pointwise::le, Pointwise::lt},   {Pointwise::gt, Pointwise::ge},
        {Pointwise::ge, Pointwise::gt},   {Pointwise::eq, Pointwise::ne},   {Pointwise::ne, Pointwise::eq},
    };
    const auto found = kOthers.find(compute.function);
    if (found != kOthers.end() && here("function changed", text(compute))) compute.function = found->second;
    if (compute.function == Pointwise::where && here("choice turned round", text(compute)))
      std::swap(compute.in[1], compute.in[2]);
  }

  std::string text(const Stmt& stmt) const {
    std::string out = print(kernel_, stmt);
    out = out.substr(0, out.find('\n'));
    return fmt::format("{}: {}", kernel_.name, out.substr(std::min(out.find_first_not_of(' '), out.size())));
  }

  Kernel& kernel_;
  const std::optional<size_t> wanted_;
  const bool traps_;
  bool trap_here_ = false;  // the mutation that is wanted is of the statement that is looked at
  std::vector<Mutation> found_;
  std::vector<const For*> loops_;  // null: of a branch
};

// ---- PTX.

// An instruction of a line: " @%p1 bra  $L__BB0_3;" and the like, one a line.
struct Line {
  std::string before, guard, opcode, operands;  // space; "@%p1 " or nothing; "ld.global.f32"; behind it, to the `;`
  std::string text() const { return fmt::format("{}{}{} {};", before, guard, opcode, operands); }
  bool is(std::string_view head) const { return opcode.rfind(head, 0) == 0; }
};

std::optional<Line> instruction(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t"), end = line.find(';');
  if (begin == line.npos || end == line.npos || line.find(';', end + 1) != line.npos) return std::nullopt;
  Line out;
  out.before = line.substr(0, begin);
  line = line.substr(begin, end - begin);
  if (line[0] == '@') {
    const size_t space = line.find_first_of(" \t");
    if (space == line.npos) return std::nullopt;
    out.guard = std::string(line.substr(0, space)) + " ";
    line.remove_prefix(std::min(line.find_first_not_of(" \t", space), line.size()));
  }
  if (line.empty() || line[0] < 'a' || line[0] > 'z') return std::nullopt;
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  out.opcode = line.substr(0, space);
  const size_t rest = line.find_first_not_of(" \t", space);
  if (rest != line.npos) out.operands = line.substr(rest);
  return out;
}

// "%r1, %r2, 5": the last operand, where it is a whole number.
std::optional<int64_t> last_number(const std::string& operands, size_t& at) {
  const size_t comma = operands.rfind(',');
  if (comma == operands.npos) return std::nullopt;
  at = operands.find_first_not_of(' ', comma + 1);
  if (at == operands.npos) return std::nullopt;
  const std::string word = operands.substr(at);
  if (word.find_first_not_of("-0123456789") != word.npos) return std::nullopt;
  return std::stoll(word);
}

// Bytes that a load or store moves: of "ld.global.nc.v4.f32" 16.
int bytes_of(const std::string& opcode) {
  int out = 0, vector = 1;
  std::istringstream words(opcode);
  for (std::string word; std::getline(words, word, '.');) {
    if (word == "v2" || word == "v4") vector = word[1] - '0';
    if (word.size() >= 2 && std::string_view("bfus").find(word[0]) != std::string_view::npos)
      if (word.find_first_not_of("0123456789", 1) == word.npos) out = std::stoi(word.substr(1)) / 8;
  }
  return out * vector;
}

class PtxMutations {
 public:
  PtxMutations(std::string_view ptx, std::optional<size_t> wanted, bool traps)
      : ptx_(ptx), wanted_(wanted), traps_(traps) {}

  std::vector<Mutation> walk() {
    std::istringstream in{std::string(ptx_)};
    bool body = false;
    for (std::string text; std::getline(in, text);) {
      if (!text.empty() && text[0] == '{') body = true;
      if (!text.empty() && text[0] == '}') body = false;
      const auto line = body ? instruction(text) : std::nullopt;
      if (line) look(*line);
      out_ += changed_ ? *changed_ : text;
      out_ += '\n';
      changed_.reset();
    }
    return std::move(found_);
  }
  std::string text() { return std::move(out_); }

 private:
  void may(std::string_view kind, const Line& was, const Line& becomes) { may(kind, was, becomes.text()); }
  void may(std::string_view kind, const Line& was, std::string becomes) {
    found_.push_back({std::string(kind), was.text().substr(was.before.size())});
    if (wanted_ == found_.size() - 1) changed_ = traps_ ? "\ttrap;\n" + was.text() : std::move(becomes);
  }

  void look(const Line& line) {
    if (!line.guard.empty()) {
      Line to = line;
      to.guard.clear();
      may("predicate dropped", line, to);
      to.guard = line.guard[1] == '!' ? "@" + line.guard.substr(2) : "@!" + line.guard.substr(1);
      may("predicate turned round", line, to);
    }
    if (line.is("bar")) may("barrier deleted", line, std::string());
    if (line.is("bar.sync") || line.is("barrier.sync"))
      may("block waits as warps", line, "\tbar.warp.sync 0xffffffff;");
    if (line.is("membar") || line.is("fence")) {
      may("fence deleted", line, std::string());
      may("fence of the block", line, "\tmembar.cta;");
    }
    if (line.is("shfl")) shuffle(line);
    if (line.is("ld.") || line.is("st.")) access(line);
    if (line.is("st.")) may("store deleted", line, std::string());
    stride(line);
  }

  void shuffle(const Line& line) {
    // "%r1|%p1, %r2, 16, 31, -1"
    std::vector<std::string> parts;
    std::istringstream in(line.operands);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    if (parts.size() != 5) return;
    const auto with = [&](size_t which, const std::string& what) {
      auto changed = parts;
      changed[which] = what;
      Line to = line;
      to.operands = fmt::format("{}", fmt::join(changed, ","));
      return to;
    };
    const int64_t by = parts[2].find('%') == std::string::npos ? std::stoll(parts[2]) : 0;
    if (by != 0) may("shuffle by others", line, with(2, fmt::format(" {}", by == 1 ? 2 : by / 2)));
    may("lane mask changed", line, with(4, " 0x7fffffff"));
  }

  void access(const Line& line) {
    const size_t open = line.operands.find('['), close = line.operands.find(']');
    const int bytes = bytes_of(line.opcode);
    if (open == std::string::npos || close == std::string::npos || bytes == 0 || line.is("ld.param")) return;
    const size_t plus = line.operands.find('+', open);
    const int64_t offset = plus < close ? std::stoll(line.operands.substr(plus + 1, close - plus - 1)) : 0;
    Line to = line;
    const std::string base = line.operands.substr(open + 1, std::min(plus, close) - open - 1);
    to.operands = fmt::format("{}[{}+{}]{}", line.operands.substr(0, open), base, offset + bytes,
                              line.operands.substr(close + 1));
    may("address shifted", line, to);
  }

  void stride(const Line& line) {
    size_t at = 0;
    const auto number = last_number(line.operands, at);
    if (!number || !(line.is("mul.") || line.is("mad.") || line.is("shl."))) return;
    Line to = line;
    to.operands = line.operands.substr(0, at) + std::to_string(*number + 1);
    may("stride changed", line, to);
  }

  const std::string_view ptx_;
  const std::optional<size_t> wanted_;
  const bool traps_;
  std::vector<Mutation> found_;
  std::optional<std::string> changed_;
  std::string out_;
};

}  // namespace

std::vector<Mutation> mutations(const Kernel& kernel) {
  Kernel copy = clone(kernel);
  return KernelMutations(copy, std::nullopt, false).walk();
}

void mutate(Kernel& kernel, size_t which, bool traps) { KernelMutations(kernel, which, traps).walk(); }

std::vector<Mutation> mutations(std::string_view ptx) { return PtxMutations(ptx, std::nullopt, false).walk(); }

std::string mutated(std::string_view ptx, size_t which, bool traps) {
  PtxMutations walk(ptx, which, traps);
  walk.walk();
  return walk.text();
}

std::vector<size_t> draw_mutations(const std::vector<Mutation>& from, size_t most, uint64_t seed) {
  std::map<std::string, std::vector<size_t>> kinds;
  for (size_t i = 0; i < from.size(); ++i) kinds[from[i].kind].push_back(i);
  std::mt19937_64 random(seed);
  for (auto& [kind, sites] : kinds) std::shuffle(sites.begin(), sites.end(), random);
  std::vector<size_t> out;
  for (bool more = true; more && out.size() < most;) {
    more = false;
    for (auto& [kind, sites] : kinds) {
      if (sites.empty() || out.size() == most) continue;
      out.push_back(sites.back());
      sites.pop_back();
      more = true;
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace plait::testing
