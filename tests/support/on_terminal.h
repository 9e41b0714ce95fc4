#pragma once
// What is written to a terminal.
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

namespace plait::testing {

// What the work writes to the terminal whose file it is given.
inline std::string on_terminal(const std::function<void(int)>& work) {
  int outer = -1, inner = -1;
  EXPECT_EQ(openpty(&outer, &inner, nullptr, nullptr, nullptr), 0);
  std::string out;
  std::thread reader([&] {  // a terminal that nobody reads is full at some time
    char buffer[4096];
    for (ssize_t got = 0; (got = read(outer, buffer, sizeof buffer)) > 0;) out.append(buffer, size_t(got));
  });
  work(inner);
  close(inner);
  reader.join();
  close(outer);
  return out;
}

}  // namespace plait::testing
