#include "sweeps/supervise/launch_process.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "core/base/machine.hpp"

namespace depthgrid {
namespace {

constexpr double kLookSeconds = 0.5;  // files are read for it

}  // namespace

std::filesystem::path LaunchProcess::board_of(const LaunchTicket& ticket) {
  return ticket.folder / fmt::format("board-{}", ticket.attempt);
}

LaunchProcess::LaunchProcess(const LaunchTicket& ticket, const LaunchCommand& command, int number)
    : note_(board_of(ticket) / kEndNote),
      board_(board_of(ticket)),
      kind_(command.kind),
      node_(command.elsewhere ? "" : node_name()),
      child_({.command = command.words,
              .variables = command.variables,
              .keeps_launcher = command.kind != LauncherKind::Direct,
              .output = ticket.folder / fmt::format("attempt-{}.log", ticket.attempt),
              .cores = ticket.cores}),
      number_(number) {}

LaunchProcess::~LaunchProcess() {
  child_.kill_group();
  board_.remove();
}

std::optional<int> LaunchProcess::poll() {
  const std::optional<int> code = child_.poll();
  std::error_code unknown;
  if (!code || !std::filesystem::is_regular_file(note_, unknown)) return code;
  std::ifstream note(note_);
  int noted = 0;
  std::string node;
  if (!(note >> noted)) return code;
  if (note >> node) node_ = node;
  return *code > 128 ? noted : code;
}

/// mpirun and srun pass USR1 on to all ranks; TERM would end mpirun's within two seconds.
void LaunchProcess::ask_to_stop() {
  child_.signal(SIGUSR1);
}

void LaunchProcess::kill_hung() {
  constexpr std::chrono::milliseconds kToAnswer(300);
  if (kind_ == LauncherKind::Direct) child_.signal(SIGQUIT);
  if (kind_ == LauncherKind::Mpirun) child_.signal_children(SIGQUIT);
  std::this_thread::sleep_for(kToAnswer);
  kill();
}

std::vector<LiveEvent> LaunchProcess::news() {
  if (since_look_.seconds() < kLookSeconds) return {};
  since_look_ = Stopwatch();
  std::vector<LiveEvent> out = board_.read(1, -1);
  for (LiveEvent& event : out) event.rank = number_;
  return out;
}

}  // namespace depthgrid
