#include "run/rank_queues.h"

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

bool RankQueues::done() {
  bool all = true;  // every stream is asked: a simulated one may go on only when it is
  for (Stream* stream : streams_)
    if (stream) all = stream->done() && all;
  return all;
}

}  // namespace plait
