#include "sim/cuda/findings.h"

#include <algorithm>
#include <cstdio>

namespace plait::sim {
namespace {

constexpr size_t kMost = 1000;

}  // namespace

void Findings::add(std::string text) {
  if (list_.size() == kMost) return;
  if (std::find(list_.begin(), list_.end(), text) != list_.end()) return;
  std::fprintf(stderr, "simulated GPU: %s\n", text.c_str());
  list_.push_back(std::move(text));
}

std::string Findings::take() {
  std::string all;
  for (const std::string& text : list_) all += (all.empty() ? "" : "\n\n") + text;
  list_.clear();
  return all;
}

const char* Findings::keep(std::string text) {
  kept_.push_back(std::move(text));
  return kept_.back().c_str();
}

}  // namespace plait::sim
