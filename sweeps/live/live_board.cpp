#include "sweeps/live/live_board.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "storage/files/loose_text.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

void replace_text(const fs::path& scratch, const fs::path& file, const std::string& text) {
  if (!(std::ofstream(scratch, std::ios::binary | std::ios::trunc) << text)) return;
  std::error_code ignored;
  fs::rename(scratch, file, ignored);
}

}  // namespace

LiveBoard::LiveBoard(fs::path folder) : folder_(std::move(folder)) {
  make_folders(folder_);
}

fs::path LiveBoard::file(int rank, const char* kind) const {
  return folder_ / fmt::format("rank-{}.{}", rank, kind);
}

void LiveBoard::sign() const {
  std::ofstream(folder_ / "owner") << to_json(this_process()) << '\n';
}

void LiveBoard::append(const std::vector<LiveEvent>& events) const {
  if (events.empty()) return;
  std::string lines;
  for (const LiveEvent& event : events) lines += event_line(event) + '\n';
  std::ofstream(file(events.front().rank, "events"), std::ios::binary | std::ios::app) << lines;
}

void LiveBoard::replace(const LiveEvent& newest) const {
  replace_text(file(newest.rank, "next"), file(newest.rank, "now"), event_line(newest));
}

void LiveBoard::sign_life(const LifeSign& sign) const {
  replace_text(folder_ / "life.next", folder_ / "life",
               fmt::format("{} {}", static_cast<int>(sign.phase), sign.beats));
}

LifeSign LiveBoard::life() const {
  std::istringstream text(loose_text(folder_ / "life"));
  LifeSign out;
  int phase = 0;
  if (text >> phase >> out.beats && phase >= 0 && phase <= static_cast<int>(WorkPhase::Waiting)) {
    out.phase = static_cast<WorkPhase>(phase);
  }
  return out;
}

std::vector<LiveEvent> LiveBoard::read(int ranks, int own) {
  std::vector<LiveEvent> out;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == own) continue;
    // The newest step first: its job has then been appended already.
    const std::string now = loose_text(file(rank, "now"));
    const std::string lines = loose_text(file(rank, "events"), read_[rank]);
    std::size_t begin = 0;
    for (std::size_t end = lines.find('\n'); end != std::string::npos;
         begin = end + 1, end = lines.find('\n', begin)) {
      if (auto event = event_of(std::string_view(lines).substr(begin, end - begin))) {
        out.push_back(std::move(*event));
      }
    }
    read_[rank] += begin;
    if (now == newest_[rank]) continue;
    newest_[rank] = now;
    if (auto event = event_of(now)) out.push_back(std::move(*event));
  }
  return out;
}

void LiveBoard::ask_to_stop() const {
  std::ofstream(folder_ / "stop") << '\n';
}

bool LiveBoard::stop_asked() const {
  std::error_code ignored;
  return fs::exists(folder_ / "stop", ignored);
}

std::vector<LiveEvent> read_events(const fs::path& file) {
  std::vector<LiveEvent> out;
  const std::string lines = loose_text(file);
  std::size_t begin = 0;
  while (begin < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    if (auto event = event_of(std::string_view(lines).substr(begin, end - begin))) {
      out.push_back(std::move(*event));
    }
    begin = end + 1;
  }
  return out;
}

bool board_is_dead(const fs::path& folder) {
  const auto owner = identity_from_json(loose_text(folder / "owner"));
  return owner && surely_dead(*owner);
}

void LiveBoard::remove() const noexcept {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);  // not its parent, in which another run may be making its own
}

}  // namespace depthgrid
