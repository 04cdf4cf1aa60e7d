#include "sweeps/launch/launch_process.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/exit_code.hpp"
#include "core/base/machine.hpp"
#include "storage/files/loose_text.hpp"
#include "sweeps/launch/launch_record.hpp"

namespace depthgrid {
namespace {

constexpr double kPollSeconds = 0.5;  // files are read for it
constexpr double kToAnswer = 0.3;     // s, of a rank that is asked where it is
constexpr int kHighestSignal = 64;
constexpr std::uint64_t kLeastSpace = 1 << 20;  // bytes, of a folder of small files
constexpr int kCannotLoad = 127;                // of the loader, which lacks a library here
constexpr const char* kSessions = "OMPI_MCA_orte_tmpdir_base";

/// Where mpirun and its ranks keep their files, for this launch alone: by default those of all
/// launches of a user share a folder, and one that ends removes it under one that starts. On other
/// nodes nobody would remove it.
std::optional<ScratchFolder> sessions_of(const LaunchCommand& command) {
  if (command.kind != LauncherKind::Mpirun || command.elsewhere) return std::nullopt;
  const char* const wanted = std::getenv(kSessions);
  return std::optional<ScratchFolder>(std::in_place, wanted == nullptr ? "" : wanted);
}

std::map<std::string, std::string> variables_of(const LaunchCommand& command,
                                                const std::optional<ScratchFolder>& sessions) {
  std::map<std::string, std::string> out = command.variables;
  if (sessions) out[kSessions] = sessions->path().string();
  return out;
}

ChildStream stream_of(const LaunchRequest& request, const std::filesystem::path& log) {
  if (!request.own_log) return {};
  return {.kind = ChildStream::Kind::File, .file = log};
}

/// Whether a launcher's code, of which no rank has noted anything, is its own: 1 where it could not
/// start, and what is no signal where it has lost its daemons (ORTE's errors are negative numbers).
bool is_of_launcher(int code) {
  return code == static_cast<int>(ExitCode::Failed) || code > 128 + kHighestSignal;
}

/// What cannot be asked counts as space.
bool has_space(const Tried<DiskSpace>& asked) {
  const DiskSpace& space = asked.value;
  return !asked || (space.bytes >= kLeastSpace && (!space.counts_files || space.files > 0));
}

}  // namespace

std::filesystem::path LaunchProcess::channel_of(const LaunchRequest& request) {
  return request.folder / fmt::format("board-{}", request.attempt);
}

LaunchProcess::LaunchProcess(const LaunchRequest& request, const LaunchCommand& command, int number,
                             const Clock& clock)
    : note_(channel_of(request) / kEndNote),
      disk_(*request.disk),
      channel_(channel_of(request), disk_),
      kind_(command.kind),
      node_(command.elsewhere ? "" : node_name()),
      log_(request.folder / attempt_log(request.attempt)),
      sessions_(sessions_of(command)),
      child_({.command = command.words,
              .variables = variables_of(command, sessions_),
              .keeps_launcher = command.kind != LauncherKind::Direct,
              .in = {.kind = ChildStream::Kind::Nothing},
              .out = stream_of(request, log_),
              .err = stream_of(request, log_),
              .cores = request.cores}),
      number_(number),
      clock_(clock),
      read_(clock.now()) {}

LaunchProcess::~LaunchProcess() {
  child_.kill_group();
  channel_.remove();
}

std::optional<int> LaunchProcess::poll() {
  if (asked_where_ && clock_.now() - *asked_where_ > kToAnswer) kill();
  const std::optional<int> code = child_.poll();
  if (!code) return code;
  if (!disk_.is_file(note_)) {
    if (kind_ == LauncherKind::Direct && *code == kCannotLoad) cause_ = "library";
    if (kind_ == LauncherKind::Direct || !is_of_launcher(*code)) return code;
    if (const std::string full = lack_of_space(); !full.empty()) {
      put_loose_text(log_, full, OpenHow::Append, disk_);
      return static_cast<int>(ExitCode::CantCreate);
    }
    const std::string why = fmt::format(
        "depthgrid: {0} ended with {1}, and no rank has noted why: it could not start them, or has "
        "lost one of their nodes; `{0} -n 2 hostname` in the same place may say more\n",
        name_of(kind_), *code);
    put_loose_text(log_, why, OpenHow::Append, disk_);
    return static_cast<int>(ExitCode::Infrastructure);
  }
  std::istringstream note(loose_text(note_, 0, disk_));
  int noted = 0;
  std::string node;
  if (!(note >> noted)) return code;
  if (note >> node) node_ = node;
  note >> cause_;
  return *code > 128 ? noted : code;
}

/// Why the launcher had no space for its own files; empty if it had.
std::string LaunchProcess::lack_of_space() const {
  if (!sessions_) return {};
  const Tried<DiskSpace> space = disk_.space(sessions_->path());
  if (has_space(space)) return {};
  return fmt::format(
      "depthgrid: {}: No space left on device ({} bytes are free): {} and its ranks keep their "
      "files there; free some, or set TMPDIR to another folder\n",
      sessions_->path().string(), space.value.bytes, name_of(kind_));
}

bool LaunchProcess::can_report() const {
  const std::filesystem::path channel = note_.parent_path();  // somebody may have cleared TMPDIR
  return has_space(disk_.space(channel)) &&
         put_loose_text(channel / "probe", "\n", OpenHow::Emptied, disk_);
}

/// mpirun and srun pass USR1 on to all ranks; TERM would end mpirun's within two seconds.
void LaunchProcess::ask_to_stop() {
  child_.signal(SIGUSR1);
}

void LaunchProcess::kill_hung() {
  if (kind_ == LauncherKind::Direct) child_.signal(SIGQUIT);
  if (kind_ == LauncherKind::Mpirun) child_.signal_children(SIGQUIT);
  asked_where_ = clock_.now();
}

std::vector<LiveEvent> LaunchProcess::news() {
  if (!child_.poll() && clock_.now() - read_ < kPollSeconds) return {};
  read_ = clock_.now();
  life_ = channel_.life();
  std::vector<LiveEvent> out = channel_.read(1, -1);
  for (LiveEvent& event : out) event.rank = number_;
  return out;
}

}  // namespace depthgrid
