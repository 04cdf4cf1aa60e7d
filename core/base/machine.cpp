#include "core/base/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <pwd.h>
#include <sched.h>
#include <unistd.h>

#include "core/base/control_group.hpp"

namespace depthgrid {
namespace {

std::int64_t usable_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  std::int64_t cores = sched_getaffinity(0, sizeof mine, &mine) == 0
                           ? CPU_COUNT(&mine)
                           : sysconf(_SC_NPROCESSORS_ONLN);
  for (const std::filesystem::path& group : control_groups()) {
    std::ifstream limit(group / "cpu.max");  // "max 100000" if there is none
    double quota = 0, period = 0;
    if (limit >> quota >> period && period > 0) {
      cores = std::min(cores, static_cast<std::int64_t>(std::ceil(quota / period)));
    }
  }
  return std::max<std::int64_t>(cores, 1);
}

double usable_memory() {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  for (const std::filesystem::path& group : control_groups()) {
    std::ifstream limit(group / "memory.max");
    if (double bound = 0; limit >> bound) bytes = std::min(bytes, bound);
  }
  return bytes;
}

std::vector<std::string> usable_gpus() {
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) return cards_of(visible);
  std::vector<std::string> out;
  std::error_code absent;
  for (const auto& card : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", absent)) {
    if (card.is_directory(absent)) out.push_back(std::to_string(out.size()));
  }
  return out;
}

}  // namespace

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "cpu";
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string node_name() {
  const char* const node = std::getenv("SLURMD_NODENAME");
  return node == nullptr ? host_name() : node;
}

std::string user_name() {
  const passwd* const user = getpwuid(geteuid());
  return user == nullptr ? std::to_string(geteuid()) : user->pw_name;
}

std::vector<int> allowed_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return out;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &mine)) out.push_back(core);
  }
  return out;
}

std::vector<std::string> cards_of(const std::string& visible) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < visible.size();) {
    const std::size_t end = std::min(visible.find(',', at), visible.size());
    const std::string card = visible.substr(at, end - at);
    if (card.empty() || card.starts_with("-") || card == "NoDevFiles") break;  // as CUDA reads it
    out.push_back(card);
    at = end + 1;
  }
  return out;
}

Machine this_machine() {
  return {host_name(), usable_cores(), usable_memory(), usable_gpus()};
}

}  // namespace depthgrid
