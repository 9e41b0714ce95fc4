#pragma once
// Ranks as processes of an MPI job, one each. The MPI library lies behind a plug-in (libplait_mpi.so).
#include <memory>
#include <string>

#include "comm/comm_options.h"
#include "comm/communicator.h"

namespace plait {

// What communicators over MPI are told besides.
struct MpiOptions : CommOptions {
  // Reductions add in the order of positions, bit-equal to comm/local; else as the MPI library adds, narrow floats
  // rounded at every addition.
  bool ordered = false;
  // Members compare what they ask for before every operation, at the price of a small exchange: a mismatch is a
  // CommError that names both ranks and both calls, and not undefined.
  bool compare_calls = false;
  // The caller's MPI_Comm of the processes that take part (Open MPI: a pointer); null: all of the job. The communicator
  // is duplicated. MPI is initialised and, when the process exits with status 0, finalised, unless it is initialised
  // already.
  void* communicator = nullptr;
  std::string plugin_folder;  // of libplait_mpi.so; empty: as the other plug-ins
  // Elements of one call of the MPI library, below 2^31, and bytes of memory kept for packing and ordered sums. What is
  // larger is cut.
  int64_t max_elements = (int64_t(1) << 31) - 1;
  int64_t scratch_bytes = 16 << 20;
};

// The communicators of this process's rank; members are in host memory. Collective over the processes. One thread at a
// time, abort() excepted. A member that does not come in time, an abort and an error of MPI are a CommError and end all
// communication of the process, whose exit then is the launcher's matter. bootstrap() is never null.
// MissingError: no plug-in, or no MPI that starts.
std::shared_ptr<Communicators> make_mpi_communicators(const MpiOptions& options = {});

// "Open MPI v4.1.4, ..." of the library that would be used; starts nothing. MissingError as above.
std::string mpi_version(const std::string& plugin_folder = "");

}  // namespace plait
