#include "worker/session/early_stop.hpp"

#include "core/config/axis_labels.hpp"

namespace depthgrid {

EarlyStop::EarlyStop(const TrainOptions& options, CellSet& cells)
    : options_(options), cells_(cells), lowest_(static_cast<std::size_t>(cells.size())) {}

bool EarlyStop::see(std::size_t e, std::int64_t step, double loss) {
  const auto cell = static_cast<std::int64_t>(e);
  if (cells_.status(cell) != CellStatus::Running || loss == 0) return false;
  LowestLoss& lowest = lowest_.at(e);
  const bool over = lowest.see(step, loss, options_.min_delta[e], options_.patience[e]);
  if (!lowest.improved.empty() && lowest.improved.back() == step) improved_at_ = step;
  if (!over) return false;
  cells_.retire(cell, CellStatus::Completed);
  return true;
}

std::vector<std::size_t> EarlyStop::see(std::int64_t step, const std::vector<EvalResult>& dev) {
  std::vector<std::size_t> out;
  for (std::size_t e = 0; e < dev.size(); ++e) {
    if (see(e, step, dev[e].loss)) out.push_back(e);
  }
  return out;
}

std::optional<std::int64_t> EarlyStop::replay(std::size_t e, const CellHistory& before,
                                              std::int64_t last) {
  const MergedRows* eval = before.find("eval");
  if (eval == nullptr) return std::nullopt;
  constexpr auto kDev = static_cast<std::size_t>(Split::Dev);
  const std::vector<double> loss = eval->column("eval_loss");
  const std::vector<double> tokens = eval->column("eval_tokens");
  for (std::size_t i = 0; i < eval->rows.size() && eval->rows.steps[i] <= last; ++i) {
    if (!(tokens[i * 4 + kDev] > 0)) continue;  // no dev split
    if (see(e, eval->rows.steps[i], loss[i * 4 + kDev])) return eval->rows.steps[i];
  }
  return std::nullopt;
}

}  // namespace depthgrid
