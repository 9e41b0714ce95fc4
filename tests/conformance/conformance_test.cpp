// ONNX's own test cases, as Debian's package libonnx-testdata holds them, on every device.
//
// Each case passes, or stands in unsupported.txt with a reason that names what plait or the importer has not, and that
// is checked. The list may only shrink: a case of it that passes fails the test, as does one that is not in it and does
// not pass. The long run takes all cases on all devices. A normal run takes those whose place in the order of names is
// a multiple of a stride, which is 1 for the reference, and leaves out those of more than 100,000 elements.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "conformance/cases.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait::conformance {
namespace {

const std::string kList = PLAIT_SOURCE_DIR "/tests/conformance/unsupported.txt";

bool is_large(const Case& c) {
  return std::ranges::any_of(c.inputs, [](const Tensor& t) { return t.elements() > 100000; });
}

struct Counts {
  bool large;  // large cases too
  int64_t total = 0, pass = 0, by_discontinuity = 0;
  std::map<std::string, int64_t> unsupported;  // by class of reason
  std::string text() const {
    int64_t all = 0;
    std::string classes;
    for (const auto& [name, count] : unsupported) {
      all += count;
      classes += fmt::format(", {} {}", name, count);
    }
    return fmt::format("{} pass, {} unsupported ({}), of {}; {} with integers that are off by one at a discontinuity",
                       pass, all, classes.empty() ? "" : classes.substr(2), total, by_discontinuity);
  }
};

void check_case(const std::string& name, const std::string& device, const std::map<std::string, std::string>& list,
                Counts& counts) {
  const Case c = read_case(name);
  if (!counts.large && is_large(c)) return;
  const Outcome outcome = run_case(c, device);
  ++counts.total;
  EXPECT_EQ(outcome.failure, "") << name << " on " << device;
  const auto listed = list.find(name);
  if (outcome.unsupported.empty()) {
    EXPECT_TRUE(listed == list.end()) << name << " is in unsupported.txt and passes: take it out";
    counts.pass += outcome.failure.empty();
    counts.by_discontinuity += outcome.by_discontinuity > 0;
    return;
  }
  ++counts.unsupported[outcome.unsupported.substr(0, outcome.unsupported.find(' '))];
  EXPECT_TRUE(holds(outcome.unsupported, c.model)) << name << ": " << outcome.unsupported << " is not so";
  if (listed == list.end())
    ADD_FAILURE() << "not in unsupported.txt: " << name << ": " << outcome.unsupported;
  else
    EXPECT_EQ(listed->second, outcome.unsupported) << name;
}

constexpr size_t kMostListed = 106;

// Every stride-th case, and nothing of the list that is no case.
void check_cases(const std::string& device, size_t stride, bool large) {
  const std::vector<std::string> names = case_names();
  if (names.empty()) GTEST_SKIP() << "Debian's package libonnx-testdata is not installed";
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  const auto list = read_list(kList);
  for (const auto& [name, reason] : list)
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name << " is in unsupported.txt and no case";
  Counts counts{large};
  for (size_t i = 0; i < names.size(); i += stride) check_case(names[i], device, list, counts);
  fmt::print("{}: {}\n", device, counts.text());
  // The list may only shrink, and a case that leaves the importer's table does not come back by being listed.
  EXPECT_LE(list.size(), kMostListed);
  if (stride == 1 && large) {
    EXPECT_GE(static_cast<size_t>(counts.pass), names.size() - kMostListed);
  }
}

TEST(Conformance, Reference) { check_cases("reference", testing::kStride, false); }
TEST(Conformance, Cpu) { check_cases("cpu", 4 * testing::kStride, false); }
TEST(Conformance, Sim) { check_cases("sim:sm_90a", 10 * testing::kStride, false); }
TEST(ConformanceLongRun, Reference) { check_cases("reference", 1, true); }
TEST(ConformanceLongRun, Cpu) { check_cases("cpu", 1, true); }
TEST(ConformanceLongRun, Sm80) { check_cases("sim:sm_80", 1, true); }
TEST(ConformanceLongRun, Sm90a) { check_cases("sim:sm_90a", 1, true); }

class OneCase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (case_names().empty()) GTEST_SKIP() << "Debian's package libonnx-testdata is not installed";
  }
};

TEST_F(OneCase, WrongNumbersAreFound) {
  Case c = read_case("node/test_add");
  EXPECT_EQ(run_case(c, "reference").failure, "");
  Tensor& out = c.outputs[0];
  static_cast<float*>(out.data())[7] *= 1.002f;
  EXPECT_NE(run_case(c, "reference").failure, "");
  out.shape = {out.elements()};
  EXPECT_NE(run_case(c, "reference").failure, "");
  c = read_case("node/test_add_uint8");
  static_cast<uint8_t*>(c.outputs[0].data())[7] += 1;
  EXPECT_NE(run_case(c, "reference").failure, "");
}

TEST_F(OneCase, ReasonsAreChecked) {
  const onnx::Model add = read_case("node/test_add").model, text = read_case("node/test_cast_FLOAT_to_STRING").model;
  EXPECT_TRUE(holds("dtype string", text));
  EXPECT_FALSE(holds("dtype string", add));
  EXPECT_FALSE(holds("dtype f32", add));
  EXPECT_FALSE(holds("op Add", add));
  EXPECT_FALSE(holds("op NonZero", add));
  EXPECT_TRUE(holds("op NonZero", read_case("node/test_nonzero_example").model));
  EXPECT_FALSE(holds("random Add", add));
  EXPECT_FALSE(holds("attribute seed of Add", add));
  EXPECT_TRUE(holds("attribute seed of Dropout", read_case("node/test_training_dropout").model));
  EXPECT_FALSE(holds("attribute ratio of Dropout", read_case("node/test_dropout_random_old").model));
  EXPECT_FALSE(holds("attribute axis of Add", add));
  EXPECT_FALSE(holds("attribute axis of Softmax", read_case("node/test_softmax_axis_0").model));
  EXPECT_FALSE(holds("it is hard", add));
}

}  // namespace
}  // namespace plait::conformance
