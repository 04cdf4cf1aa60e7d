#include "sweeps/plan/stored_bytes.hpp"

#include <algorithm>
#include <cmath>

#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

// Of docs/store-format.md: a frame's head, a number of a row, one of a series.
constexpr double kFrame = 24, kNumber = 8, kPackedNumber = 4;
constexpr double kResultHead = 85e3;         // variables of a cell, their attributes, the plan
constexpr double kCheckpointHead = 5e3;      // beside the weights
constexpr double kCheckpointParameter = 12;  // value and two moments

}  // namespace

double predicted_stored_bytes(const CellConfig& config, std::int64_t parameters) {
  const auto steps = static_cast<double>(config.integer("train.steps"));
  double evals = 1 + (config.flag("eval.at_start") ? 1 : 0);
  if (!config.null("eval.every")) {
    evals = std::ceil(steps / static_cast<double>(config.integer("eval.every"))) + evals - 1;
  }
  auto eval_numbers = static_cast<double>(row_numbers("eval_step"));
  if (config.flag("eval.by_position")) {
    eval_numbers += static_cast<double>(labels_of(dimension("split")).size()) *
                    static_cast<double>(config.integer("data.seq_len"));
  }
  const double numbers = steps * static_cast<double>(row_numbers("step")) + evals * eval_numbers;
  const double journal = (steps + evals) * kFrame + numbers * kNumber;
  const bool best =
      config.null("checkpoint.keep_best") || config.integer("checkpoint.keep_best") > 0;
  const auto* at = config.at("checkpoint.keep_at").get_if<ValueList>();
  const double kept = (config.flag("checkpoint.keep_final") ? 1 : 0) + (best ? 1 : 0) +
                      (at == nullptr ? 0.0 : static_cast<double>(at->size()));
  return journal + kResultHead + numbers * kPackedNumber +
         kept * (kCheckpointHead + kCheckpointParameter * static_cast<double>(parameters));
}

}  // namespace depthgrid
