#include "storage/files/lease.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Second word of a heartbeat file; of equal length, so that one line overwrites the other.
constexpr std::string_view kBeatingWord = "beats", kEndedWord = "ended";

/// Highest generation among the files with these stems; 0 without any.
std::int64_t highest_of(const fs::path& cell_dir, std::initializer_list<std::string_view> stems,
                        const Fs& disk) {
  std::int64_t highest = 0;
  for (const FolderEntry& entry : disk.list(cell_dir).value) {
    for (const std::string_view stem : stems) {
      highest = std::max(highest, generation_of(entry.name, stem).value_or(0));
    }
  }
  return highest;
}

}  // namespace

std::int64_t highest_claim(const fs::path& cell_dir, const Fs& disk) {
  return highest_of(cell_dir, {"gen"}, disk);
}

std::int64_t highest_record(const fs::path& cell_dir, const Fs& disk) {
  return highest_of(cell_dir, {"hb", "journal"}, disk);
}

std::string read_heartbeat(const fs::path& cell_dir, std::int64_t generation, const Fs& disk) {
  try {
    return read_text_file(cell_dir / generation_name("hb", generation), disk);
  } catch (const StorageError&) {
    return "";
  }
}

bool heartbeat_ended(const std::string& heartbeat) {
  return heartbeat.find(kEndedWord) != std::string::npos;
}

std::optional<ProcessIdentity> read_claim(const fs::path& cell_dir, std::int64_t generation,
                                          const Fs& disk) {
  try {
    return identity_from_json(read_text_file(cell_dir / generation_name("gen", generation), disk));
  } catch (const StorageError&) {
    return std::nullopt;
  }
}

void Lease::Held::beat(bool last) {
  const std::lock_guard lock(mutex);
  if (ended) return;
  ended = last;
  ++beats;
  // Constant length, written by one call, then closed: on a network filesystem other hosts see a
  // file's content once it is closed.
  const std::string line = fmt::format("{:019} {}\n", beats, last ? kEndedWord : kBeatingWord);
  const fs::path file = cell_dir / generation_name("hb", generation);
  const auto [open, error] = disk->open(file, OpenHow::Overwrite);
  const auto written = error != 0
                           ? Tried<std::size_t>{0, error}
                           : open->write_at(std::as_bytes(std::span(line.data(), line.size())), 0);
  if (written && written.value == line.size()) return;
  throw_errno(file, "cannot write the heartbeat", written ? EIO : written.error, line.size(),
              *disk);
}

bool Lease::Held::check() {
  // A successor claims exactly the next generation.
  const fs::path next = cell_dir / generation_name("gen", generation + 1);
  if (disk->facts(next, Links::Follow)) deposed.store(true, std::memory_order_relaxed);
  return deposed.load(std::memory_order_relaxed);
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    held_ = std::move(other.held_);
  }
  return *this;
}

Lease::~Lease() {
  release();
}

bool Lease::check_deposed() {
  return held_->check();
}

void Lease::release() noexcept {
  if (held_ == nullptr) return;
  try {
    held_->beat(true);
  } catch (const std::exception& e) {
    log(LogLevel::Warning, e.what());  // others then wait for ttl instead
  }
}

LeaseState lease_state(const fs::path& cell_dir, const Fs& disk) {
  LeaseState state;
  state.generation = highest_claim(cell_dir, disk);
  if (state.generation == 0) return state;
  const auto owner = read_claim(cell_dir, state.generation, disk);
  if (owner) state.owner = *owner;
  if (heartbeat_ended(read_heartbeat(cell_dir, state.generation, disk))) return state;
  state.kind = owner && surely_dead(*owner) ? LeaseState::Kind::Dead : LeaseState::Kind::Held;
  return state;
}

}  // namespace depthgrid
