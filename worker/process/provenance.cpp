#include "worker/process/provenance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include "core/base/clock.hpp"
#include "core/base/isa.hpp"
#include "core/base/json_text.hpp"
#include "core/base/version.hpp"
#include "distributed/device_plugin.hpp"
#include "distributed/mpi_env.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

bool allowed(const std::string& name) {
  constexpr std::array<std::string_view, 9> kPrefixes = {
      "SLURM_", "NCCL_", "CUDA_", "OMP_", "MKL_", "ATEN_", "ONEDNN_", "OMPI_MCA_", "DEPTHGRID_"};
  constexpr std::array<std::string_view, 12> kSecret = {
      "TOKEN", "SECRET", "PASS", "PWD",     "KEY",    "CREDENTIAL",
      "JWT",   "AUTH",   "CERT", "PRIVATE", "COOKIE", "SIGNATURE"};
  const std::string loud = upper(name);
  const auto has = [&](std::string_view part) { return loud.find(part) != std::string::npos; };
  return std::ranges::any_of(kPrefixes, [&](auto p) { return name.starts_with(p); }) &&
         std::ranges::none_of(kSecret, has);
}

/// "https://user:word@host/x" without "user:word@", anywhere in a text.
std::string without_user_info(std::string text) {
  constexpr std::string_view kScheme = "://";
  for (std::size_t at = text.find(kScheme); at != std::string::npos;
       at = text.find(kScheme, at + 1)) {
    const std::size_t begin = at + kScheme.size();
    const std::size_t end = std::min(text.find_first_of("/?# \t\n,;\"'", begin), text.size());
    const std::size_t sign = text.rfind('@', end);
    if (sign != std::string::npos && sign >= begin && sign < end) {
      text.erase(begin, sign + 1 - begin);
    }
  }
  return text;
}

/// Bytes that are not UTF-8, which a variable or a name may hold, become U+FFFD.
std::string text_of(const Json& json) {
  return json_text(json);
}

Json environment() {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  std::ranges::sort(lines);
  Json out = Json::object();
  for (const std::string& line : lines) {
    const std::size_t at = line.find('=');
    if (at != std::string::npos && allowed(line.substr(0, at))) {
      out[line.substr(0, at)] = without_user_info(line.substr(at + 1));
    }
  }
  return out;
}

}  // namespace

std::string attempt_json(const AttemptFacts& facts) {
  const ProcessIdentity self = this_process();
  return text_of({{"start", unix_time()},
                  {"host", self.host},
                  {"pid", self.pid},
                  {"job", facts.job},
                  {"cells", facts.cells},
                  {"ranks", facts.ranks},
                  {"threads", facts.threads},
                  {"device", facts.device},
                  {"instruction_sets", instruction_sets()},
                  {"scheduler_id", self.scheduler_job},
                  {"code_version", code_version()},
                  {"logs", facts.logs},
                  {"environment", environment()}});
}

std::string library_versions_json(bool on_gpu) {
  Json out = {{"libtorch", TORCH_VERSION},
              {"hdf5", hdf5_version()},
              {"mpi", mpi_version()},
              {"compiler", __VERSION__}};
  for (const auto& [library, version] : device_versions(on_gpu)) out[library] = version;
  return text_of(out);
}

std::string log_name() {
  const ProcessIdentity self = this_process();
  std::string time = iso_utc(unix_time());
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return time + "-" + self.host + "-" + std::to_string(self.pid) + ".log";
}

std::string instruction_sets() {
  return fmt::format("{}; LibTorch: {}", name_of(isa_in_use()), at::get_cpu_capability());
}

}  // namespace depthgrid
