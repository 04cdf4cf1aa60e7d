#include "sweeps/slurm/slurm_config.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace depthgrid {

std::string without_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \n\r\t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(kBlank) + 1));
}

std::map<std::string, std::string> slurm_config(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find('=');
    if (at == line.npos) continue;
    out[without_blanks(line.substr(0, at))] = without_blanks(line.substr(at + 1));
  }
  return out;
}

std::int64_t tasks_per_array(const std::map<std::string, std::string>& config) {
  constexpr std::string_view kLimit = "max_array_tasks=";
  const auto size = config.find("MaxArraySize");
  std::int64_t out = size == config.end() ? kUsualArraySize : std::atoll(size->second.c_str());
  const auto parameters = config.find("SchedulerParameters");
  if (parameters == config.end()) return out;
  const std::size_t at = parameters->second.find(kLimit);
  if (at == std::string::npos) return out;
  return std::min<std::int64_t>(out, std::atoll(parameters->second.c_str() + at + kLimit.size()));
}

}  // namespace depthgrid
