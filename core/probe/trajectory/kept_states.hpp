#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/probe_subject.hpp"
#include "core/probe/record.hpp"

namespace depthgrid {

/// Which raw states of a measurement are kept.
struct StateSelection {
  std::int64_t sequences = 0;                           // the first ones of the probe set; 0: none
  std::optional<std::int64_t> channels = std::nullopt;  // nothing, or as many as there are: all
  std::uint64_t seed = 0;                               // of the channels
  bool half = true;                                     // binary16, else binary32
};

/// `count` of the channels 0 ... width - 1, drawn without replacement by the seed alone, ascending;
/// all of them if there are no more.
std::vector<std::int64_t> kept_channels(std::int64_t width, std::optional<std::int64_t> count,
                                        std::uint64_t seed);

/// The raw states of one measurement, gathered pass by pass in host memory.
class KeptStates {
 public:
  explicit KeptStates(const StateSelection& what) : what_(what) {}

  /// Takes those of this pass that are to be kept. Call it for every pass.
  /// @param states  L + 1 tensors (E, count, T, C) float, of sequences first ... first + count - 1
  void add(const std::vector<at::Tensor>& states, std::int64_t first);

  /// One record per cell of which all states of the measurement are finite. Binary16 rounds to
  /// nearest; what is larger than 65,504 becomes infinite there.
  void hand_over(std::int64_t step, const ProbeSubject& subject, RecordSink& out) const;

 private:
  StateSelection what_;
  std::vector<std::int64_t> channels_;
  std::vector<at::Tensor> passes_;  // (E, L + 1, sequences, T, k), of the stored type
  at::Tensor sound_;                // (E) bool
};

}  // namespace depthgrid
