#include "sweeps/doctor/gpu_links.hpp"

#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/text_parts.hpp"

namespace depthgrid {

Finding links_finding(const std::string& topology) {
  std::size_t fast = 0, host = 0;
  for (const std::string& line : text_lines(topology)) {
    if (!line.starts_with("GPU")) continue;
    for (const std::string& word : text_words(line)) {
      if (word.starts_with("NV") && word.size() > 2 && word[2] >= '0' && word[2] <= '9') ++fast;
      if (word == "SYS" || word == "NODE" || word == "PHB") ++host;
    }
  }
  Finding out{.what = "GPU links"};
  if (fast + host == 0) {
    out.seen = "one GPU, or PCIe switches alone";
  } else if (host == 0) {
    out.seen = "NVLink between all GPUs";
  } else {
    out.seen = fmt::format("{} of {} pairs reach each other through the host", host / 2,
                           (fast + host) / 2);
    out.cure =
        "teams of several GPUs (resources.ranks_per_job) will be slow on these; one GPU per "
        "cell is not concerned";
  }
  return out;
}

Finding peer_finding(const std::string& matrix) {
  std::size_t pairs = 0, without = 0;
  std::string why;
  for (const std::string& line : text_lines(matrix)) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || !word.starts_with("GPU")) continue;
    while (words >> word && (word == "X" || !word.starts_with("GPU"))) {
      if (word == "X") continue;
      ++pairs;
      if (word == "OK") continue;
      ++without;
      why = word;
    }
  }
  Finding out{.what = "GPU peer access", .seen = "nvidia-smi reports nothing about pairs"};
  if (pairs == 0) return out;
  out.seen = fmt::format("{} of {} pairs", (pairs - without) / 2, pairs / 2);
  if (without == 0) return out;
  out.seen += fmt::format(" (others: {})", why);
  out.cure =
      "teams on these cards exchange their gradients through the host, which is slower; IOMMU, ACS "
      "or the kind of card forbids it. If NCCL hangs there, set NCCL_P2P_DISABLE=1";
  return out;
}

Finding nccl_finding(const std::string& libraries, bool needed,
                     const std::function<std::string(const std::string& path)>& version) {
  Finding out{.what = "NCCL"};
  std::string path, missing;
  for (const std::string& line : text_lines(libraries)) {
    const std::vector<std::string> words = text_words(line);  // name, arrow, target
    if (words.size() < 3 || words[1] != "=>") continue;
    if (words[2] == "not") missing += (missing.empty() ? "" : ", ") + words[0];
    if (words[0].starts_with("libnccl.so") && words[2] != "not") path = words[2];
  }
  if (!missing.empty() || path.empty()) {
    out.seen = missing.empty() ? "the GPU plug-in names no NCCL"
                               : "the GPU plug-in cannot be loaded: " + missing + " not found";
    if (!needed) {
      out.seen += "; without a GPU nothing needs it";
      return out;
    }
    return out.problem(
        "have the linker find it (LD_LIBRARY_PATH, ldconfig), or build again on this machine "
        "(scripts/build.sh)");
  }
  const std::string number = version(path);
  out.seen = fmt::format("{} of {}", number.empty() ? "unknown version" : number, path);
  return out;
}

std::string nccl_version_of(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  using Ask = int(int*);
  auto* const ask = reinterpret_cast<Ask*>(dlsym(library, "ncclGetVersion"));
  int number = 0;
  std::string out;
  if (ask != nullptr && ask(&number) == 0) {
    out = fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  }
  dlclose(library);
  return out;
}

}  // namespace depthgrid
