// What a run does to memory, judged element by element.
#include <algorithm>

#include "base/error.h"
#include "kir/interpret.h"

namespace plait::kir {
namespace {

constexpr size_t kMostProblems = 20;

}  // namespace

std::string AccessChecker::place(const Touch& touch) const {
  return fmt::format("%{}[{}]", kernel_.buffers[touch.buffer].name, touch.index);
}

void AccessChecker::complain(const Stmt* stmt, const std::string& what) {
  if (problems_.size() == kMostProblems) return;
  problems_.push_back(stmt == nullptr ? what : fmt::format("{}: {}", what, print(kernel_, *stmt)));
}

bool AccessChecker::inside(const Touch& touch) {
  if (touch.index >= 0 && touch.index < touch.extent) return true;
  complain(&touch.stmt, fmt::format("{} lies outside of {} elements", place(touch), touch.extent));
  return false;
}

// Tasks of one phase run in any order, and at once.
void AccessChecker::meet_others(const Touch& touch, const Element& element, bool writes) {
  if (kernel_.buffers[touch.buffer].is_local()) return;
  const auto is_beside = [&](int64_t task, size_t phase) {
    const bool behind = touch.behind != nullptr && touch.behind->contains(task);
    return task >= 0 && phase == touch.phase && task != touch.task && !behind;
  };
  const bool written = is_beside(element.writer, element.writer_phase);
  const bool updated = is_beside(element.updater, element.updater_phase);
  const bool read = is_beside(element.reader, element.reader_phase);
  if (written) complain(&touch.stmt, fmt::format("{} is written by another task of the phase", place(touch)));
  if (updated) complain(&touch.stmt, fmt::format("{} is updated by another task of the phase", place(touch)));
  if (writes && read) complain(&touch.stmt, fmt::format("{} is read by another task of the phase", place(touch)));
}

void AccessChecker::alloc(const Touch& touch) { buffers_[touch.buffer].clear(); }

void AccessChecker::load(const Touch& touch) {
  if (!inside(touch)) return;
  Element& element = buffers_[touch.buffer][touch.index];
  if (kernel_.buffers[touch.buffer].space != Space::argument && !element.written)
    complain(&touch.stmt, fmt::format("{} is read before it is written", place(touch)));
  meet_others(touch, element, false);
  element.reader = touch.task;
  element.reader_phase = touch.phase;
}

void AccessChecker::store(const Touch& touch) {
  if (!inside(touch)) return;
  Element& element = buffers_[touch.buffer][touch.index];
  const Buffer& buffer = kernel_.buffers[touch.buffer];
  if (buffer.space == Space::argument && !buffer.updated && element.written)
    complain(&touch.stmt, fmt::format("{} is stored twice", place(touch)));
  meet_others(touch, element, true);
  element.written = true;
  element.writer = touch.task;
  element.writer_phase = touch.phase;
}

void AccessChecker::atomic(const Touch& touch) {
  if (!inside(touch)) return;
  Element& element = buffers_[touch.buffer][touch.index];
  if (kernel_.buffers[touch.buffer].space == Space::workspace && !element.written)
    complain(&touch.stmt, fmt::format("{} is updated before it is written", place(touch)));
  const Element others = {.writer = element.writer,
                          .reader = element.reader,
                          .writer_phase = element.writer_phase,
                          .reader_phase = element.reader_phase};
  meet_others(touch, others, true);  // but other atomics
  element.updater = touch.task;
  element.updater_phase = touch.phase;
}

void AccessChecker::wrong(const Stmt& stmt, const std::string& what) { complain(&stmt, what); }

void AccessChecker::finish(const std::vector<int64_t>& extents) {
  for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
    const auto stored = [](const auto& element) { return element.second.written; };
    const bool only_atomics = !buffers_[b].empty() && std::none_of(buffers_[b].begin(), buffers_[b].end(), stored);
    if (!kernel_.buffers[b].written || only_atomics) continue;
    for (int64_t i = 0; i < extents[b]; ++i) {
      const auto found = buffers_[b].find(i);
      if (found == buffers_[b].end() || !found->second.written)
        complain(nullptr, fmt::format("%{}[{}] is never stored", kernel_.buffers[b].name, i));
    }
  }
}

}  // namespace plait::kir
