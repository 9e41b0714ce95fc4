#include "shard/picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/svg.h"
#include "base/text.h"
#include "shard/assign.h"
#include "shard/moves.h"
#include "shard/reshard_plan.h"

namespace plait {
namespace {

constexpr int kLabels = 250, kColumn = 96, kRow = 50, kHead = 64, kMostWide = 76, kMostHigh = 38, kLine = 6;
constexpr int64_t kUnknownExtent = 8, kMostCounted = int64_t{1} << 16;

constexpr const char* kStyle =
    "<style>svg{font:12px system-ui,sans-serif;background:#fff}text{fill:#1b1f24}.small{font-size:10px;fill:#57606a}"
    ".all{fill:none;stroke:#8c959f}.own{fill:#4f8fd9}.whole{fill:#cfe1f7}.pending{fill:url(#pending)}"
    ".band{fill:#fff3d6}.free{fill:#eef1f4}.team{stroke:#c2410c;stroke-width:1.5}.member{fill:#c2410c}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.small{fill:#9198a1}.all{stroke:#"
    "6e7681}"
    ".own{fill:#3f7fca}.whole{fill:#1d3557}.band{fill:#3a2c0a}.free{fill:#1b2129}}</style>"
    "<defs><pattern id=\"pending\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"3\" height=\"6\" fill=\"#c2410c\"/></pattern></defs>\n";

struct Run {
  int64_t start = 0, count = 0;
};

class Picture {
 public:
  Picture(const Fusion& fusion, const DeviceMesh& mesh)
      : fusion_(fusion), mesh_(mesh), ranks_(std::min(mesh.ranks(), kMostDrawnRanks)) {
    for (ShardMove& move : shard_moves(fusion)) moves_[move.result].push_back(std::move(move));
  }

  std::string run() {
    draw_head();
    size_t drawn = 0;
    std::vector<TensorView*> tensors = fusion_.tensors();
    std::erase_if(tensors, [&](const TensorView* t) {
      const bool has_part = moves_.contains(t) || !held_layout(*t).partial.empty();
      return t->rank() == 0 && t->definition && !fusion_.is_output(t) && !has_part;
    });
    for (; drawn < std::min(tensors.size(), kMostDrawnTensors); ++drawn) {
      if (const auto found = moves_.find(tensors[drawn]); found != moves_.end())
        for (const ShardMove& move : found->second) draw_move(move);
      draw_tensor(*tensors[drawn]);
    }
    if (drawn < tensors.size()) {
      body_ += svg_text(8, y_ + 18, fmt::format("{} more tensors", tensors.size() - drawn), 60, " class=\"small\"");
      y_ += 26;
    }
    const int width = kLabels + static_cast<int>(ranks_) * kColumn + 16;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
        "<title>{2}</title>\n{3}{4}</svg>\n",
        width, y_ + 8, svg_escaped("@" + fusion_.name()), kStyle, body_);
  }

 private:
  int column(int64_t rank) const { return kLabels + static_cast<int>(rank) * kColumn; }
  int width() const { return kLabels + static_cast<int>(ranks_) * kColumn; }

  void draw_head() {
    std::string axes;
    for (size_t i = 0; i < fusion_.mesh().axes().size(); ++i)
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", fusion_.mesh().axes()[i].name,
                          mesh_.size(static_cast<int>(i)));
    body_ += svg_text(8, 20, "@" + fusion_.name(), 34, " font-weight=\"bold\"");
    body_ += svg_text(8, 36, "mesh " + axes, 40, " class=\"small\"");
    if (mesh_.ranks() > ranks_)
      body_ += svg_text(8, 50, fmt::format("{} of {} ranks", ranks_, mesh_.ranks()), 40, " class=\"small\"");
    for (int64_t r = 0; r < ranks_; ++r) {
      std::string at;
      const std::vector<int64_t> coordinates = mesh_.coordinates(r);
      for (size_t i = 0; i < coordinates.size(); ++i)
        at += fmt::format("{}{} {}", at.empty() ? "" : ", ", fusion_.mesh().axes()[i].name, coordinates[i]);
      body_ += svg_text(column(r), 20, fmt::format("rank {}", r), 12);
      body_ += svg_text(column(r), 36, at, 16, " class=\"small\"");
    }
    y_ = kHead;
  }

  int64_t extent_of(const TensorView& t, size_t d) const {
    return std::max<int64_t>(0, at_defaults(fusion_, t.extent(d)).value_or(kUnknownExtent));
  }

  // At most two dims, in their order: those that are cut, then the longest.
  std::vector<size_t> shown_dims(const TensorView& t) const {
    std::vector<size_t> dims(t.rank());
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = d;
    const auto is_cut = [&](size_t d) { return !held_layout(t).dims[d].pieces.empty(); };
    std::ranges::stable_sort(dims, [&](size_t a, size_t b) {
      return is_cut(a) != is_cut(b) ? is_cut(a) : !is_cut(a) && extent_of(t, a) > extent_of(t, b);
    });
    dims.resize(std::min<size_t>(dims.size(), 2));
    std::ranges::sort(dims);
    return dims;
  }

  // What a rank holds of a dim, as ranges of so many elements, which become fewer where there are very many.
  std::vector<Run> runs(const TensorView& t, size_t dim, int64_t rank, int64_t& extent) const {
    DimLayout layout = held_layout(t).dims[dim];
    const int64_t step = (extent + kMostCounted - 1) / kMostCounted;
    if (step > 1) {
      extent /= step;
      for (Piece& p : layout.pieces) p.granule = std::max<int64_t>(1, p.granule / step);
      for (const Piece& p : layout.pieces)
        if (p.is_local()) extent = std::max<int64_t>(1, extent / p.local) * p.local;
    }
    std::vector<Run> out;
    try {
      for (int64_t i : owned_indices(extent, layout, mesh_, mesh_.coordinates(rank), "")) {
        if (out.empty() || out.back().start + out.back().count != i) out.push_back({i, 0});
        ++out.back().count;
      }
    } catch (const UserError&) {  // local pieces that do not divide the extent
      out = {{0, extent}};
    }
    if (out.size() > kMostDrawnRuns) out.resize(kMostDrawnRuns);
    return out;
  }

  static int length(int64_t extent, int most) {
    return std::min(most, 10 + static_cast<int>(6 * std::log2(1.0 + static_cast<double>(extent))));
  }

  void draw_tensor(const TensorView& t) {
    const Layout& layout = held_layout(t);
    body_ += svg_text(8, y_ + 16, "%" + t.name, 34, " font-weight=\"bold\"");
    body_ += svg_text(8, y_ + 31, type_text(t) + " " + print(layout, fusion_.mesh()), 46, " class=\"small\"");
    const std::vector<size_t> dims = shown_dims(t);
    for (int64_t r = 0; r < ranks_; ++r) draw_box(t, dims, r);
    y_ += kRow;
  }

  void draw_box(const TensorView& t, const std::vector<size_t>& dims, int64_t rank) {
    const Layout& layout = held_layout(t);
    int64_t extents[] = {1, 1};
    std::vector<Run> held[] = {{{0, 1}}, {{0, 1}}};
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t at = i + 2 - dims.size();
      extents[at] = extent_of(t, dims[i]);
      held[at] = runs(t, dims[i], rank, extents[at]);
    }
    const int high = dims.size() < 2 ? 14 : length(extents[0], kMostHigh), wide = length(extents[1], kMostWide);
    const int x = column(rank), y = y_ + 4;
    const bool cut = std::ranges::any_of(layout.dims, [](const DimLayout& d) { return !d.pieces.empty(); });
    const auto scaled = [](int64_t value, int64_t extent, int length) {
      return static_cast<double>(value) / static_cast<double>(std::max<int64_t>(extent, 1)) * length;
    };
    std::string what;
    for (const Run& down : held[0])
      for (const Run& across : held[1]) {
        const std::string place =
            fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"",
                        x + scaled(across.start, extents[1], wide), y + scaled(down.start, extents[0], high),
                        scaled(across.count, extents[1], wide), scaled(down.count, extents[0], high));
        what += fmt::format("<rect {} class=\"{}\"/>", place, cut ? "own" : "whole");
        if (!layout.partial.empty()) what += fmt::format("<rect {} class=\"pending\"/>", place);
      }
    body_ +=
        fmt::format("<g>{}<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"all\"/><title>{}</title></g>\n",
                    what, x, y, wide, high, svg_escaped(title_of(t, dims, held, rank)));
  }

  static std::string title_of(const TensorView& t, const std::vector<size_t>& dims, const std::vector<Run>* held,
                              int64_t rank) {
    std::string out = fmt::format("rank {} of %{}", rank, t.name);
    for (size_t i = 0; i < dims.size(); ++i) {
      out += fmt::format("; dim {}: ", dims[i]);
      const std::vector<Run>& all = held[i + 2 - dims.size()];
      for (size_t k = 0; k < all.size(); ++k)
        out += fmt::format("{}{} to {}", k == 0 ? "" : ", ", all[k].start, all[k].start + all[k].count);
      if (all.empty()) out += "nothing";
    }
    for (const auto& [axis, reduce] : held_layout(t).partial)
      out += fmt::format("; the {} over {} is pending", name(reduce),
                         t.fusion->mesh().axes()[static_cast<size_t>(axis)].name);
    return out;
  }

  // A band with what moves, and below it a line for each team that is drawn.
  void draw_move(const ShardMove& move) {
    std::set<std::vector<int64_t>> teams;
    for (int64_t r = 0; r < ranks_ && move.exchanges; ++r) teams.insert(mesh_.team(r, move.team));
    const int high = 22 + static_cast<int>(teams.size()) * kLine;
    const auto bytes = at_defaults(fusion_, move.bytes);
    body_ += fmt::format("<rect x=\"4\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n", y_, width() + 4, high,
                         move.exchanges ? "band" : "free");
    body_ += svg_text(8, y_ + 15,
                      fmt::format("{}, {}{}{}", move.step, bytes ? bytes_text(*bytes) : sym::print(move.bytes) + " B",
                                  move.cause.empty() ? "" : ": ", move.cause),
                      static_cast<size_t>(width() / 6));
    int y = y_ + 22;
    for (const std::vector<int64_t>& team : teams) {
      std::string members;
      int last = column(team.front());
      for (int64_t r : team) {
        if (r >= ranks_) continue;
        last = column(r);
        members += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"2.5\" class=\"member\"/>", column(r) + 12, y);
      }
      body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"team\"/>{}\n",
                           column(team.front()) + 12, y, last + 12, y, members);
      y += kLine;
    }
    y_ += high + 4;
  }

  const Fusion& fusion_;
  const DeviceMesh& mesh_;
  const int64_t ranks_;
  std::map<const TensorView*, std::vector<ShardMove>> moves_;  // by what they make; never iterated
  std::string body_;
  int y_ = 0;
};

}  // namespace

std::string sharding_picture(const Fusion& sharded, const DeviceMesh& mesh) { return Picture(sharded, mesh).run(); }

}  // namespace plait
