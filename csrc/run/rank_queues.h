#pragma once
// The streams of one rank on a GPU during a run, and the events between them.
#include <array>
#include <memory>
#include <vector>

#include "device/device.h"
#include "program/step.h"

namespace plait {

class RankQueues {
 public:
  // Makes no stream yet. `events`: how many the program records; `comm`: whether a step is on that stream.
  RankQueues(Device& device, int ordinal, size_t events, bool comm);
  // The streams of the coming run: compute is the caller's native stream, or its own where that is null.
  void begin(void* native);
  int ordinal() const { return ordinal_; }
  Stream& stream(ProgramStream stream) { return *streams_[size_t(stream)]; }
  // From fork() on comm goes its own way; compute has it back after join().
  void fork();
  void join();
  void record(uint32_t event, ProgramStream stream);
  void wait(uint32_t event, ProgramStream stream);
  Event& event(uint32_t event) { return *events_[event]; }
  std::unique_ptr<Event> make_event() { return stream(ProgramStream::compute).make_event(); }
  // Behind begin(), for a run whose times are wanted: waits until compute is idle, and sets where times begin.
  void begin_times();
  // Marks where a stream is; returns the mark's number in this run.
  size_t mark(ProgramStream stream);
  // When a stream came to a mark, in nanoseconds of the host's steady clock (the device's time behind the last
  // begin_times(), which is off by what the host takes to see that). The work in front of it is done.
  int64_t time_of(size_t mark) const;
  // Whether all work given so far is done. Throws what that work threw.
  bool done();

 private:
  Device& device_;
  int ordinal_;
  bool comm_;
  size_t event_count_;
  std::unique_ptr<Stream> own_compute_, own_comm_, adopted_;
  std::array<Stream*, kProgramStreams> streams_{};
  std::vector<std::unique_ptr<Event>> events_;
  std::unique_ptr<Event> fork_, join_;
  std::unique_ptr<Event> origin_;  // of times; null: none were wanted yet
  int64_t origin_time_ = 0;
  std::vector<std::unique_ptr<Event>> marks_;  // made so far
  size_t marks_used_ = 0;
};

}  // namespace plait
