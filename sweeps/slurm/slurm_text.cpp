#include "sweeps/slurm/slurm_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "core/base/parse_number.hpp"
#include "core/base/text_parts.hpp"

namespace depthgrid {
namespace {

/// The number that `text` begins with; 0 if there is none.
double number_at(std::string_view text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

std::map<std::string, std::string> slurm_config(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const std::string& line : text_lines(text)) {
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

std::string submitted_job(const std::string& text) {
  std::string out;
  for (const std::string& line : text_lines(text)) {
    const std::string id = line.substr(0, line.find(';'));
    if (parse_number<std::uint64_t>(id)) out = id;
  }
  return out;
}

std::vector<QueuedTask> queued_tasks(const std::string& text) {
  std::vector<QueuedTask> out;
  for (const std::string& line : text_lines(text)) {
    const std::vector<std::string> parts = split_at(line, '|');
    if (parts.size() < 4) continue;
    QueuedTask task{.job = parts[0],
                    .array = parts[0],
                    .index = 0,
                    .state = parts[1],
                    .comment = parts[2],
                    .reason = parts[3]};
    const std::size_t bar = task.job.find('_');
    if (bar != task.job.npos) {
      task.array = task.job.substr(0, bar);
      const char* const end = task.job.data() + task.job.size();
      if (std::from_chars(task.job.data() + bar + 1, end, task.index).ec != std::errc()) continue;
    }
    out.push_back(std::move(task));
  }
  return out;
}

std::vector<ShownTask> shown_tasks(const std::string& text) {
  std::vector<ShownTask> out;
  for (const std::string& line : text_lines(text)) {
    ShownTask& task = out.emplace_back();
    for (const std::string& word : text_words(line)) {
      constexpr std::string_view kLeftOut = "ExcNodeList=";
      task.waits = task.waits || word == "JobState=PENDING" || word == "JobState=REQUEUED";
      if (word.starts_with(kLeftOut)) task.left_out = word.substr(kLeftOut.size());
    }
    if (task.left_out == "(null)") task.left_out.clear();
  }
  return out;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> out;
  std::string part;
  std::int64_t depth = 0;
  for (const char c : list + ",") {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) {
      part += c;
    } else if (!part.empty()) {
      out.push_back(std::exchange(part, {}));
    }
  }
  return out;
}

double gpu_seconds_of(const std::string& text) {
  double out = 0;
  for (const std::string& line : text_lines(text)) {
    const std::size_t bar = line.find('|');
    constexpr std::string_view kGpus = "gres/gpu=";
    const std::size_t at = line.find(kGpus);
    if (bar == line.npos || at == line.npos) continue;
    out += number_at(line) * number_at(std::string_view(line).substr(at + kGpus.size()));
  }
  return out;
}

}  // namespace depthgrid
