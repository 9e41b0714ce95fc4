#include <algorithm>
#include <new>

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
    } catch (const MissingError& e) {
      return make(PLAIT_ERROR_MISSING, e);
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

plait_dtype to_c(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  if (dtype == DType::boolean) return {6, 8, 1};
  if (dtype == DType::bf16) return {4, 16, 1};
  if (dtype == DType::f8e4m3) return {10, 8, 1};
  if (dtype == DType::f8e5m2) return {12, 8, 1};
  if (is_float(dtype)) return {2, bits, 1};
  return {static_cast<uint8_t>(is_unsigned(dtype) ? 1 : 0), bits, 1};
}

DType from_c(plait_dtype dtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const plait_dtype known = to_c(static_cast<DType>(i));
    if (known.code == dtype.code && known.bits == dtype.bits && dtype.lanes == 1) return static_cast<DType>(i);
  }
  throw UserError(
      fmt::format("DLPack type (code {}, bits {}, lanes {}) is no dtype of plait", dtype.code, dtype.bits, dtype.lanes),
      "", "convert the tensor first");
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

const char* plait_text_data(const plait_text* text) { return text ? text->data.c_str() : ""; }
size_t plait_text_size(const plait_text* text) { return text ? text->data.size() : 0; }
void plait_text_free(plait_text* text) { delete text; }

}  // extern "C"
