#include <chrono>
#include <cstring>

#include "device/stream.h"

namespace plait {
namespace {

class HostEvent : public Event {
 public:
  bool done() const override { return true; }
  double milliseconds_since(const Event& earlier) const override {
    const auto passed = reached - static_cast<const HostEvent&>(earlier).reached;
    return std::chrono::duration<double, std::milli>(passed).count();
  }

  std::chrono::steady_clock::time_point reached{};
};

class HostStream : public Stream {
 public:
  int ordinal() const override { return 0; }
  void* native() const override { return nullptr; }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t row_bytes,
                 size_t rows) override {
    for (size_t row = 0; row < rows; ++row)
      copy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
           row_bytes);
  }
  void fill(void* to, uint8_t value, size_t bytes) override {
    if (bytes > 0) std::memset(to, value, bytes);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
  std::unique_ptr<Event> make_timer() override { return make_event(); }
  void record(Event& event) override { static_cast<HostEvent&>(event).reached = std::chrono::steady_clock::now(); }
  void wait(const Event&) override {}
  bool done() override { return true; }
  void synchronize() override {}
};

}  // namespace

std::unique_ptr<Stream> make_host_stream() { return std::make_unique<HostStream>(); }

}  // namespace plait
