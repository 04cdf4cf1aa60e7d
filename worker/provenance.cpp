#include "worker/provenance.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <torch/headeronly/version.h>

#include "core/base/clock.hpp"
#include "core/base/version.hpp"
#include "storage/process_identity.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

bool allowed(const std::string& name) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"SLURM_", "NCCL_",     "CUDA_",
                                                         "OMP_",   "OMPI_MCA_", "DEPTHGRID_"};
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
              {"environment", environment()}}
      .dump();
}

std::string library_versions_json() {
  return Json{{"libtorch", TORCH_VERSION}, {"compiler", __VERSION__}}.dump();
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "cpu";
}

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace depthgrid
