#include "sweeps/queue/checkpoint_policy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/digest.hpp"

namespace depthgrid {
namespace {

/// Share of the time that checkpoints may take, and the shortest wait for one, also for the first.
constexpr double kCostShare = 0.01;
constexpr double kShortestWait = 3;  // s

/// A step, or a percentage of all steps ("10 %").
std::int64_t step_of(const Value& entry, std::int64_t steps) {
  if (const auto* text = entry.get_if<std::string>()) {
    return std::lround(std::stod(*text) / 100 * static_cast<double>(steps));
  }
  return static_cast<std::int64_t>(entry.number());
}

}  // namespace

std::string config_digest(const CellConfig& config) {
  return config_digest(canonical_json(Value(config.changed())));
}

std::string config_digest(const std::string& changed) {
  return hex(sha256(std::string_view(changed)));
}

CheckpointPolicy::CheckpointPolicy(const CellConfig& run, std::int64_t steps, const Clock& clock)
    : every_(run.integer_if("checkpoint.every")),
      by_cost_(run.is_word("checkpoint.every_seconds")),
      keep_last_(static_cast<int>(run.integer("checkpoint.keep_last"))),
      keep_best_(run.integer("checkpoint.keep_best")),
      keep_final_(run.flag("checkpoint.keep_final")),
      clock_(clock),
      last_(clock.now()) {
  if (by_cost_) {
    wait_ = kShortestWait;
  } else if (const auto seconds = run.integer_if("checkpoint.every_seconds")) {
    wait_ = static_cast<double>(*seconds);
  }
  const Value& at = run.at("checkpoint.keep_at");
  if (const auto* list = at.get_if<ValueList>()) {
    for (const Value& entry : *list) keep_at_.push_back(step_of(entry, steps));
  }
}

bool CheckpointPolicy::due(std::int64_t step) const {
  if (every_ && step % *every_ == 0) return true;
  if (std::ranges::find(keep_at_, step) != keep_at_.end()) return true;
  return wait_ && clock_.now() - last_ >= *wait_;
}

void CheckpointPolicy::written(double cost) {
  last_ = clock_.now();
  if (by_cost_) wait_ = std::max(kShortestWait, cost / kCostShare);
}

std::vector<std::int64_t> CheckpointPolicy::kept(const std::vector<std::int64_t>& improved,
                                                 std::int64_t last) const {
  std::vector<std::int64_t> out = keep_at_;
  const std::int64_t n = std::min(keep_best_, static_cast<std::int64_t>(improved.size()));
  out.insert(out.end(), improved.end() - n, improved.end());
  if (keep_final_) out.push_back(last);
  return out;
}

}  // namespace depthgrid
