#include "sweeps/launch/failure_class.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "core/base/enum_words.hpp"
#include "core/base/error.hpp"
#include "core/base/exit_code.hpp"

namespace depthgrid {
namespace {

// In the order of LaunchEnd.
constexpr std::array<EndPolicy, 10> kPolicies = {{
    {LaunchEnd::Done, "", false, false, false},
    {LaunchEnd::Stopped, "", false, false, false},
    {LaunchEnd::Crash, "retry.crash", true, true, false},
    {LaunchEnd::Error, "retry.error", true, true, false},
    {LaunchEnd::Killed, "retry.infrastructure", false, true, false},
    {LaunchEnd::Hang, "retry.hang", true, true, false},
    {LaunchEnd::OutOfMemory, "retry.oom", true, true, false},
    {LaunchEnd::Disk, "", false, true, true},
    {LaunchEnd::Infrastructure, "retry.infrastructure", true, true, false},
    {LaunchEnd::Refused, "", false, false, true},
}};
constexpr std::array<std::string_view, 10> kNames = {"done",           "stopped", "crash", "error",
                                                     "killed",         "hang",    "oom",   "disk",
                                                     "infrastructure", "refused"};

/// What drivers, NCCL and the libraries above them write when the fault is not the program's. What
/// cuBLAS and cuDNN report of a failed execution may have begun in a kernel, but cards that are
/// about to fail say it, too.
constexpr std::string_view kOfTheNode[] = {"NCCL error",
                                           "NCCL: nccl",  // BackendError
                                           "ncclSystemError",
                                           "ncclRemoteError",
                                           "Xid",
                                           "uncorrectable ECC",
                                           "uncorrectable NVLink",
                                           "CUDA driver",
                                           "CUDA error: unspecified launch failure",
                                           "CUDA error: unknown error",
                                           "no CUDA-capable device",
                                           "CUBLAS_STATUS_EXECUTION_FAILED",
                                           "CUBLAS_STATUS_INTERNAL_ERROR",
                                           "CUDNN_STATUS_EXECUTION_FAILED",
                                           "CUDNN_STATUS_INTERNAL_ERROR"};

/// What Slurm says of a step that its nodes have ended for their memory; those may be others than
/// this one.
constexpr std::string_view kOfMemory[] = {"oom_kill event", "oom-kill event", "Out Of Memory"};

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

struct CodeClass {
  int code;
  LaunchEnd end;
};
constexpr CodeClass kCodes[] = {
    {number_of(ExitCode::Done), LaunchEnd::Done},
    {number_of(ExitCode::Partial), LaunchEnd::Done},  // failures are reported in the store
    {number_of(ExitCode::Failed), LaunchEnd::Error},
    {number_of(ExitCode::TempFail), LaunchEnd::Stopped},
    {128 + SIGUSR1, LaunchEnd::Stopped},  // asked before the process could listen
    {number_of(ExitCode::Hang), LaunchEnd::Hang},
    {number_of(ExitCode::OutOfMemory), LaunchEnd::OutOfMemory},
    {number_of(ExitCode::Infrastructure), LaunchEnd::Infrastructure},
    {127, LaunchEnd::Refused},  // a program or a library is missing where it was started
    {number_of(ExitCode::CantCreate), LaunchEnd::Disk},
    {number_of(ExitCode::Usage), LaunchEnd::Refused},
    {number_of(ExitCode::BadData), LaunchEnd::Refused},
    {number_of(ExitCode::NoInput), LaunchEnd::Refused},
    {number_of(ExitCode::BadConfig), LaunchEnd::Refused},
    {128 + SIGKILL, LaunchEnd::Killed},
    {128 + SIGTERM, LaunchEnd::Killed},
    {128 + SIGHUP, LaunchEnd::Killed},
    {128 + SIGINT, LaunchEnd::Killed},
};

}  // namespace

std::string_view name_of(LaunchEnd end) noexcept {
  return enum_word(kNames, end);
}

std::optional<LaunchEnd> launch_end_named(std::string_view word) noexcept {
  return enum_of<LaunchEnd>(kNames, word);
}

std::string end_text(LaunchEnd end, int code) {
  if (code > 128)
    return fmt::format("{} (signal {}, {})", name_of(end), code - 128, strsignal(code - 128));
  return fmt::format("{} (exit code {})", name_of(end), code);
}

const EndPolicy& policy_of(LaunchEnd end) {
  return kPolicies[static_cast<std::size_t>(end)];
}

LaunchEnd end_of(int code, std::string_view tail, std::int64_t oom_kills) {
  const auto* const known = std::ranges::find(kCodes, code, &CodeClass::code);
  const LaunchEnd end = known == std::end(kCodes) ? LaunchEnd::Crash : known->end;
  // Ranks that lose one to the system may report their connection to it first.
  const bool others = end == LaunchEnd::Killed || end == LaunchEnd::Infrastructure;
  if (others && (oom_kills > 0 || contains_any(tail, kOfMemory))) return LaunchEnd::OutOfMemory;
  const bool own = end == LaunchEnd::Crash || end == LaunchEnd::Error;
  return own && names_the_node(tail) ? LaunchEnd::Infrastructure : end;
}

bool names_the_node(std::string_view text) {
  return contains_any(text, kOfTheNode);
}

}  // namespace depthgrid
