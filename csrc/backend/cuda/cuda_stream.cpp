#include "backend/cuda/cuda_stream.h"

#include <cstring>

#include "base/error.h"

namespace plait {
namespace {

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class CudaEvent : public Event {
 public:
  CudaEvent(std::shared_ptr<CudaParts> parts, int ordinal, unsigned int flags)
      : parts_(std::move(parts)), ordinal_(ordinal) {
    const DriverLibrary& driver = parts_->driver();
    const ContextScope scope(driver, parts_->context(ordinal));
    driver.check(driver.cuEventCreate(&event_, flags), "cuEventCreate");
  }
  ~CudaEvent() override {
    try {
      const ContextScope scope(parts_->driver(), parts_->context(ordinal_));
      parts_->driver().cuEventDestroy(event_);
    } catch (const Error&) {  // the driver is shutting down, and the event with it
    }
  }

  bool done() const override {
    const ContextScope scope(parts_->driver(), parts_->context(ordinal_));
    const CUresult code = parts_->driver().cuEventQuery(event_);
    if (code == CUDA_ERROR_NOT_READY) return false;
    parts_->driver().check(code, "cuEventQuery");
    return true;
  }

  double milliseconds_since(const Event& earlier) const override {
    const ContextScope scope(parts_->driver(), parts_->context(ordinal_));
    float out = 0;
    parts_->driver().check(
        parts_->driver().cuEventElapsedTime(&out, static_cast<const CudaEvent&>(earlier).event_, event_),
        "cuEventElapsedTime");
    return static_cast<double>(out);
  }

  CUevent native() const { return event_; }
  int ordinal() const { return ordinal_; }

 private:
  std::shared_ptr<CudaParts> parts_;
  int ordinal_;
  CUevent event_ = nullptr;
};

class CudaGraph : public Graph {
 public:
  // Takes the captured graph over.
  CudaGraph(std::shared_ptr<CudaParts> parts, int ordinal, CUgraph graph)
      : parts_(std::move(parts)), ordinal_(ordinal) {
    const DriverLibrary& driver = parts_->driver();
    const CUresult code = driver.cuGraphInstantiate(&executable_, graph, 0);
    driver.cuGraphDestroy(graph);
    driver.check(code, "cuGraphInstantiate");
  }
  ~CudaGraph() override { parts_->driver().cuGraphExecDestroy(executable_); }

  void launch(Stream& stream) override {
    const DriverLibrary& driver = parts_->driver();
    PLAIT_CHECK(stream.ordinal() == ordinal_, "a graph of ordinal {} on a stream of ordinal {}", ordinal_,
                stream.ordinal());
    const ContextScope scope(driver, parts_->context(ordinal_));
    driver.check(driver.cuGraphLaunch(executable_, static_cast<CUstream>(stream.native())), "cuGraphLaunch");
  }

 private:
  std::shared_ptr<CudaParts> parts_;
  int ordinal_;
  CUgraphExec executable_ = nullptr;
};

class CudaStream : public Stream {
 public:
  CudaStream(std::shared_ptr<CudaParts> parts, int ordinal, CUstream stream, bool own)
      : parts_(std::move(parts)),
        driver_(parts_->driver()),
        ordinal_(ordinal),
        context_(parts_->context(ordinal)),
        stream_(stream),
        own_(own) {
    max_pitch_ = size_t(parts_->attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  }
  ~CudaStream() override {
    if (own_) parts_->release_stream(ordinal_, stream_);
  }

  int ordinal() const override { return ordinal_; }
  void* native() const override { return stream_; }

  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuMemcpyAsync(address_of(to), address_of(from), bytes, stream_), "cuMemcpyAsync");
  }

  void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t row_bytes,
                 size_t rows) override {
    PLAIT_CHECK(rows <= 1 || (to_pitch >= row_bytes && from_pitch >= row_bytes), "rows of {} bytes overlap", row_bytes);
    if (row_bytes == 0 || rows == 0) return;
    if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes)) return copy(to, from, row_bytes * rows);
    if (to_pitch > max_pitch_ || from_pitch > max_pitch_) {  // more than one copy of rows can tell
      for (size_t row = 0; row < rows; ++row)
        copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, row_bytes);
      return;
    }
    CUDA_MEMCPY2D what = {};
    what.srcMemoryType = what.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    what.srcDevice = address_of(from);
    what.srcPitch = from_pitch;
    what.dstDevice = address_of(to);
    what.dstPitch = to_pitch;
    what.WidthInBytes = row_bytes;
    what.Height = rows;
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuMemcpy2DAsync(&what, stream_), "cuMemcpy2DAsync");
  }

  void fill(void* to, uint8_t value, size_t bytes) override {
    if (bytes == 0) return;
    const ContextScope scope(driver_, context_);
    CUmemorytype type = CU_MEMORYTYPE_HOST;  // what the driver does not know is the host's own memory
    driver_.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(to));
    if (type == CU_MEMORYTYPE_HOST) {
      driver_.check(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
      std::memset(to, value, bytes);
      return;
    }
    driver_.check(driver_.cuMemsetD8Async(address_of(to), value, bytes, stream_), "cuMemsetD8Async");
  }

  std::unique_ptr<Event> make_event() override {
    return std::make_unique<CudaEvent>(parts_, ordinal_, CU_EVENT_DISABLE_TIMING);
  }
  std::unique_ptr<Event> make_timer() override { return std::make_unique<CudaEvent>(parts_, ordinal_, 0U); }

  void record(Event& event) override {
    auto& own = static_cast<CudaEvent&>(event);
    PLAIT_CHECK(own.ordinal() == ordinal_, "an event of ordinal {} is recorded on a stream of ordinal {}",
                own.ordinal(), ordinal_);
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuEventRecord(own.native(), stream_), "cuEventRecord");
  }

  void wait(const Event& event) override {
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).native(), 0),
                  "cuStreamWaitEvent");
  }

  bool done() override {
    const ContextScope scope(driver_, context_);
    const CUresult code = driver_.cuStreamQuery(stream_);
    if (code == CUDA_ERROR_NOT_READY) return false;
    driver_.check(code, "cuStreamQuery");
    return true;
  }

  void synchronize() override {
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
  }

  bool begin_capture() override {
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
    return true;
  }

  std::unique_ptr<Graph> end_capture() override {
    const ContextScope scope(driver_, context_);
    CUgraph graph = nullptr;
    const CUresult code = driver_.cuStreamEndCapture(stream_, &graph);
    if (code != CUDA_SUCCESS && graph != nullptr) driver_.cuGraphDestroy(graph);
    driver_.check(code, "cuStreamEndCapture");
    return std::make_unique<CudaGraph>(parts_, ordinal_, graph);
  }

 private:
  const std::shared_ptr<CudaParts> parts_;
  const DriverLibrary& driver_;
  const int ordinal_;
  const CUcontext context_;
  const CUstream stream_;
  const bool own_;
  size_t max_pitch_ = 0;
};

}  // namespace

std::unique_ptr<Stream> make_cuda_stream(std::shared_ptr<CudaParts> parts, int ordinal) {
  const CUstream stream = parts->make_stream(ordinal);
  return std::make_unique<CudaStream>(std::move(parts), ordinal, stream, true);
}

std::unique_ptr<Stream> adopt_cuda_stream(std::shared_ptr<CudaParts> parts, void* native, int ordinal) {
  const DriverLibrary& driver = parts->driver();
  const auto stream = static_cast<CUstream>(native);
  const ContextScope scope(driver, parts->context(ordinal));
  CUcontext context = nullptr;
  driver.check(driver.cuStreamGetCtx(stream, &context), "cuStreamGetCtx", "the stream given by the caller");
  if (context != parts->context(ordinal)) {
    throw UserError("the stream belongs to another context than the primary one of its device",
                    fmt::format("device {}", parts->driver_ordinal(ordinal)),
                    "give a stream of this device that was made in its primary context");
  }
  return std::make_unique<CudaStream>(std::move(parts), ordinal, stream, false);
}

}  // namespace plait
