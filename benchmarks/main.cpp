// plait_bench [Google Benchmark's flags] [--results=FILE]: prints the figures and writes them as JSON beside the
// machine, the versions, and the load while they were taken (docs/results).
#include <benchmark/benchmark.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "plait.h"

namespace {

using Json = nlohmann::ordered_json;

// What follows the colon of the first line of a file that starts with `key`.
std::string field(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (line.rfind(key, 0) == 0 && colon != line.npos) return line.substr(line.find_first_not_of(" \t", colon + 1));
  }
  return "";
}

std::vector<double> load_average() {
  double load[3] = {0, 0, 0};
  const int n = getloadavg(load, 3);
  return {load, load + std::max(n, 0)};
}

Json machine() {
  return {{"cpu", field("/proc/cpuinfo", "model name")}, {"cores", std::thread::hardware_concurrency()}};
}

// Files of the shared libraries in use, which carry their version: "libdnnl.so.2.6".
Json versions() {
  Json out = {{"plait", plait::version()}, {"compiler", __VERSION__}, {"build", PLAIT_BUILD_TYPE}};
  std::set<std::string> names;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::string name = std::filesystem::path(line).filename().string();
    if (name.rfind("libLLVM", 0) == 0 || name.rfind("libdnnl", 0) == 0) names.insert(name);
  }
  out["libraries"] = names;
  return out;
}

class Reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      Json figure = {{"name", run.benchmark_name()}};
      if (run.error_occurred) figure["error"] = run.error_message;
      figure["time"] = run.GetAdjustedRealTime();
      figure["unit"] = benchmark::GetTimeUnitString(run.time_unit);
      figure["iterations"] = run.iterations;
      for (const auto& [name, counter] : run.counters) figure[name] = counter.value;
      if (!run.report_label.empty()) figure["schedule"] = run.report_label;
      figures.push_back(std::move(figure));
    }
    ConsoleReporter::ReportRuns(runs);
  }
  Json figures = Json::array();
};

std::string today() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string flag = "--results=";
  std::string file;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::string(argv[i]).rfind(flag, 0) == 0)
      file = argv[i] + flag.size();
    else
      rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 1;
  const std::vector<double> before = load_average();
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (file.empty()) return 0;
  const Json out = {{"date", today()},
                    {"machine", machine()},
                    {"versions", versions()},
                    {"load_average", {{"before", before}, {"after", load_average()}}},
                    {"figures", reporter.figures}};
  std::ofstream(file) << out.dump(2) << "\n";
  return 0;
}
