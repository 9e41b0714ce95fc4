#pragma once
// Who holds the ranks of a program, who drives them, and how they talk.
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "compile/options.h"
#include "run/bound_program.h"

namespace plait {

struct Communication {
  RankDrive drive = RankDrive::stepped;
  std::vector<int64_t> held;             // ranks of this process; empty: all
  std::shared_ptr<Communicators> comms;  // null: those of each run
};

// Splits options.comm as users write it, `local:SEED`, into the word and options.interleaving; the one rule of the
// command, of C, C++ and Python. UserError for a seed that is no number, a word that is none of those below; it lists
// `given` where runs can lend communicators.
void read_comm(CompileOptions& options, bool lent = true);

// By options.comm: local, local:threads, mpi, nccl, or given, which makes none. On a GPU its own are always NCCL's.
// UserError: an unknown word, a transport that does not fit the device, a job whose processes are not as many as the
// ranks. MissingError: a library that is not there.
Communication make_communication(const CompileOptions& options, Device& device, const DeviceMesh& mesh);

// A caller's communicators, who keeps them.
Communication adopt_communication(Communicators& comms, const DeviceMesh& mesh);

// Processes of the job, as its launcher tells; nothing without a launcher, or where one process holds all ranks.
std::optional<int64_t> job_processes(const std::string& comm);

// Bytes of all ranks. Collective over the processes.
CommTraffic total_traffic(Communicators& comms);

}  // namespace plait
