#pragma once
// The two kinds of failure (user error, internal error) and two of the machine (missing part, failed communication).
#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>

namespace plait {

// Base of every exception thrown by plait. `what` says what is wrong, `where` names op, tensor, dim, file position or
// step in the user's words (may be empty), `remedy` says what to do (may be empty).
class Error : public std::exception {
 public:
  Error(std::string what, std::string where, std::string remedy);
  const char* what() const noexcept override { return text_.c_str(); }  // all parts, one line each
  const std::string& message() const { return message_; }
  const std::string& where() const { return where_; }
  const std::string& remedy() const { return remedy_; }
  // Puts a place in front of where(), for an error on its way up: its type stays.
  void add_place(const std::string& place);

 private:
  void compose();
  std::string message_, where_, remedy_, text_;
};

class UserError : public Error {
 public:
  using Error::Error;
};  // the caller's mistake; exit code 1
class InternalError : public Error {
 public:
  using Error::Error;
};  // our mistake; exit code 2
class MissingError : public Error {
 public:
  using Error::Error;
};  // the machine lacks a part; exit code 3
class CommError : public Error {
 public:
  using Error::Error;
};  // a rank or a collective failed

// What PLAIT_CHECK does where its condition fails: throws InternalError with the place, the condition and the message.
[[noreturn]] void internal_failure(const char* file, int line, const char* condition, std::string message);

}  // namespace plait

// Internal invariant: never fires on user input. Extra arguments are an fmt format string and its values.
#define PLAIT_CHECK(condition, ...)                                                                        \
  do {                                                                                                     \
    if (!(condition)) ::plait::internal_failure(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
  } while (0)
