#include "api/format_source.h"

#include "ir/format.h"
#include "ir/fusion.h"
#include "program/program.h"
#include "sym/text_reader.h"

namespace plait {

std::string format_source(std::string_view text, const std::string& file) {
  (void)TextReader(text, file);  // refuses one over the limit
  if (is_program_text(text))
    parse_program(text, file);
  else
    parse_fusion(text, {.file = file});
  return format_text(text);
}

}  // namespace plait
