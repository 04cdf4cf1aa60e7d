#include "sweeps/slurm/partition.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/parse_number.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/text_form.hpp"

namespace depthgrid {
namespace {

/// "infinite" and what sinfo does not know have none.
bool fits(const SlurmPartition& partition, std::int64_t seconds) {
  const auto limit = seconds_of(partition.limit);
  return !limit || seconds <= *limit;
}

}  // namespace

std::int64_t gpus_of_gres(const std::string& gres) {
  std::int64_t out = 0;
  for (std::string part : split_at(gres, ',')) {
    part = part.substr(0, part.find('('));
    if (part != "gpu" && !part.starts_with("gpu:")) continue;
    const std::size_t colon = part.rfind(':');
    const std::string count = colon == part.npos ? "" : part.substr(colon + 1);
    out += parse_number<std::int64_t>(count).value_or(1);  // "gpu", "gpu:a100"
  }
  return out;
}

std::vector<SlurmPartition> slurm_partitions(const std::string& text) {
  std::vector<SlurmPartition> out;
  for (const std::string& line : text_lines(text)) {
    const std::vector<std::string> parts = split_at(line, '|');
    if (parts.size() < 6 || parts.size() > 7 || parts[0].empty()) continue;
    SlurmPartition& partition = out.emplace_back();
    partition.name = parts[0];
    partition.standard = partition.name.ends_with('*');
    if (partition.standard) partition.name.pop_back();
    partition.nodes = std::atoll(parts[1].c_str());
    partition.cores = std::atoll(parts[2].c_str());  // "8+": at least 8
    partition.memory_mb = std::atof(parts[3].c_str());
    partition.gpus = gpus_of_gres(parts[4]);
    partition.limit = without_blanks(parts[5]);
    if (parts.size() < 7) continue;
    const std::size_t slash = parts[6].find('/');
    if (slash != parts[6].npos) partition.idle = std::atoll(parts[6].c_str() + slash + 1);
  }
  return out;
}

std::vector<SlurmPartition> partitions_named(const std::vector<SlurmPartition>& all,
                                             const std::string& names) {
  const std::vector<std::string> wanted = split_at(names, ',');
  std::vector<SlurmPartition> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const SlurmPartition& partition) {
    return wanted.empty() ? partition.standard : std::ranges::count(wanted, partition.name) > 0;
  });
  return out;
}

std::string time_problem(const std::vector<SlurmPartition>& all, const std::string& names,
                         const std::string& time, const std::string& from) {
  const auto seconds = seconds_of(time);
  const std::vector<SlurmPartition> ours = partitions_named(all, names);
  const auto fitting = [&](const SlurmPartition& partition) { return fits(partition, *seconds); };
  if (!seconds || ours.empty() || std::ranges::any_of(ours, fitting)) return {};
  std::vector<std::string> limits, others;  // partitions with nodes of several kinds come twice
  const auto add = [](std::vector<std::string>& to, std::string text) {
    if (std::ranges::count(to, text) == 0) to.push_back(std::move(text));
  };
  for (const SlurmPartition& partition : ours) {
    add(limits, fmt::format("{} ({})", partition.name, partition.limit));
  }
  for (const SlurmPartition& partition : all) {
    if (fitting(partition)) add(others, fmt::format("{} ({})", partition.name, partition.limit));
  }
  return fmt::format(
      "{}: {} is above the limit of partition {}: Slurm would let such tasks wait for "
      "ever. Set it lower; tasks that are not done by then checkpoint and go back into the queue{}",
      from, time, fmt::join(limits, ", "),
      others.empty() ? std::string()
                     : fmt::format(". slurm.partition could also be {}", fmt::join(others, ", ")));
}

}  // namespace depthgrid
