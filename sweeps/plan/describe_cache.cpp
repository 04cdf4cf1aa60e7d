#include "sweeps/plan/describe_cache.hpp"

#include <array>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "sweeps/orders/orders.hpp"
#include "sweeps/orders/pipe_child.hpp"
#include "sweeps/plan/answer_cache.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// The kept answer about one structure; nothing if it is absent or damaged.
CostTable read_entry(const fs::path& file) {
  const std::optional<std::string> text = cached_answer(file);
  if (!text) return {};
  try {
    return parse_costs(*text);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

DescribeCache::DescribeCache(fs::path worker, fs::path folder)
    : worker_(std::move(worker)), folder_(std::move(folder)), build_(build_of(worker_)) {}

fs::path DescribeCache::entry(const CellPlan& cell, Detail detail) const {
  std::string key = cell.structure + ' ' + build_;
  if (detail == Detail::Counts) return folder_ / ("counts-" + hex(sha256(key), 32) + ".json");
  if (detail == Detail::Tensors) return folder_ / ("tensors-" + hex(sha256(key), 32) + ".json");
  for (const char* leaf : {"resources.device", "resources.threads"}) {
    key += ' ' + plain_text(cell.config.at(leaf));
  }
  return folder_ / (hex(sha256(key), 32) + ".json");
}

CostTable DescribeCache::known(const std::vector<CellPlan>& cells) const {
  return kept(cells, Detail::Times);
}

CostTable DescribeCache::costs(const std::vector<CellPlan>& cells) const {
  return answer(cells, Detail::Times);
}

CostTable DescribeCache::counts(const std::vector<CellPlan>& cells) const {
  return answer(cells, Detail::Counts);
}

CostTable DescribeCache::tensors(const std::vector<CellPlan>& cells) const {
  return answer(cells, Detail::Tensors);
}

CostTable DescribeCache::kept(const std::vector<CellPlan>& cells, Detail detail) const {
  CostTable table;
  std::set<std::string> seen;
  for (const CellPlan& cell : cells) {
    if (folder_.empty() || !seen.insert(cell.structure).second) continue;
    const CostTable found = read_entry(entry(cell, detail));
    if (const auto at = found.find(cell.structure); at != found.end()) table.insert(*at);
  }
  return table;
}

CostTable DescribeCache::answer(const std::vector<CellPlan>& cells, Detail detail) const {
  CostTable table = kept(cells, detail);
  std::vector<const CellPlan*> missing;
  std::set<std::string> seen;
  for (const CellPlan& cell : cells) {
    if (!table.contains(cell.structure) && seen.insert(cell.structure).second) {
      missing.push_back(&cell);
    }
  }
  if (missing.empty()) return table;
  if (access(worker_.c_str(), X_OK) != 0) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{} is not there or cannot be started: counts and times of a "
                                "structure are its answers; build both programs",
                                worker_.string()));
  }
  const std::string request = structure_request(
      missing, {{"times", detail == Detail::Times}, {"tensors", detail == Detail::Tensors}});
  const ChildOutput child = pipe_child({worker_.string(), "describe"}, request);
  if (child.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{} describe ended with code {}; its own message stands above",
                                worker_.string(), child.code));
  }
  const CostTable described = parse_costs(child.output);
  for (const CellPlan* cell : missing) {
    const auto at = described.find(cell->structure);
    if (at == described.end())
      throw Error("describe: no answer about structure " + cell->structure);
    table.insert(*at);
    if (!folder_.empty()) {
      cache_answer(entry(*cell, detail), costs_json({{cell->structure, at->second}}));
    }
  }
  return table;
}

std::string build_of(const fs::path& worker) {
  std::string build = code_version();
  struct stat file{};
  if (stat(worker.c_str(), &file) == 0) {
    build += fmt::format(" {} {}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  }
  return build;
}

fs::path default_cache_folder() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return {};
  const auto folder = [&](const fs::path& base) {
    return base / "depthgrid" / "describe" / host.data();
  };
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return folder(cache);
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return folder(fs::path(home) / ".cache");
  return {};
}

}  // namespace depthgrid
