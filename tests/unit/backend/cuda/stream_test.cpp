// Streams, events, copies and graphs of the driver behind the interfaces of devices.
#include <gtest/gtest.h>

#include <numeric>

#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

class CudaStreams : public CudaTest {};

TEST_F(CudaStreams, EventsOrderStreams) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto one = device_->make_stream(0), two = device_->make_stream(0);
  const auto event = one->make_event();
  const auto first = upload(*one, counted(500)), middle = upload(*one, counted(500)), last = upload(*one, counted(500));
  launch_scale(*kernel, *one, *first, *middle, 2, 0);
  one->record(*event);
  two->wait(*event);
  launch_scale(*kernel, *two, *middle, *last, 5, 1);
  EXPECT_EQ(download(*two, *last)[499], 4991);
  EXPECT_TRUE(event->done());
  EXPECT_TRUE(one->done());
}

TEST_F(CudaStreams, EventsThatWereNeverRecorded) {
  const auto stream = device_->make_stream(0);
  const auto event = stream->make_event();
  EXPECT_TRUE(event->done());
  stream->wait(*event);
  stream->synchronize();
  EXPECT_TRUE(stream->done());
}

TEST_F(CudaStreams, EventsAreRecordedAgain) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto one = device_->make_stream(0), two = device_->make_stream(0);
  const auto forth = one->make_event(), back = two->make_event();
  const auto a = upload(*one, std::vector<float>(64, 1)), b = upload(*one, std::vector<float>(64, 0));
  for (int i = 0; i < 4; ++i) {
    launch_scale(*kernel, *one, *a, *b, 2, 0);
    one->record(*forth);
    two->wait(*forth);
    launch_scale(*kernel, *two, *b, *a, 1, 1);
    two->record(*back);
    one->wait(*back);
  }
  EXPECT_EQ(download(*one, *a)[0], 31);
}

// Streams of both devices in a ring of events, in every order that the stand-in draws.
TEST_F(CudaStreams, OrderOfUnorderedWorkDoesNotMatter) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    if (driver_) driver_->get<void(uint64_t)>("plait_sim_set_seed")(seed);
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Event>> events;
    std::vector<std::shared_ptr<Memory>> memory;
    for (int i = 0; i < 4; ++i) {
      streams.push_back(device_->make_stream(i % 2));
      events.push_back(streams.back()->make_event());
      memory.push_back(upload(*streams.back(), std::vector<float>(100, 1)));
    }
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < 4; ++i) {
        const size_t last = (i + 3) % 4;
        streams[i]->wait(*events[last]);
        launch_scale(*kernel, *streams[i], *memory[last], *memory[i], 1, int64_t(i) + 1);  // reads a peer's memory
        streams[i]->record(*events[i]);
      }
    }
    EXPECT_EQ(download(*streams[3], *memory[3])[99], 31) << seed;
  }
  if (driver_) driver_->get<void(uint64_t)>("plait_sim_set_seed")(0);
}

TEST_F(CudaStreams, EventsBetweenDevices) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto here = device_->make_stream(0), there = device_->make_stream(1);
  const auto event = here->make_event();
  const auto in = upload(*here, counted(100)), out = upload(*here, counted(100)), far = upload(*there, counted(100));
  launch_scale(*kernel, *here, *in, *out, 7, 0);
  here->record(*event);
  there->wait(*event);
  there->copy(far->data(), out->data(), out->bytes());  // from a peer
  EXPECT_EQ(download(*there, *far)[99], 693);
  EXPECT_THROW(there->record(*event), InternalError) << "an event of another ordinal";
}

TEST_F(CudaStreams, DoneTurnsTrue) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->make_stream(0);
  const auto in = upload(*stream, counted(64)), out = upload(*stream, counted(64));
  launch_scale(*kernel, *stream, *in, *out, 1, 1);
  int64_t polls = 0;
  while (!stream->done()) ASSERT_LT(++polls, int64_t(1) << 32);
  EXPECT_EQ(download(*stream, *out)[1], 2);
}

TEST_F(CudaStreams, CopiesOfRows) {
  const auto stream = device_->make_stream(0);
  std::vector<uint8_t> from(40), back(40, 0xee);
  std::iota(from.begin(), from.end(), uint8_t(1));
  const auto memory = device_->allocator(0).allocate(40);
  stream->fill(memory->data(), 9, 40);
  stream->copy_rows(memory->data(), 10, from.data(), 8, 5, 4);  // host to device
  stream->copy(back.data(), memory->data(), 40);
  stream->synchronize();
  for (size_t row = 0; row < 4; ++row)
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(back[row * 10 + i], i < 5 ? from[row * 8 + i] : 9) << row << ' ' << i;
  const auto other = device_->allocator(0).allocate(15);
  stream->copy_rows(other->data(), 3, static_cast<char*>(memory->data()) + 1, 10, 3, 4);  // within the device
  std::vector<uint8_t> dense(15, 0xee);
  stream->copy_rows(dense.data(), 3, other->data(), 3, 3, 4);  // without gaps
  stream->copy_rows(dense.data(), 0, from.data(), 0, 0, 4);
  stream->copy_rows(dense.data(), 5, from.data(), 5, 5, 0);
  stream->copy(dense.data(), other->data(), 0);
  stream->fill(dense.data(), 1, 0);
  stream->synchronize();
  for (size_t row = 0; row < 4; ++row)
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(dense[row * 3 + i], from[row * 8 + 1 + i]);
  EXPECT_EQ(dense[12], 0xee);
  EXPECT_THROW(stream->copy_rows(memory->data(), 4, from.data(), 8, 5, 2), InternalError);
}

TEST_F(CudaStreams, FillOfHostMemoryComesInOrder) {
  const auto stream = device_->make_stream(0);
  const auto memory = upload(*stream, std::vector<float>(4, 1));
  std::vector<float> host(4, 2);
  stream->copy(host.data(), memory->data(), 16);
  stream->fill(host.data(), 0, 8);
  stream->synchronize();
  EXPECT_EQ(host, (std::vector<float>{0, 0, 1, 1}));
}

TEST_F(CudaStreams, GraphsRunAgain) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto one = device_->make_stream(0), two = device_->make_stream(0);
  const auto forth = one->make_event(), back = two->make_event();
  const auto a = upload(*one, std::vector<float>(64, 1)), b = upload(*one, std::vector<float>(64, 0));
  const int64_t before = counts().launches;
  ASSERT_TRUE(one->begin_capture());
  launch_scale(*kernel, *one, *a, *b, 2, 0);
  one->record(*forth);
  two->wait(*forth);  // the other stream joins the capture
  launch_scale(*kernel, *two, *b, *a, 1, 1);
  two->record(*back);
  one->wait(*back);
  const auto graph = one->end_capture();
  ASSERT_NE(graph, nullptr);
  one->synchronize();
  EXPECT_EQ(download(*one, *a)[0], 1) << "captured work does not run";
  for (int i = 0; i < 3; ++i) graph->launch(*one);
  EXPECT_EQ(download(*one, *a)[63], 15);
  if (!real_) {
    EXPECT_EQ(counts().launches - before, 6);
  }
  graph->launch(*two);  // on any stream of the ordinal
  EXPECT_EQ(download(*two, *a)[0], 31);
  const auto far = device_->make_stream(1);
  EXPECT_THROW(graph->launch(*far), InternalError);
}

TEST_F(CudaStreams, CapturesThatGoWrongAreErrors) {
  const auto one = device_->make_stream(0);
  EXPECT_THROW(one->end_capture(), CudaError) << "none begun";
  ASSERT_TRUE(one->begin_capture());
  EXPECT_THROW(one->synchronize(), CudaError);
  EXPECT_THROW(one->end_capture(), CudaError) << "invalidated";
  findings();  // the stand-in reports the call during capture
  one->synchronize();
}

TEST_F(CudaStreams, CodeLoadsDuringCapture) {
  const auto stream = device_->make_stream(0);
  const auto in = upload(*stream, std::vector<float>(64, 1)), out = upload(*stream, std::vector<float>(64, 0));
  ASSERT_TRUE(stream->begin_capture());
  launch_scale(*device_->compile(scale_kernel("late"), nullptr), *stream, *in, *out, 4, 2);
  const auto memory = device_->allocator(0).allocate_on(64, stream.get());  // belongs to no graph
  const auto graph = stream->end_capture();
  graph->launch(*stream);
  EXPECT_EQ(download(*stream, *out)[5], 6);
  stream->fill(memory->data(), 0, 64);
  stream->synchronize();
}

TEST_F(CudaStreams, AdoptedStreams) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto own = device_->make_stream(1);
  const auto in = upload(*own, counted(100)), out = upload(*own, counted(100));
  {
    const auto adopted = device_->adopt_stream(own->native(), 1);
    EXPECT_EQ(adopted->native(), own->native());
    EXPECT_EQ(adopted->ordinal(), 1);
    launch_scale(*kernel, *adopted, *in, *out, 3, 3);
  }
  EXPECT_EQ(download(*own, *out)[10], 33) << "the adopted one did not destroy it";
  EXPECT_THROW(device_->adopt_stream(own->native(), 0), UserError) << "a stream of another device";
  const auto legacy = device_->adopt_stream(nullptr, 1);
  launch_scale(*kernel, *legacy, *in, *out, 2, 0);
  EXPECT_EQ(download(*legacy, *out)[10], 20);
}

}  // namespace
}  // namespace plait
