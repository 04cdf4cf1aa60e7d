#include "sweeps/slurm/node_check.hpp"

#include <sstream>

#include <fmt/format.h>

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
  std::int64_t seen = 0;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) seen += line.starts_with("GPU ") ? 1 : 0;
  if (seen >= cards) return std::nullopt;
  return fmt::format("nvidia-smi lists {} of the {} cards that the task has been given", seen,
                     cards);
}

}  // namespace depthgrid
