#include "storage/files/lease.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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
std::int64_t highest_of(const fs::path& cell_dir, std::initializer_list<std::string_view> stems) {
  std::int64_t highest = 0;
  std::error_code absent;
  for (fs::directory_iterator it(cell_dir, absent), end; !absent && it != end;
       it.increment(absent)) {
    const std::string name = it->path().filename();
    for (const std::string_view stem : stems) {
      highest = std::max(highest, generation_of(name, stem).value_or(0));
    }
  }
  return highest;
}

}  // namespace

std::int64_t highest_claim(const fs::path& cell_dir) {
  return highest_of(cell_dir, {"gen"});
}

std::int64_t highest_record(const fs::path& cell_dir) {
  return highest_of(cell_dir, {"hb", "journal"});
}

std::string read_heartbeat(const fs::path& cell_dir, std::int64_t generation) {
  try {
    return read_text_file(cell_dir / generation_name("hb", generation));
  } catch (const StorageError&) {
    return "";
  }
}

bool heartbeat_ended(const std::string& heartbeat) {
  return heartbeat.find(kEndedWord) != std::string::npos;
}

std::optional<ProcessIdentity> read_claim(const fs::path& cell_dir, std::int64_t generation) {
  try {
    return identity_from_json(read_text_file(cell_dir / generation_name("gen", generation)));
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
  const Fd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!fd || pwrite(fd.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
    throw_errno(file, "cannot write the heartbeat", errno, line.size());
  }
}

bool Lease::Held::look() {
  struct stat about{};
  // A successor claims exactly the next generation.
  const fs::path next = cell_dir / generation_name("gen", generation + 1);
  if (stat(next.c_str(), &about) == 0) deposed.store(true, std::memory_order_relaxed);
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
  return held_->look();
}

void Lease::release() noexcept {
  if (held_ == nullptr) return;
  try {
    held_->beat(true);
  } catch (const std::exception& e) {
    log(LogLevel::Warning, e.what());  // others then wait for ttl instead
  }
}

LeaseState lease_state(const fs::path& cell_dir) {
  LeaseState state;
  state.generation = highest_claim(cell_dir);
  if (state.generation == 0) return state;
  const auto owner = read_claim(cell_dir, state.generation);
  if (owner) state.owner = *owner;
  if (heartbeat_ended(read_heartbeat(cell_dir, state.generation))) return state;
  state.kind = owner && surely_dead(*owner) ? LeaseState::Kind::Dead : LeaseState::Kind::Held;
  return state;
}

}  // namespace depthgrid
