#pragma once
// Queues of work on a device, and points in that work that other queues wait for.
#include <cstddef>
#include <cstdint>
#include <memory>

namespace plait {

// A point in a stream's work, set by Stream::record. It may be recorded again. An event that was never recorded is no
// point: waiting for it returns at once.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() const = 0;  // whether the work before the latest record is done
  // From the latest record of `earlier` to that of this one, both done and of Stream::make_timer on one device.
  virtual double milliseconds_since(const Event& earlier) const = 0;
};

// Work captured from streams, to be run again with one call.
class Graph {
 public:
  virtual ~Graph() = default;
  // Queues the work on the stream.
  virtual void launch(class Stream& stream) = 0;
};

// Work given to one stream runs in the order given, work of several streams in any order that their events allow.
// Pointers may be to memory of the device, of its peers, or of the host; host memory must stay until the work is done.
// Errors of work that is already running are thrown by a later call on the stream. One thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual int ordinal() const = 0;   // of its device
  virtual void* native() const = 0;  // CUstream; null on the host
  // Bytes that do not overlap.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  // `rows` rows of `row_bytes`, that far apart; pitches are bytes, at least row_bytes. Nothing where any is zero.
  virtual void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t row_bytes,
                         size_t rows) = 0;
  virtual void fill(void* to, uint8_t value, size_t bytes) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  virtual std::unique_ptr<Event> make_timer() = 0;  // an event that knows when it was reached
  virtual void record(Event& event) = 0;            // sets it behind all work given so far
  virtual void wait(const Event& event) = 0;        // later work waits; the host does not
  virtual bool done() = 0;                          // whether all work given so far is done
  virtual void synchronize() = 0;                   // returns when it is
  // Between the two, work given to this stream, and to those that wait for its events, is recorded and not run. Null
  // where the device captures nothing.
  virtual bool begin_capture() { return false; }
  virtual std::unique_ptr<Graph> end_capture() { return nullptr; }
};

// The host's stream: every call does its work before it returns.
std::unique_ptr<Stream> make_host_stream();

}  // namespace plait
