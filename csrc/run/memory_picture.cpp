#include "run/memory_picture.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/svg.h"
#include "base/text.h"
#include "device/tensor.h"
#include "run/memory_plan.h"

namespace plait {
namespace {

constexpr int kLeft = 84, kTop = 58, kProfile = 64, kArena = 260, kGap = 14, kWide = 820, kNamed = 10;
constexpr size_t kMostListed = 40;

constexpr const char* kStyle =
    "<style>svg{font:12px system-ui,sans-serif;background:#fff}text{fill:#1b1f24}.small{font-size:10px;fill:#57606a}"
    ".frame{fill:none;stroke:#8c959f}.profile{fill:#cfe1f7}.peak{fill:#fff3d6}.b0{fill:#4f8fd9}.b1{fill:#79a8e0}"
    ".b2{fill:#3f6fae}.b3{fill:#9dc1ec}.buffer{stroke:#fff;stroke-width:.5}.name{font-size:10px;fill:#fff}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.small{fill:#9198a1}"
    ".frame{stroke:#6e7681}.profile{fill:#1d3557}.peak{fill:#3a2c0a}.buffer{stroke:#0d1117}}</style>\n";

// What is alive at once.
struct Alive {
  std::vector<int64_t> bytes;   // by step of the list
  size_t peak = 0;              // the first step with the most
  std::vector<size_t> at_peak;  // values, the largest first
};

int64_t aligned(int64_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

Alive alive_of(const Program& program, const std::vector<Lifetime>& lives, const RankBinding& rank) {
  Alive out;
  out.bytes.assign(program.steps.size() + 1, 0);
  for (size_t v = 0; v < lives.size(); ++v) {
    if (lives[v].empty()) continue;
    out.bytes[static_cast<size_t>(lives[v].first)] += aligned(rank.bytes[v]);
    out.bytes[static_cast<size_t>(lives[v].last) + 1] -= aligned(rank.bytes[v]);
  }
  for (size_t s = 1; s < out.bytes.size(); ++s) out.bytes[s] += out.bytes[s - 1];
  out.bytes.pop_back();
  out.peak = static_cast<size_t>(std::max_element(out.bytes.begin(), out.bytes.end()) - out.bytes.begin());
  for (size_t v = 0; v < lives.size(); ++v)
    if (!lives[v].empty() && rank.bytes[v] > 0 && lives[v].first <= static_cast<int64_t>(out.peak) &&
        static_cast<int64_t>(out.peak) <= lives[v].last)
      out.at_peak.push_back(v);
  std::ranges::stable_sort(out.at_peak, [&](size_t a, size_t b) { return rank.bytes[a] > rank.bytes[b]; });
  return out;
}

std::string head_of(const std::string& ranks, const RankBinding& rank) {
  return fmt::format("{}: arena {} (at most {} alive at once), inputs {}, outputs {}, peak {}", ranks,
                     bytes_text(rank.memory.arena_bytes), bytes_text(rank.memory.live_bytes),
                     bytes_text(rank.input_bytes), bytes_text(rank.output_bytes), bytes_text(rank.peak_bytes()));
}

std::string peak_text(const Program& program, const Alive& alive) {
  if (alive.at_peak.empty()) return "no temporaries";
  return fmt::format("most are alive at step {}: {}", alive.peak, describe(program, *program.steps[alive.peak]));
}

class Picture {
 public:
  explicit Picture(const Program& program) : program_(program), lives_(lifetimes(program)) {}

  std::string run(RankValues& values) {
    const std::vector<RankMemoryClass> classes = memory_classes(program_, values);
    const size_t drawn = std::min(classes.size(), kMostDrawnClasses);
    for (size_t c = 0; c < drawn; ++c) draw(classes[c]);
    if (drawn < classes.size()) line(fmt::format("{} more kinds of ranks", classes.size() - drawn), " class=\"small\"");
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
        "<title>{2}</title>\n{3}{4}</svg>\n",
        kLeft + kWide + 16, y_ + 8, svg_escaped("memory of @" + program_.name), kStyle, body_);
  }

 private:
  void line(const std::string& text, const char* more = "") {
    body_ += svg_text(8, y_ + 16, text, (kLeft + kWide) / 6, more);
    y_ += 18;
  }

  double across(int64_t step) const {
    return kLeft + static_cast<double>(step) * kWide / static_cast<double>(std::max<size_t>(program_.steps.size(), 1));
  }

  void draw(const RankMemoryClass& of) {
    const RankBinding& rank = of.first;
    const Alive alive = alive_of(program_, lives_, rank);
    line(head_of(of.ranks, rank), " font-weight=\"bold\"");
    line(peak_text(program_, alive), " class=\"small\"");
    y_ += 6;
    if (!alive.at_peak.empty()) {
      const int profile = y_, arena = y_ + kProfile + kGap, end = arena + kArena;
      body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" class=\"peak\"/>\n",
                           across(static_cast<int64_t>(alive.peak)), profile,
                           across(static_cast<int64_t>(alive.peak) + 1) - across(static_cast<int64_t>(alive.peak)),
                           end - profile);
      draw_profile(alive, profile);
      draw_arena(rank, arena);
      y_ = end + 8;
      for (size_t i = 0; i < std::min<size_t>(alive.at_peak.size(), kNamed); ++i)
        line(fmt::format("%{}: {}", program_.values[alive.at_peak[i]].name, bytes_text(rank.bytes[alive.at_peak[i]])),
             " class=\"small\"");
      if (alive.at_peak.size() > kNamed)
        line(fmt::format("{} more alive at the peak", alive.at_peak.size() - kNamed), " class=\"small\"");
    }
    y_ += 10;
  }

  void frame(int y, int high, int64_t most, const char* what) {
    body_ +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"frame\"/>\n", kLeft, y, kWide, high);
    body_ += svg_text(8, y + 10, bytes_text(most), 14, " class=\"small\"") +
             svg_text(8, y + 22, what, 14, " class=\"small\"");
  }

  void draw_profile(const Alive& alive, int y) {
    const int64_t most = std::max<int64_t>(alive.bytes[alive.peak], 1);
    std::string path = fmt::format("M{} {}", kLeft, y + kProfile);
    for (size_t s = 0; s < alive.bytes.size(); ++s)
      path += fmt::format("V{:.1f}H{:.1f}", y + kProfile * (1 - double(alive.bytes[s]) / double(most)),
                          across(static_cast<int64_t>(s) + 1));
    body_ += fmt::format("<path d=\"{}V{}Z\" class=\"profile\"/>\n", path, y + kProfile);
    frame(y, kProfile, most, "alive");
  }

  void draw_arena(const RankBinding& rank, int y) {
    const double scale = kArena / static_cast<double>(std::max<int64_t>(rank.memory.arena_bytes, 1));
    size_t drawn = 0, all = 0;
    for (size_t v = 0; v < lives_.size(); ++v) {
      if (lives_[v].empty() || rank.bytes[v] == 0) continue;
      if (++all > kMostDrawnBuffers) continue;
      const double x = across(lives_[v].first), wide = across(lives_[v].last + 1) - x;
      const double top = y + kArena - scale * static_cast<double>(rank.memory.offsets[v] + rank.bytes[v]);
      const double high = std::max(scale * static_cast<double>(rank.bytes[v]), 0.5);
      const std::string& name = program_.values[v].name;
      body_ += fmt::format(
          "<g><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"buffer "
          "b{}\"/>{}<title>{}</title>"
          "</g>\n",
          x, top, wide, high, drawn++ % 4,
          high >= 12 && wide >= 7.0 * static_cast<double>(name.size() + 1)
              ? svg_text(static_cast<int>(x) + 3, static_cast<int>(top + high / 2) + 4, "%" + name, 200,
                         " class=\"name\"")
              : "",
          svg_escaped(fmt::format("%{}: {} at {}, steps {} to {}", name, bytes_text(rank.bytes[v]),
                                  rank.memory.offsets[v], lives_[v].first, lives_[v].last)));
    }
    frame(y, kArena, rank.memory.arena_bytes, "arena");
    if (all > drawn)
      body_ += svg_text(kLeft + 4, y + 12, fmt::format("{} more buffers", all - drawn), 40, " class=\"small\"");
  }

  const Program& program_;
  const std::vector<Lifetime> lives_;
  std::string body_;
  int y_ = 4;
};

}  // namespace

std::string explain_memory(const Program& program, RankValues& values) {
  const std::vector<Lifetime> lives = lifetimes(program);
  std::string out;
  for (const auto& [ranks, rank] : memory_classes(program, values)) {
    const Alive alive = alive_of(program, lives, rank);
    out += head_of(ranks, rank) + "\n" + peak_text(program, alive) + "\n";
    std::vector<std::vector<std::string>> rows = {{"alive there", "bytes", "steps"}};
    for (size_t i = 0; i < std::min(alive.at_peak.size(), kMostListed); ++i) {
      const size_t v = alive.at_peak[i];
      rows.push_back({"%" + program.values[v].name, std::to_string(rank.bytes[v]),
                      fmt::format("{} to {}", lives[v].first, lives[v].last)});
    }
    if (rows.size() > 1) out += table(rows);
    if (alive.at_peak.size() > kMostListed) out += fmt::format("{} smaller ones\n", alive.at_peak.size() - kMostListed);
  }
  return out;
}

std::string memory_picture(const Program& program, RankValues& values) { return Picture(program).run(values); }

}  // namespace plait
