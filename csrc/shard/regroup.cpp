#include "shard/regroup.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/fusion.h"
#include "shard/normal_form.h"

namespace plait {

namespace {

using Lists = std::vector<std::vector<Piece>>;
using Known = std::vector<std::optional<int64_t>>;

bool is_mesh_piece(const Piece& p) { return !p.is_local(); }

// Elements in a step of each dim: the product of the extents behind it; nothing: one is not known.
Known steps_of(const Known& extents) {
  Known out(extents.size());
  std::optional<int64_t> step = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    out[d] = step;
    const bool known = step && extents[d] && *extents[d] > 0 && *step <= kMaxGranule / *extents[d];
    step = known ? std::optional(*step * *extents[d]) : std::nullopt;
  }
  return out;
}

std::string axis_name(const Piece& p, const Mesh& mesh) { return mesh.axes()[static_cast<size_t>(p.mesh_axis)].name; }

// One list for all dims of a run. Nothing, and why: what is left of a dim that others stand behind is not one length.
std::optional<std::vector<Piece>> joined(const RunDims& dims, const Mesh& mesh, std::string& why) {
  const Known steps = steps_of(dims.extents);
  std::vector<Piece> out;
  size_t last = dims.pieces.size();  // the last dim that is cut
  while (last > 0 && dims.pieces[last - 1].empty()) --last;
  for (size_t d = 0; d < last; ++d) {
    if (!steps[d]) {
      why = fmt::format("extents behind {} are not known", dims.name(d));
      return std::nullopt;
    }
    Extents left = dims.extents[d] ? Extents({*dims.extents[d]}) : std::nullopt;
    for (Piece p : dims.pieces[d]) {
      left = extents_behind(left, p, mesh);
      if (!p.is_local() && p.granule > kMaxGranule / *steps[d]) return std::nullopt;
      if (!p.is_local()) p.granule *= *steps[d];
      out.push_back(p);
    }
    if (d + 1 == last) break;
    if (left) left->erase(0);
    if (!left || left->size() != 1) {
      const std::string before = fmt::format("pieces of {} before it are", dims.name(d));
      why = left ? before + " of several lengths" : fmt::format("how long {} is not known", before);
      return std::nullopt;
    }
    out.push_back({.local = *left->begin()});
  }
  DimLayout list{std::move(out)};
  list.normalize();
  return list.pieces;
}

// Puts the pieces of a run into the lists of dims, from the first on.
class Split {
 public:
  Split(const RunDims& to, const Mesh& mesh)
      : to_(to), extents_(to.extents), steps_(steps_of(to.extents)), mesh_(mesh), lists_(to.extents.size()) {
    left_ = extents_.empty() || !extents_[0] ? std::nullopt : Extents({*extents_[0]});
  }

  bool take(const Piece& p) {
    if (lists_.empty()) return false;
    return p.is_local() ? take_parts(p.local) : take_mesh_piece(p);
  }

  RunDims dims() && {
    for (size_t d = 0; d < lists_.size(); ++d) lists_[d] = normal_pieces(extents_[d], std::move(lists_[d]), mesh_);
    return {to_.tensor, to_.first, extents_, std::move(lists_)};
  }

  const std::string& why() const { return why_; }

 private:
  // The one length of what ranks have that have any; nothing: there are several, or it is not known.
  std::optional<int64_t> one_length() const {
    if (!left_) return std::nullopt;
    Extents some = left_;
    some->erase(0);
    return some->size() == 1 ? std::optional(*some->begin()) : std::nullopt;
  }

  // To the dim behind, of which ranks with elements have all.
  bool go_on() {
    if (dim_ + 1 >= lists_.size()) return false;
    const bool empty = left_ && left_->contains(0);
    ++dim_;
    left_ = extents_[dim_] ? Extents({*extents_[dim_]}) : std::nullopt;
    if (left_ && empty) left_->insert(0);
    return true;
  }

  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool take_parts(int64_t parts) {
    while (parts > 1) {
      if (!left_) return refuse(fmt::format("how {} parts lie in {} is not known", parts, to_.name(dim_)));
      if (std::ranges::all_of(*left_, [&](int64_t n) { return n % parts == 0; })) {
        lists_[dim_].push_back({.local = parts});
        left_ = extents_behind(left_, lists_[dim_].back(), mesh_);
        return true;
      }
      const auto length = one_length();
      if (!length || parts % *length != 0 || dim_ + 1 >= lists_.size())
        return refuse(fmt::format("{} parts are no whole ones of {}", parts, to_.name(dim_)));
      if (*length > 1) lists_[dim_].push_back({.local = *length});
      parts /= *length;
      go_on();
    }
    return true;
  }

  // To the dim in whose steps it ends; a dim of which one element is left goes to one member, or the next dim is cut.
  bool take_mesh_piece(const Piece& p) {
    for (;;) {
      const std::optional<int64_t> step = steps_[dim_];
      if (!step) return refuse(fmt::format("extents behind {} are not known", to_.name(dim_)));
      Piece own = p;
      const auto granule = p.granule % *step == 0 ? std::optional(p.granule / *step) : granule_of(p, *step);
      if (granule) {
        own.granule = *granule;
        lists_[dim_].push_back(own);
        left_ = extents_behind(left_, own, mesh_);
        return true;
      }
      if (one_length() != 1 || !go_on())
        return refuse(fmt::format("a piece along {} may end within {} elements behind {}", axis_name(p, mesh_), *step,
                                  to_.name(dim_)));
    }
  }

  // With which the dim is cut where the piece cuts its steps.
  std::optional<int64_t> granule_of(const Piece& p, int64_t step) const {
    const auto members = known_members(mesh_, p.mesh_axis);
    if (!left_ || !members) return std::nullopt;
    std::map<int64_t, int64_t> chunks;
    for (int64_t n : *left_) {
      if (n > kMaxGranule / step) return std::nullopt;
      const int64_t chunk = chunk_size(n * step, *members, p.granule);
      if (chunk % step != 0) return std::nullopt;
      if (n > 0) chunks.emplace(n, chunk / step);
    }
    return least_granule(chunks, *members);
  }

  const RunDims& to_;
  const Known& extents_;
  const Known steps_;
  const Mesh& mesh_;
  Lists lists_;
  size_t dim_ = 0;
  Extents left_;  // of the dim that pieces go to
  std::string why_;
};

std::optional<RunDims> split(const std::vector<Piece>& list, const RunDims& to, const Mesh& mesh, std::string& why) {
  Split out(to, mesh);
  for (const Piece& p : list)
    if (!out.take(p)) {
      why = out.why();
      return std::nullopt;
    }
  return std::move(out).dims();
}

// The outermost mesh pieces, so many.
RunDims first_of(const RunDims& dims, size_t count) {
  RunDims out = {dims.tensor, dims.first, dims.extents, Lists(dims.pieces.size())};
  for (size_t d = 0; d < dims.pieces.size() && count > 0; ++d) {
    DimLayout list;
    for (const Piece& p : dims.pieces[d]) {
      if (count == 0) break;
      list.pieces.push_back(p);
      count -= is_mesh_piece(p);
    }
    list.normalize();
    out.pieces[d] = std::move(list.pieces);
  }
  return out;
}

}  // namespace

size_t RunDims::mesh_pieces() const {
  size_t out = 0;
  for (const auto& list : pieces) out += static_cast<size_t>(std::ranges::count_if(list, is_mesh_piece));
  return out;
}

std::string RunDims::name(size_t dim) const { return fmt::format("%{} dim {}", tensor, first + dim); }

Regrouped regroup(const RunDims& dims, RunDims other, const Mesh& mesh) {
  Regrouped out;
  for (size_t count = dims.mesh_pieces(); count > 0; --count) {
    RunDims kept = first_of(dims, count);
    std::string why = fmt::format("it cannot be told from other pieces of %{}", other.tensor), ignored;
    const auto list = joined(kept, mesh, why);
    auto made = list ? split(*list, other, mesh, why) : std::nullopt;
    const auto back = made && made->mesh_pieces() == count ? joined(*made, mesh, ignored) : std::nullopt;
    const auto again = back ? split(*back, dims, mesh, ignored) : std::nullopt;
    if (again && again->pieces == kept.pieces) {
      out.kept = std::move(kept);
      out.made = std::move(*made);
      return out;
    }
    out.why = std::move(why);
  }
  out.kept = first_of(dims, 0);
  other.pieces.assign(other.extents.size(), {});
  out.made = std::move(other);
  return out;
}

bool regroups(const Reshape& op, const ReshapeRun& run) {
  const auto known = [](const TensorView& t, size_t first, size_t end) {
    Known extents;
    for (size_t d = first; d < end; ++d) extents.push_back(t.extent(d).constant());
    const bool empty = !extents.empty() && extents[0] == 0;
    return !empty && std::ranges::all_of(steps_of(extents), [](const auto& step) { return step.has_value(); });
  };
  return !run.is_one_dim() && known(*op.in, run.in, run.in_end) && known(*op.out(), run.out, run.out_end);
}

Regrouped regroup(const Reshape& op, const ReshapeRun& run, bool of_result, const Layout& layout,
                  const std::set<int>& without) {
  const Mesh& mesh = op.in->fusion->mesh();
  const auto dims_of = [](const TensorView& t, size_t first, size_t end) {
    RunDims out;
    out.tensor = t.name, out.first = first;
    for (size_t d = first; d < end; ++d) out.extents.push_back(t.extent(d).constant());
    return out;
  };
  RunDims dims = dims_of(*op.in, run.in, run.in_end), other = dims_of(*op.out(), run.out, run.out_end);
  if (of_result) std::swap(dims, other);
  for (size_t d = 0; d < dims.extents.size(); ++d) {
    std::vector<Piece> list = layout.dims[dims.first + d].pieces;
    std::erase_if(list, [&](const Piece& p) { return !p.is_local() && without.contains(p.mesh_axis); });
    dims.pieces.push_back(normal_pieces(dims.extents[d], std::move(list), mesh));
  }
  return regroup(dims, std::move(other), mesh);
}

}  // namespace plait
