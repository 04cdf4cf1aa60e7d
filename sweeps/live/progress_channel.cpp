#include "sweeps/live/progress_channel.hpp"

#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/files/loose_text.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

void replace_text(const fs::path& scratch, const fs::path& file, const std::string& text,
                  const Fs& disk) {
  if (put_loose_text(scratch, text, OpenHow::Emptied, disk)) disk.rename(scratch, file);
}

/// Adds the events of a text's whole lines. @return bytes of these lines.
std::size_t add_events(std::string_view text, std::vector<LiveEvent>& out) {
  std::size_t begin = 0, end = 0;
  for (; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    if (auto event = event_of(text.substr(begin, end - begin))) out.push_back(std::move(*event));
  }
  return begin;
}

}  // namespace

ProgressChannel::ProgressChannel(fs::path folder, const Fs& disk)
    : folder_(std::move(folder)), disk_(&disk) {
  make_folders(folder_, disk);
}

fs::path ProgressChannel::file(int rank, const char* kind) const {
  return folder_ / fmt::format("rank-{}.{}", rank, kind);
}

void ProgressChannel::sign(const Processes& processes) const {
  put_loose_text(folder_ / "owner", to_json(processes.self()) + '\n', OpenHow::Emptied, *disk_);
}

void ProgressChannel::append(const std::vector<LiveEvent>& events) const {
  if (events.empty()) return;
  std::string lines;
  for (const LiveEvent& event : events) lines += event_line(event) + '\n';
  put_loose_text(file(events.front().rank, "events"), lines, OpenHow::Append, *disk_);
}

void ProgressChannel::replace(const LiveEvent& newest) const {
  replace_text(file(newest.rank, "next"), file(newest.rank, "now"), event_line(newest), *disk_);
}

void ProgressChannel::sign_life(const LifeSign& sign) const {
  replace_text(folder_ / "life.next", folder_ / "life",
               fmt::format("{} {}", static_cast<int>(sign.phase), sign.beats), *disk_);
}

LifeSign ProgressChannel::life() const {
  std::istringstream text(loose_text(folder_ / "life", 0, *disk_));
  LifeSign out;
  int phase = 0;
  if (text >> phase >> out.beats && phase >= 0 && phase <= static_cast<int>(WorkPhase::Waiting)) {
    out.phase = static_cast<WorkPhase>(phase);
  }
  return out;
}

std::vector<LiveEvent> ProgressChannel::read(int ranks, int own) {
  std::vector<LiveEvent> out;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == own) continue;
    // The newest step first: its job has then been appended already.
    const std::string now = loose_text(file(rank, "now"), 0, *disk_);
    read_[rank] += add_events(loose_text(file(rank, "events"), read_[rank], *disk_), out);
    if (now == newest_[rank]) continue;
    newest_[rank] = now;
    add_events(now + '\n', out);
  }
  return out;
}

void ProgressChannel::ask_to_stop() const {
  put_loose_text(folder_ / "stop", "\n", OpenHow::Emptied, *disk_);
}

bool ProgressChannel::stop_asked() const {
  return disk_->facts(folder_ / "stop", Links::Follow).error == 0;
}

std::vector<LiveEvent> read_events(const fs::path& file, const Fs& disk) {
  std::vector<LiveEvent> out;
  add_events(loose_text(file, 0, disk) + '\n', out);  // the newest step has no line end
  return out;
}

bool channel_is_dead(const fs::path& folder, const Processes& processes, const Fs& disk) {
  const auto owner = identity_from_json(loose_text(folder / "owner", 0, disk));
  return owner && processes.is_dead(*owner);
}

void ProgressChannel::remove() const noexcept {
  disk_->remove_all(folder_);  // not its parent, in which another run may be making its own
}

}  // namespace depthgrid
