// libFuzzer target (preset fuzz). It starts from the texts of text_corpus.h, which `plait_fuzz_text --write-corpus
// FOLDER` leaves as files.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fuzz/text_corpus.h"
#include "fuzz/text_harness.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--write-corpus") != 0) return 0;
  const std::filesystem::path folder = (*argv)[2];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string_view text : plait::test::kTextCorpus)
    std::ofstream(folder / ("corpus_" + std::to_string(number++))) << text;
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bool accepted = false;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string problem = plait::test::problem_of_text(text, accepted);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
