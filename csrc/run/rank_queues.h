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
};

}  // namespace plait
