#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/data/dataset.hpp"
#include "core/train/language_model.hpp"
#include "worker/eval/eval_plan.hpp"

namespace depthgrid {

/// Loss of changed batches less that of the same batches as they are, of each cell: nats per token
/// over the windows of split valid of the final evaluation, or 256 of them evenly spaced.
/// @param cells   E. @param change  of each batch. @param stop  polled before every pass.
/// @return  (E), NaN without such a split; nothing once `stop` has returned true.
std::optional<std::vector<double>> loss_changes(LanguageModel& model, const EvalPlan& plan,
                                                const Dataset& data, std::int64_t cells,
                                                const std::function<void(Batch&)>& change,
                                                const std::function<bool()>& stop);

/// Loss at u = 0 less the loss without a signal. Exactly 0 unless u = 0 says something: a map with
/// a bias (`model.control.neutral: bias`). @param axes  c.
std::optional<std::vector<double>> neutral_costs(LanguageModel& model, const EvalPlan& plan,
                                                 const Dataset& data, std::int64_t cells,
                                                 std::int64_t axes,
                                                 const std::function<bool()>& stop);

/// Loss of the layers alone less the loss with the flow that was trained in place of others.
std::optional<std::vector<double>> bypass_costs(LanguageModel& model, const EvalPlan& plan,
                                                const Dataset& data, std::int64_t cells,
                                                const std::function<bool()>& stop);

}  // namespace depthgrid
