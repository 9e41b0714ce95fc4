#include "kir/join.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "kir/passes/edit.h"

namespace plait::kir {

namespace {

// Makes the statements of a part those of the whole.
class PartWriter {
 public:
  // `places`: of all buffers of the part in the whole; `next_symbol`: of the whole, names before it are taken.
  PartWriter(Kernel& whole, const JoinPart& part, const std::vector<uint32_t>& places, uint32_t first_value,
             size_t& next_symbol)
      : whole_(whole), from_(*part.kernel.pool), places_(places), first_value_(first_value), next_symbol_(next_symbol) {
    PLAIT_CHECK(part.integers.size() == part.kernel.integers.size(), "integers of a part of {}", whole.name);
    for (size_t i = 0; i < part.integers.size(); ++i) names_[part.kernel.integers[i].symbol_name()] = part.integers[i];
    if (const sym::Expr lane = whole.pool->find_symbol(kLane)) names_[kLane] = lane;
  }

  sym::Expr operator()(sym::Expr e) const { return e ? sym::substitute(*whole_.pool, e, names_) : e; }

  void block(Block& body) {
    for (auto& stmt : body) rewrite(*stmt);
  }

 private:
  // The symbol that a statement of the part defines.
  sym::Expr symbol(sym::Expr var) {
    const auto [known, fresh] = names_.try_emplace(var.symbol_name());
    if (!fresh) return known->second;
    sym::SymbolInfo facts = from_.info(var);
    if (facts.below) facts.below = (*this)(facts.below);
    std::string name;
    do name = fmt::format("i{}", next_symbol_++);
    while (whole_.pool->find_symbol(name));
    return known->second = whole_.pool->symbol(name, facts);
  }

  void rewrite(Stmt& stmt) {
    edit_fields(stmt, [&](const auto& field, auto& member) {
      using T = std::remove_cvref_t<decltype(member)>;
      if constexpr (std::is_same_v<T, sym::Expr>)
        member = field.name == std::string_view("var") ? symbol(member) : (*this)(member);
    });
    const auto moved = [&](Value v) {
      v.id += first_value_;
      return v;
    };
    edit_operands(stmt, moved);
    edit_results(stmt, moved);
    for (uint32_t* buffer : buffers_of(stmt)) *buffer = places_[*buffer];
    if (Block* body = body_of(stmt)) block(*body);
  }

  Kernel& whole_;
  const sym::Pool& from_;
  const std::vector<uint32_t>& places_;
  const uint32_t first_value_;
  size_t& next_symbol_;
  std::map<std::string, sym::Expr> names_;
};

// One symbol of all lanes, of which holds what holds in each part.
void make_lane(Kernel& whole, const std::vector<JoinPart>& parts) {
  std::optional<sym::SymbolInfo> facts;
  for (const JoinPart& part : parts) {
    const sym::Expr lane = part.kernel.pool->find_symbol(kLane);
    if (!lane) continue;
    const sym::SymbolInfo& own = part.kernel.pool->info(lane);
    if (!facts) {
      facts = {.lo = own.lo, .hi = own.hi};
      continue;
    }
    facts->lo = facts->lo && own.lo ? std::optional(std::min(*facts->lo, *own.lo)) : std::nullopt;
    facts->hi = facts->hi && own.hi ? std::optional(std::max(*facts->hi, *own.hi)) : std::nullopt;
  }
  if (facts) whole.pool->symbol(kLane, *facts);
}

class Joiner {
 public:
  Joiner(Kernel& whole, std::vector<JoinPart> parts) : whole_(whole), parts_(std::move(parts)) {
    for (const Buffer& buffer : whole.buffers) names_.insert(buffer.name);
  }

  void run() {
    make_lane(whole_, parts_);
    place_buffers();
    uint32_t values = 0;
    size_t next_symbol = 0;
    std::vector<std::vector<Phase>> waves;
    for (size_t p = 0; p < parts_.size(); ++p) {
      JoinPart& part = parts_[p];
      PartWriter writer(whole_, part, places_[p], values, next_symbol);
      values += next_value_id(part.kernel);
      for (size_t b = 0; b < part.kernel.buffers.size(); ++b) {
        Buffer& buffer = whole_.buffers[places_[p][b]];
        if (!buffer.extent) buffer.extent = writer(part.kernel.buffers[b].extent);
      }
      PLAIT_CHECK(part.waves.size() == kir::waves(part.kernel).size(), "waves of a part of {}", whole_.name);
      size_t own = 0;
      for (Phase& phase : part.kernel.phases) {
        if (&phase != &part.kernel.phases.front() && !phase.beside) ++own;
        const size_t wave = part.waves[own];
        if (waves.size() <= wave) waves.resize(wave + 1);
        writer.block(phase.body);
        phase.beside = !waves[wave].empty();
        waves[wave].push_back(std::move(phase));
      }
    }
    whole_.phases.clear();
    for (std::vector<Phase>& wave : waves)
      for (Phase& phase : wave) whole_.phases.push_back(std::move(phase));
  }

 private:
  void place_buffers() {
    for (const JoinPart& part : parts_) places_.push_back(part.arguments);
    for (const Space space : {Space::workspace, Space::counter, Space::stack})
      for (size_t p = 0; p < parts_.size(); ++p)
        for (size_t b = parts_[p].arguments.size(); b < parts_[p].kernel.buffers.size(); ++b) {
          const Buffer& buffer = parts_[p].kernel.buffers[b];
          if (std::min(buffer.space, Space::stack) != space) continue;  // shared ones among those of the stack
          places_[p].resize(parts_[p].kernel.buffers.size());
          places_[p][b] = add(buffer);
        }
  }

  uint32_t add(Buffer buffer) {
    const std::string hint = buffer.name;
    while (!names_.insert(buffer.name).second) buffer.name = fmt::format("{}_{}", hint, ++tries_[hint] + 1);
    buffer.extent = {};
    whole_.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(whole_.buffers.size() - 1);
  }

  Kernel& whole_;
  std::vector<JoinPart> parts_;
  std::vector<std::vector<uint32_t>> places_;
  std::set<std::string> names_;
  std::map<std::string, int> tries_;  // by hint: the last number behind it, less 1
};

}  // namespace

void join(Kernel& whole, std::vector<JoinPart> parts) { Joiner(whole, std::move(parts)).run(); }

}  // namespace plait::kir
