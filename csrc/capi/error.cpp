#include <algorithm>
#include <new>

#include "base/cancelled_error.h"
#include "base/log.h"
#include "base/memory_error.h"
#include "capi/handles.h"

namespace plait {

namespace {

// Where no memory is left for an error, this one is returned; it is made when the library is loaded and never freed.
plait_error memory_error{PLAIT_ERROR_MEMORY, "host memory is used up", "", "free some, or use smaller tensors"};
plait_error& out_of_memory() noexcept { return memory_error; }

plait_error* make(int32_t code, const Error& e) { return new plait_error{code, e.message(), e.where(), e.remedy()}; }

}  // namespace

plait_error* caught() noexcept {
  try {
    try {
      throw;
    } catch (const UserError& e) {
      return make(PLAIT_ERROR_USER, e);
    } catch (const MemoryError& e) {
      return make(PLAIT_ERROR_MEMORY, e);
    } catch (const MissingError& e) {
      return make(PLAIT_ERROR_MISSING, e);
    } catch (const CancelledError& e) {
      return make(PLAIT_ERROR_CANCELLED, e);
    } catch (const CommError& e) {
      return make(PLAIT_ERROR_COMM, e);
    } catch (const Error& e) {
      return make(PLAIT_ERROR_INTERNAL, e);
    } catch (const std::bad_alloc&) {
      return &out_of_memory();
    } catch (const std::exception& e) {
      return new plait_error{PLAIT_ERROR_INTERNAL, e.what(), "", ""};
    } catch (...) {
      return new plait_error{PLAIT_ERROR_INTERNAL, "an exception of no known type", "", ""};
    }
  } catch (...) {
    return &out_of_memory();
  }
}

}  // namespace plait

extern "C" {

int32_t plait_abi_version(void) { return PLAIT_ABI_VERSION; }
const char* plait_version(void) {
  static const std::string text = plait::version();
  return text.c_str();
}

int32_t plait_error_code(const plait_error* error) { return error ? error->code : 0; }
const char* plait_error_what(const plait_error* error) { return error ? error->what.c_str() : ""; }
const char* plait_error_where(const plait_error* error) { return error ? error->where.c_str() : ""; }
const char* plait_error_remedy(const plait_error* error) { return error ? error->remedy.c_str() : ""; }
void plait_error_free(plait_error* error) {
  if (error != &plait::out_of_memory()) delete error;
}

plait_error* plait_log_levels(const char* words) {
  return plait::guarded([&] {
    const std::string text = plait::required_text(words, "words");
    try {
      plait::set_log_levels(plait::parse_log_levels(text));
    } catch (const plait::UserError& e) {  // whose place is the variable
      throw plait::UserError(e.message(), "words", e.remedy());
    }
  });
}

plait_error* plait_log_to(plait_log_callback callback, void* user) {
  return plait::guarded([&] {
    if (callback == nullptr) return plait::set_log_sink({});
    plait::set_log_sink([callback, user](const plait::LogEntry& entry) {
      callback(user, static_cast<int32_t>(entry.level), std::string(name(entry.component)).c_str(), entry.text.c_str());
    });
  });
}

const char* plait_text_data(const plait_text* text) { return text ? text->data.c_str() : ""; }
size_t plait_text_size(const plait_text* text) { return text ? text->data.size() : 0; }
void plait_text_free(plait_text* text) { delete text; }

}  // extern "C"
