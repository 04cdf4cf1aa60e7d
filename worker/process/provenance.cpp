#include "worker/process/provenance.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <torch/headeronly/version.h>

#include "core/base/clock.hpp"
#include "core/base/version.hpp"
#include "distributed/device_plugin.hpp"
#include "distributed/mpi_env.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

bool allowed(const std::string& name) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"SLURM_", "NCCL_",     "CUDA_",     "OMP_",
                                                         "MKL_",   "OMPI_MCA_", "DEPTHGRID_"};
  constexpr std::array<std::string_view, 5> kSecret = {"TOKEN", "SECRET", "PASSW", "KEY",
                                                       "CREDENTIAL"};
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return std::ranges::any_of(kPrefixes, [&](auto p) { return name.starts_with(p); }) &&
         std::ranges::none_of(kSecret, has);
}

Json environment() {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  std::ranges::sort(lines);
  Json out = Json::object();
  for (const std::string& line : lines) {
    const std::size_t at = line.find('=');
    if (at != std::string::npos && allowed(line.substr(0, at))) {
      out[line.substr(0, at)] = line.substr(at + 1);
    }
  }
  return out;
}

}  // namespace

std::string attempt_json(const AttemptFacts& facts) {
  const ProcessIdentity self = this_process();
  return Json{{"start", unix_time()},
              {"host", self.host},
              {"pid", self.pid},
              {"job", facts.job},
              {"cells", facts.cells},
              {"ranks", facts.ranks},
              {"threads", facts.threads},
              {"device", facts.device},
              {"scheduler_id", self.scheduler_job},
              {"code_version", code_version()},
              {"logs", facts.logs},
              {"environment", environment()}}
      .dump();
}

std::string library_versions_json(bool on_gpu) {
  Json out = {{"libtorch", TORCH_VERSION},
              {"hdf5", hdf5_version()},
              {"mpi", mpi_version()},
              {"compiler", __VERSION__}};
  for (const auto& [library, version] : device_versions(on_gpu)) out[library] = version;
  return out.dump();
}

std::string log_name() {
  const ProcessIdentity self = this_process();
  std::string time = iso_utc(unix_time());
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return time + "-" + self.host + "-" + std::to_string(self.pid) + ".log";
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "cpu";
}

}  // namespace depthgrid
