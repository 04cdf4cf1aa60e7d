#include "sweeps/launch/launch_record.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using LaunchJson = nlohmann::ordered_json;

using R = LaunchRecord;
constexpr auto kLaunchMembers =
    json_members("launch", &R::id, "attempt", &R::attempt, "cells", &R::cells, "host", &R::host,
                 "slurm_job", &R::slurm_job, "restart", &R::restart, "launcher", &R::launcher,
                 "ranks", &R::ranks, "end", &R::end, "code", &R::code, "cause", &R::cause,
                 "seconds", &R::seconds, "log", &R::log, "last_words", &R::last_words);

/// The number in "attempt-12.json" or "attempt-12.log"; 0 for other names.
std::int64_t attempt_in(const std::string& name) {
  constexpr std::string_view kStart = "attempt-";
  if (!name.starts_with(kStart)) return 0;
  std::int64_t n = 0;
  std::from_chars(name.data() + kStart.size(), name.data() + name.size(), n);
  return n;
}

}  // namespace

// By name of the type, as the library asks for it.
static void to_json(LaunchJson& json, LaunchEnd end) {
  json = name_of(end);
}

static void from_json(const LaunchJson& json, LaunchEnd& end) {
  end = launch_end_named(json.get<std::string>()).value_or(LaunchEnd::Done);
}

fs::path launch_folder(const fs::path& store, const std::string& id) {
  return store / "launches" / id;
}

std::string attempt_log(std::int64_t attempt) {
  return fmt::format("attempt-{}.log", attempt);
}

std::int64_t next_attempt(const fs::path& folder, const Fs& disk) {
  std::int64_t last = 0;
  for (const FolderEntry& entry : disk.list(folder).value) {
    last = std::max(last, attempt_in(entry.name));
  }
  return last + 1;
}

std::string to_json(const LaunchRecord& record) {
  LaunchJson out = {{"schema", 1}};
  put_members(out, record, kLaunchMembers);
  return json_text(out, 1);
}

std::optional<LaunchRecord> launch_record(const std::string& json) {
  const LaunchJson j = parse_ordered_json_or_discard(json);
  try {
    LaunchRecord out;
    take_members(j, out, kLaunchMembers, {"restart", "cause"});
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

fs::path record_file(const fs::path& store, const LaunchRecord& record) {
  return launch_folder(store, record.id) / fmt::format("attempt-{}.json", record.attempt);
}

void keep_record(const fs::path& store, const LaunchRecord& record, const Fs& disk) {
  publish_replace(record_file(store, record), to_json(record), disk);
}

std::vector<LaunchRecord> launch_records(const fs::path& store, const Fs& disk) {
  std::vector<LaunchRecord> out;
  for (const fs::path& launch : disk.entries(store / "launches")) {
    for (const auto& [name, kind] : disk.list(launch).value) {
      if (attempt_in(name) == 0 || !name.ends_with(".json")) continue;
      if (auto record = launch_record(loose_text(launch / name, 0, disk))) {
        out.push_back(std::move(*record));
      }
    }
  }
  std::ranges::sort(out, [](const LaunchRecord& a, const LaunchRecord& b) {
    return a.id != b.id ? a.id < b.id : a.attempt < b.attempt;
  });
  return out;
}

}  // namespace depthgrid
