#include "sweeps/report/log_follower.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/files/loose_text.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {
namespace {

/// Begin of the last `lines` lines of a text of whole lines.
std::size_t begin_of_last(const std::string& text, std::size_t lines) {
  std::size_t at = text.size();
  for (std::size_t i = 0; i < lines && at > 0; ++i) {
    const std::size_t end = at >= 2 ? text.rfind('\n', at - 2) : std::string::npos;
    at = end == std::string::npos ? 0 : end + 1;
  }
  return at;
}

}  // namespace

std::vector<std::filesystem::path> worker_log_files(const Store& store, const CellId& id) {
  std::vector<std::filesystem::path> out;
  for (const AttemptRecord& attempt : read_history(store.cell_path(id), store.fs()).attempts) {
    const auto facts = parse_json_or_discard(attempt.attempt_json);
    if (!facts.is_object() || !facts.contains("logs") || !facts["logs"].is_array()) continue;
    for (const auto& entry : facts["logs"]) {
      if (!entry.is_string()) continue;
      const std::filesystem::path name = std::filesystem::path(entry.get<std::string>()).filename();
      const std::filesystem::path file = store.log_dir() / name;
      if (std::ranges::find(out, file) == out.end()) out.push_back(file);
    }
  }
  return out;
}

LogFollower::LogFollower(const Store& store, CellId id, std::size_t lines)
    : store_(store), id_(std::move(id)), lines_(lines) {}

std::string LogFollower::more() {
  std::string out;
  const auto files = worker_log_files(store_, id_);
  const bool first = file_.empty();
  if (!files.empty() && files.back() != file_) {
    file_ = files.back();
    read_ = 0;
    out = "==> " + file_.string() + " <==\n";
  }
  std::string text = loose_text(file_, read_, store_.fs());
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  read_ += text.size();
  return out + text.substr(first ? begin_of_last(text, lines_) : 0);
}

bool LogFollower::ended() const {
  const CellOutcome outcome = cell_outcome(store_, id_);
  return outcome.seal || is_failure(outcome.state.status);
}

}  // namespace depthgrid
