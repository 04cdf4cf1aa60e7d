#include "sweeps/slurm/node_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text_parts.hpp"

namespace depthgrid {
namespace {

constexpr double kDriverPatience = 60;  // s; it answers in seconds even on a node of eight cards
constexpr int kNoSuchProgram = 127;

}  // namespace

std::optional<std::string> node_fault(const CommandRunner& run, std::int64_t cards) {
  if (cards < 1) return std::nullopt;
  const CommandAnswer answer = run({"nvidia-smi", "-L"}, kDriverPatience);
  if (answer.late)
    return fmt::format("nvidia-smi -L has not answered for {:.0f} s", kDriverPatience);
  if (answer.code == kNoSuchProgram) return std::nullopt;
  if (answer.code != 0) {
    return fmt::format("nvidia-smi -L ended with {}: {}{}", answer.code, answer.out, answer.err);
  }
  const auto seen = std::ranges::count_if(
      text_lines(answer.out), [](const std::string& line) { return line.starts_with("GPU "); });
  if (seen >= cards) return std::nullopt;
  return fmt::format("nvidia-smi lists {} of the {} cards that the task has been given", seen,
                     cards);
}

}  // namespace depthgrid
