#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {

/// Where the attention of each depth step and head goes: entropy, distance, share on the first
/// token and on the token itself; HeadAttention has the formulas. Mean over the sequences of the
/// probe set. Steps without attention are absent (NaN).
///
/// Weights exist for one step and for a part of the sequences at a time. Layers that skip tokens
/// execute all of them; of a flow whose method evaluates its field several times in a step, the
/// first evaluation counts, at the depth-time where the step begins.
class AttentionProbe final : public Probe {
 public:
  /// @param subject  a model with attention; outlives the probe.
  AttentionProbe(const ProbeSubject& subject, ProbeSchedule schedule);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  const ProbeSubject& subject_;
  ProbeSchedule schedule_;
  std::size_t entropy_ = 0, distance_ = 0, first_ = 0, self_ = 0;
};

/// What the queries of one head attend to in one sequence. Means over the queries i = 1 ... T - 1;
/// the first token has only itself to attend to. NaN if there is no other.
struct HeadAttention {
  double entropy = 0;      // -sum p ln p over ln(i + 1): 1 if uniform, 0 if on one token
  double distance = 0;     // sum of p (i - j), tokens
  double first_share = 0;  // p of token 0
  double self_share = 0;   // p of the token itself
};

/// @param weights  (T, T) row-major; of row i the entries 0 ... i, which sum to 1, are read.
/// Sums are float64 and in the order of the text.
HeadAttention head_attention(std::span<const float> weights, std::int64_t tokens);

}  // namespace depthgrid
