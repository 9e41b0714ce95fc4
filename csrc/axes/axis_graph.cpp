#include "axes/axis_graph.h"

#include "base/error.h"

namespace plait {

void AxisGraph::log(LogEntry entry) {
  log_.push_back(entry);
  ++version_;
}

void AxisGraph::note_symbols(sym::Expr e) {
  if (!e.is_constant() && noted_.insert(e.id()).second) sym::symbols(e, symbols_);
}

int AxisGraph::axis(sym::Expr extent) {
  note_symbols(extent);
  axes_.push_back({extent, -1, 1, {}});
  log({Change::axis});
  return static_cast<int>(axes_.size()) - 1;
}

// No path compression: unions can be undone. Union by size keeps paths short.
int AxisGraph::find(int axis) const {
  while (axes_[static_cast<size_t>(axis)].parent >= 0) axis = axes_[static_cast<size_t>(axis)].parent;
  return axis;
}

bool AxisGraph::same_extent(int a, int b) const {
  const sym::Expr x = extent(a), y = extent(b);
  return x == y || sym::proven(sym::eq(x, y));
}

// First key: what determines the whole (fold) or the parts (cover); second key: the other direction. Extents belong to
// the second key: [6, 4] and [4, 6] may flatten to one class of 24 and keep four different factors.
std::array<AxisGraph::Key, 2> AxisGraph::keys(const Relation& r) const {
  const auto id = [&](int c) { return static_cast<uint64_t>(find(c)); };
  const auto size = [&](int c) { return extent(c).id(); };
  if (r.kind == RelationKind::fold)
    return {Key{0, id(r.outer), id(r.inner), 0, 0}, Key{1, id(r.whole), size(r.outer), size(r.inner), 0}};
  if (r.kind == RelationKind::shift)
    return {Key{4, id(r.whole), r.low.id(), size(r.outer), 0}, Key{5, id(r.outer), r.low.id(), size(r.whole), 0}};
  return {Key{2, id(r.whole), size(r.outer), size(r.inner), 0}, Key{3, id(r.outer), id(r.inner), size(r.whole), 0}};
}

int AxisGraph::lookup(const Key& key) const {
  const auto it = table_.find(key);
  return it != table_.end() && it->second >= 0 && !relation(it->second).dead ? it->second : -1;
}

void AxisGraph::set_entry(const Key& key, int id) {
  const auto [it, inserted] = table_.try_emplace(key, id);
  log({Change::entry, inserted ? -1 : it->second, 0, key});
  it->second = id;
}

void AxisGraph::want(int a, int b) {
  if (find(a) != find(b)) todo_.emplace_back(a, b);
}

// States a relation under its present keys. A hit means that the two relations are one: their members unite.
void AxisGraph::enter(int id) {
  Relation& r = relations_[static_cast<size_t>(id)];
  int same = -1;
  const auto both = keys(r);
  for (const Key& key : both) {
    const int other = lookup(key);
    if (other < 0 || other == id) continue;
    const Relation& o = relation(other);
    want(o.outer, r.outer);
    if (r.inner >= 0) want(o.inner, r.inner);
    want(o.whole, r.whole);
    same = other;
  }
  for (const Key& key : both) {
    const int other = lookup(key);
    if (other < 0 || other == id) set_entry(key, same < 0 ? id : same);
  }
  if (same >= 0) {
    r.dead = true;
    log({Change::death, id});
  }
  if (r.kind == RelationKind::fold) {
    if (unit(r.outer)) want(r.whole, r.inner);
    if (unit(r.inner)) want(r.whole, r.outer);
  }
  if (r.kind == RelationKind::shift && r.low.constant() == 0 && same_extent(r.outer, r.whole)) want(r.outer, r.whole);
}

void AxisGraph::join(int a, int b) {
  PLAIT_CHECK(same_extent(a, b), "classes of extents {} and {} cannot be one", print(extent(a)), print(extent(b)));
  Node* from = &axes_[static_cast<size_t>(a)];
  Node* to = &axes_[static_cast<size_t>(b)];
  if (from->size > to->size) {
    std::swap(a, b);
    std::swap(from, to);
  }
  log({Change::parent, a, b});
  log({Change::uses, b, static_cast<int>(to->uses.size())});
  from->parent = b;
  to->size += from->size;
  for (int id : from->uses)
    if (!relation(id).dead) to->uses.push_back(id);
  const std::vector<int> moved = from->uses;
  for (int id : moved)
    if (!relation(id).dead) enter(id);
}

void AxisGraph::drain() {
  while (!todo_.empty()) {
    const auto [x, y] = todo_.back();
    todo_.pop_back();
    const int a = find(x), b = find(y);
    if (a != b) join(a, b);
  }
}

void AxisGraph::unite(int a, int b) {
  want(a, b);
  drain();
}

int AxisGraph::add_relation(Relation r) {
  const int id = static_cast<int>(relations_.size());
  relations_.push_back(r);
  log({Change::relation});
  for (int c : {r.outer, r.inner, r.whole}) {
    if (c < 0) continue;
    const int cls = find(c);
    auto& uses = axes_[static_cast<size_t>(cls)].uses;
    log({Change::uses, cls, static_cast<int>(uses.size())});
    uses.push_back(id);
  }
  enter(id);
  drain();
  return id;
}

int AxisGraph::merge(int outer, int inner) {
  outer = find(outer);
  inner = find(inner);
  if (unit(outer)) return inner;
  if (unit(inner)) return outer;
  Relation r{RelationKind::fold, outer, inner, -1};
  const int known = lookup(Key{0, static_cast<uint64_t>(outer), static_cast<uint64_t>(inner), 0, 0});
  if (known >= 0) return find(relation(known).whole);
  r.whole = axis(extent(outer) * extent(inner));
  add_relation(r);
  return find(r.whole);
}

std::pair<int, int> AxisGraph::split(int whole, sym::Expr factor) {
  whole = find(whole);
  const sym::Expr size = extent(whole);
  const sym::Expr count = sym::ceildiv(size, factor);
  const bool assumed = std::find(ones_.begin(), ones_.end(), count) != ones_.end();
  const sym::Expr outer = assumed ? one() : count;
  const bool exact = !assumed && sym::proven(sym::eq(sym::mod(size, factor), 0));
  const Key key{exact ? 1u : 2u, static_cast<uint64_t>(whole), outer.id(), factor.id(), 0};
  const int known = lookup(key);
  if (known >= 0) return {find(relation(known).outer), find(relation(known).inner)};
  Relation r{exact ? RelationKind::fold : RelationKind::cover, axis(outer), axis(factor), whole};
  add_relation(r);
  return {find(r.outer), find(r.inner)};
}

// Extents are compared as numbers of the source and the target: target = source + low for `down`.
void AxisGraph::shift(int whole, int outer, sym::Expr low) {
  PLAIT_CHECK(!unit(whole) && !unit(outer), "a unit is no part of a shift");
  note_symbols(low);
  Relation r{RelationKind::shift, outer, -1, whole, low};
  for (const Direction d : {Direction::up, Direction::down}) {
    const bool down = d == Direction::down;
    const sym::Expr by = down ? low : -low, source = extent(down ? whole : outer),
                    target = extent(down ? outer : whole);
    r.shift_covers[static_cast<int>(d)] = sym::proven(sym::le(by, 0)) && sym::proven(sym::ge(by + source, target));
    r.shift_total[static_cast<int>(d)] = sym::proven(sym::ge(by, 0)) && sym::proven(sym::le(by + source, target));
  }
  add_relation(r);
}

void AxisGraph::rollback(size_t mark) {
  PLAIT_CHECK(todo_.empty(), "rollback within a union");
  ++version_;
  while (log_.size() > mark) {
    const LogEntry e = log_.back();
    log_.pop_back();
    switch (e.change) {
      case Change::axis:
        axes_.pop_back();
        break;
      case Change::relation:
        relations_.pop_back();
        break;
      case Change::parent:
        axes_[static_cast<size_t>(e.a)].parent = -1;
        axes_[static_cast<size_t>(e.b)].size -= axes_[static_cast<size_t>(e.a)].size;
        break;
      case Change::uses:
        axes_[static_cast<size_t>(e.a)].uses.resize(static_cast<size_t>(e.b));
        break;
      case Change::death:
        relations_[static_cast<size_t>(e.a)].dead = false;
        break;
      case Change::entry:
        if (e.a < 0)
          table_.erase(e.key);
        else
          table_[e.key] = e.a;
        break;
    }
  }
}

void AxisGraph::verify() const {
  std::map<Key, int> seen;
  for (size_t id = 0; id < relations_.size(); ++id) {
    const Relation& r = relations_[id];
    if (r.dead) continue;
    for (const Key& key : keys(r)) {
      const auto [it, fresh] = seen.emplace(key, static_cast<int>(id));
      PLAIT_CHECK(fresh, "relations {} and {} state one fact", it->second, id);
    }
    if (r.kind == RelationKind::shift) continue;
    const sym::Expr product = extent(r.outer) * extent(r.inner);
    const bool fits = r.kind == RelationKind::fold ? sym::prove(sym::eq(product, extent(r.whole))) != sym::Truth::no
                                                   : sym::prove(sym::lt(product, extent(r.whole))) != sym::Truth::yes;
    PLAIT_CHECK(fits, "relation {}: {} by {} does not make {}", id, print(extent(r.outer)), print(extent(r.inner)),
                print(extent(r.whole)));
  }
}

}  // namespace plait
