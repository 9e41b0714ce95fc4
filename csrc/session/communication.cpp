#include "session/communication.h"

#include <charconv>

#include "backend/cuda/cuda_device.h"
#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "comm/file_bootstrap.h"
#include "comm/local/local.h"
#include "comm/mpi/mpi.h"
#include "comm/nccl/nccl_communicators.h"
#include "comm/process_place.h"
#include "comm/threads/threads.h"
#include "comm/uneven_cost.h"
#include "session/devices.h"

namespace plait {

namespace {

constexpr const char* kOfTheCaller = "of the caller";

CommOptions comm_options(const Options& options) {
  CommOptions out;
  out.timeout = std::chrono::seconds(options.comm_timeout);
  out.dump_folder = options.flight_record;
  return out;
}

// The rank of this process, where the job has one process for each rank of the mesh.
int64_t own_rank(const Bootstrap& job, const DeviceMesh& mesh, const std::string& comm) {
  if (job.size() != mesh.ranks())
    throw UserError(
        fmt::format("the job has {} processes, the mesh {} ranks", job.size(), mesh.ranks()), "comm " + comm,
        comm == kOfTheCaller
            ? fmt::format("give communicators of {} processes, or compile for {} ranks", mesh.ranks(), job.size())
            : fmt::format("start as many processes as ranks: plait launch -n {} -- run ...", mesh.ranks()));
  return job.rank();
}

Communication by_mpi(const CompileOptions& options, const DeviceMesh& mesh) {
  MpiOptions how;
  static_cast<CommOptions&>(how) = comm_options(options.options);
  how.ordered = options.options.ordered;
  Communication out;
  out.comms = make_mpi_communicators(how);
  out.held = {own_rank(*out.comms->bootstrap(), mesh, options.comm)};
  return out;
}

// Communicators and the bootstrap that they use, which goes after them.
struct NcclJob {
  std::shared_ptr<Communicators> processes;  // MPI's, for its bootstrap
  std::unique_ptr<FileBootstrap> files;
  std::shared_ptr<Communicators> comms;
  Bootstrap* bootstrap() const { return processes ? processes->bootstrap() : files.get(); }
};

// The job of `nccl`: by files in the folder of option `rendezvous`, else by MPI; none where no launcher is seen.
NcclJob join_nccl_job(const CompileOptions& options) {
  NcclJob out;
  const auto place = process_place();
  if (options.comm != "nccl" || !place || place->size == 1) return out;
  const CommOptions how = comm_options(options.options);
  if (options.options.rendezvous.empty()) {
    MpiOptions mpi;
    static_cast<CommOptions&>(mpi) = how;
    out.processes = make_mpi_communicators(mpi);
  } else {
    out.files = std::make_unique<FileBootstrap>(
        FileBootstrapOptions{place->rank, place->size, options.options.rendezvous, how.timeout});
  }
  return out;
}

UnevenWay uneven_way(const Options& options) {
  if (options.uneven == "grouped") return UnevenWay::grouped;
  if (options.uneven == "padded") return UnevenWay::padded;
  return UnevenWay::by_cost;
}

Communication on_gpus(const CompileOptions& options, Device& device, const DeviceMesh& mesh) {
  if (mesh.ranks() == 1 && !job_processes(options.comm)) {  // one rank has nobody to talk to
    Communication alone;
    alone.comms = std::make_shared<LocalCommunicators>(comm_options(options.options));
    return alone;
  }
  auto job = std::make_shared<NcclJob>(join_nccl_job(options));
  NcclOptions how;
  static_cast<CommOptions&>(how) = comm_options(options.options);
  how.library = nccl_library(device);
  how.device = &device;
  how.with_device = [&device](int ordinal, const std::function<void()>& body) {
    with_cuda_context(device, ordinal, body);
  };
  how.uneven = uneven_way(options.options);
  how.bootstrap = job->bootstrap();
  Communication out;
  if (options.comm == "local:threads") out.drive = RankDrive::threads;
  if (how.bootstrap) {
    out.held = {own_rank(*how.bootstrap, mesh, options.comm)};
    how.held = out.held;
  } else {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) how.held.push_back(rank);
  }
  if (is_simulated(device.name()) && mesh.ranks() > device.count())
    throw UserError(fmt::format("{} ranks on {} simulated devices", mesh.ranks(), device.count()),
                    "device " + device.name(), "write the number of devices: sim:sm_90a:4");
  job->comms = make_nccl_communicators(how);
  out.comms = std::shared_ptr<Communicators>(job, job->comms.get());
  return out;
}

Communication on_host(const CompileOptions& options, const DeviceMesh& mesh) {
  if (options.comm == "nccl")
    throw UserError("NCCL moves memory of GPUs", "comm nccl, device " + options.device, "take local or mpi");
  if (options.comm == "mpi") return by_mpi(options, mesh);
  Communication out;
  if (options.comm == "local:threads") {
    out.drive = RankDrive::threads;
    out.comms = std::make_shared<ThreadCommunicators>(comm_options(options.options));
  } else {
    out.comms = std::make_shared<LocalCommunicators>(comm_options(options.options));
  }
  return out;
}

}  // namespace

void read_comm(CompileOptions& options, bool lent) {
  constexpr std::string_view kPrefix = "local:";
  const std::string& comm = options.comm;
  for (const char* word : {"local", "local:threads", "mpi", "nccl", "given"})
    if (comm == word) return;
  std::vector<std::string> words = {"local", "local:SEED", "local:threads", "mpi", "nccl"};
  if (lent) words.emplace_back("given");
  const char* const end = comm.data() + comm.size();
  const auto seed = [&] { return std::from_chars(comm.data() + kPrefix.size(), end, options.interleaving); };
  if (!comm.starts_with(kPrefix))
    throw UserError(fmt::format("there is no communicator `{}`", comm), "comm", suggestion(comm, words));
  if (const auto [stop, error] = seed(); error != std::errc() || stop != end)
    throw UserError(fmt::format("there is no communicator `{}`", comm), "comm",
                    lent ? "take local, local:SEED with a whole number, local:threads, mpi, nccl or given"
                         : "take local, local:SEED with a whole number, local:threads, mpi or nccl");
  options.comm = "local";
}

Communication make_communication(const CompileOptions& options, Device& device, const DeviceMesh& mesh) {
  const std::string& comm = options.comm;
  if (mesh.ranks() > 1)
    log(LogComponent::comm, LogLevel::info, "{} ranks on {} talk by {}", mesh.ranks(), device.name(), comm);
  if (comm == "given") return {};
  if (device.host_memory()) return on_host(options, mesh);
  if (comm == "mpi") throw UserError("MPI moves host memory", "comm mpi, device " + device.name(), "take nccl");
  return on_gpus(options, device, mesh);
}

Communication adopt_communication(Communicators& comms, const DeviceMesh& mesh) {
  Communication out;
  out.comms = std::shared_ptr<Communicators>(&comms, [](Communicators*) {});
  if (comms.bootstrap()) out.held = {own_rank(*comms.bootstrap(), mesh, kOfTheCaller)};
  return out;
}

std::optional<int64_t> job_processes(const std::string& comm) {
  if (comm != "mpi" && comm != "nccl") return std::nullopt;
  const auto place = process_place();
  return place ? std::optional(place->size) : std::nullopt;
}

CommTraffic total_traffic(Communicators& comms) {
  const CommTraffic mine = comms.traffic();
  Bootstrap* job = comms.bootstrap();
  if (!job || job->size() == 1) return mine;
  CommTraffic all;
  for (const std::string& text : job->all_gather({reinterpret_cast<const char*>(&mine), sizeof(mine)})) {
    CommTraffic one;
    if (text.size() != sizeof(one))
      throw CommError(fmt::format("{} bytes came from a rank, not {}", text.size(), sizeof(one)), "gathering counts",
                      "");
    text.copy(reinterpret_cast<char*>(&one), sizeof(one));
    all.wire_bytes += one.wire_bytes;
    all.wire_bytes_min += one.wire_bytes_min;
  }
  return all;
}

}  // namespace plait
