#include "run/rank_queues.h"

#include <chrono>
#include <cmath>

namespace plait {

RankQueues::RankQueues(Device& device, int ordinal, size_t events, bool comm)
    : device_(device), ordinal_(ordinal), comm_(comm), event_count_(events) {}

void RankQueues::begin(void* native) {
  Stream* compute = nullptr;
  if (native == nullptr) {
    if (!own_compute_) own_compute_ = device_.make_stream(ordinal_);
    compute = own_compute_.get();
  } else {
    if (!adopted_ || adopted_->native() != native) adopted_ = device_.adopt_stream(native, ordinal_);
    compute = adopted_.get();
  }
  if (comm_ && !own_comm_) own_comm_ = device_.make_stream(ordinal_);
  streams_ = {compute, comm_ ? own_comm_.get() : compute};
  while (events_.size() < event_count_) events_.push_back(make_event());
  if (!comm_ || fork_) return;
  fork_ = make_event();
  join_ = make_event();
}

void RankQueues::fork() {
  if (!comm_) return;
  stream(ProgramStream::compute).record(*fork_);
  stream(ProgramStream::comm).wait(*fork_);
}

void RankQueues::join() {
  if (!comm_) return;
  stream(ProgramStream::comm).record(*join_);
  stream(ProgramStream::compute).wait(*join_);
}

void RankQueues::record(uint32_t event, ProgramStream on) { stream(on).record(*events_[event]); }

void RankQueues::wait(uint32_t event, ProgramStream on) { stream(on).wait(*events_[event]); }

void RankQueues::begin_times() {
  Stream& compute = stream(ProgramStream::compute);
  if (!origin_) origin_ = compute.make_timer();
  compute.record(*origin_);
  compute.synchronize();
  origin_time_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  marks_used_ = 0;
}

size_t RankQueues::mark(ProgramStream on) {
  if (marks_used_ == marks_.size()) marks_.push_back(stream(ProgramStream::compute).make_timer());
  stream(on).record(*marks_[marks_used_]);
  return marks_used_++;
}

int64_t RankQueues::time_of(size_t mark) const {
  return origin_time_ + std::llround(marks_[mark]->milliseconds_since(*origin_) * 1e6);
}

bool RankQueues::done() {
  bool all = true;  // every stream is asked: a simulated one may go on only when it is
  for (Stream* stream : streams_)
    if (stream) all = stream->done() && all;
  return all;
}

}  // namespace plait
