#include "worker/process/crash_mark.hpp"

#include <array>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "worker/process/end_note.hpp"

namespace depthgrid {
namespace {

constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// A signal handler can reach only globals, and must not allocate.
std::array<char, 4096> mark_path{};
std::array<struct sigaction, kFaults.size()> before{};
alignas(16) std::array<char, 65536> own_stack{};  // the fault may be an overflow of the other one

void mark(int fault) {
  mark_crash();
  note_end(128 + fault);
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == fault) sigaction(fault, &before[i], nullptr);
  }
  raise(fault);  // as soon as this handler returns
}

}  // namespace

void mark_crashes(const std::filesystem::path& file) {
  const std::string path = file.string();
  if (path.size() >= mark_path.size()) {
    throw UserError(ExitCode::Usage, "the path of the store is too long: " + path);
  }
  const bool first = mark_path.front() == '\0';
  std::memcpy(mark_path.data(), path.c_str(), path.size() + 1);
  if (!first) return;
  stack_t stack{};
  stack.ss_sp = own_stack.data();
  stack.ss_size = own_stack.size();
  sigaltstack(&stack, nullptr);
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = mark;
    action.sa_flags = SA_ONSTACK;
    sigaction(kFaults[i], &action, &before[i]);
  }
}

void mark_crash() noexcept {
  const int file = open(mark_path.data(), O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
  if (file >= 0) close(file);
}

}  // namespace depthgrid
