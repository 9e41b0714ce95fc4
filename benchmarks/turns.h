#pragma once
// A rank's part of benchmarks/turns.py: it answers the rows that the driver asks for.
#include <functional>
#include <string>

namespace plait::bench {

// Connects to FOLDER/turns, says who it is (`about`: a JSON object), and answers until told to end. `turn(row, count)`
// returns the seconds of one of `count` runs; MissingError is answered as skipped, any other Error as failed.
// UserError where nothing listens.
void serve_turns(const std::string& folder, const std::string& side, int64_t rank, const std::string& about,
                 const std::function<double(const std::string& row, int64_t count)>& turn);

// Text as a JSON string, quotes included.
std::string json_text(const std::string& text);

}  // namespace plait::bench
