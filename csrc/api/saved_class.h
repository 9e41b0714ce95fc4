#pragma once
// A specialization as what files hold of it, and back.
#include <memory>
#include <string>

#include "api/compiled_impl.h"
#include "api/program_file.h"

namespace plait {

// UserError: the device has no machine code.
SavedClass saved_class(const SpecializationEntry& entry, Device& device);

// The class as it was when it was saved; the code in `from` is used up. UserError naming `file`: texts or code that do
// not belong together; MissingError: a library is not here.
std::shared_ptr<SpecializationEntry> loaded_class(SavedClass& from, Device& device, const std::string& file);

}  // namespace plait
