#include "worker/session/team_state.hpp"

#include <cstring>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"

namespace depthgrid {

void share_ends(Collective& team, CellSet& cells) {
  if (team.size() < 2) return;
  at::Tensor running = at::empty({cells.size()}, at::kLong);
  auto* flags = running.mutable_data_ptr<std::int64_t>();
  for (std::int64_t e = 0; e < cells.size(); ++e) {
    flags[e] = cells.status(e) == CellStatus::Running ? 1 : 0;
  }
  team.broadcast(running, 0);
  for (std::int64_t e = 0; e < cells.size(); ++e) {
    if (flags[e] == 0 && cells.status(e) == CellStatus::Running) {
      cells.retire(e, CellStatus::Completed);
    }
  }
}

std::uint64_t parameter_hash(Arena& arena) {
  const at::Tensor host = arena.values().cpu().contiguous();
  const std::span<const float> values(host.const_data_ptr<float>(),
                                      static_cast<std::size_t>(host.numel()));
  const auto digest = sha256(std::as_bytes(values));
  std::uint64_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

void require_equal_parameters(Collective& team, Arena& arena, std::int64_t step) {
  if (team.size() < 2) return;
  const at::Tensor mine =
      at::full({1}, static_cast<std::int64_t>(parameter_hash(arena)), at::kLong);
  const at::Tensor all = all_gather(team, mine);
  const auto* hashes = all.const_data_ptr<std::int64_t>();
  std::vector<int> different;
  for (int rank = 1; rank < team.size(); ++rank) {
    if (hashes[rank] != hashes[0]) different.push_back(rank);
  }
  if (different.empty()) return;
  throw UserError(
      ExitCode::Infrastructure,
      fmt::format(
          "after step {} the parameters of rank {} of the team differ from those of its rank 0: "
          "nothing is written. A fault of the hardware, or an error in this program; the same "
          "command goes on from the last checkpoint",
          step, fmt::join(different, ", ")));
}

}  // namespace depthgrid
