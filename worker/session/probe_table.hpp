#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"
#include "worker/session/probe_watch.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// The probes of a job and what they measure.
struct JobProbes {
  std::unique_ptr<ProbeSubject> subject;  // null if no probe is on
  std::vector<std::unique_ptr<Probe>> probes;
  std::vector<std::string> names;  // of each
  ProbeWatchList watches{};        // to which some of them refer
};

/// What probes are made for: cells in training, or stored weights.
struct ProbedJob {
  const CellConfig& leaves;  // `probes.*`, the same for all cells
  Model& model;
  const Arena& arena;             // its parameters
  std::function<ProbeSet()> set;  // asked for if there is a probe
  std::int64_t steps = 0;         // of the training
  std::int64_t sequences = 1;     // at once: as many as a training pass has, whose memory is there
  const TrainOptions* train = nullptr;  // of a training to follow; null: stored weights
};

/// What is known of a probe before it is made; its leaves are `probes.NAME.*`.
struct ProbeFacts {
  const char* name;
  // Of probe_sample_leaves(), the leaf to whose number its time is proportional; null = none.
  const char* proportional_to;
};

/// All probes, in the order of the table.
std::vector<ProbeFacts> known_probes();

/// These probes, whatever their schedules say; those that find nothing to measure in the model are
/// left out. @param names  of known_probes().
JobProbes make_probes(const ProbedJob& job, const std::vector<std::string>& names);

/// The probes that the leaves `probes.*` of a job's cells switch on, in the order of the table.
/// They refer to the job, which must outlive them.
JobProbes make_probes(const TrainedJob& job);

}  // namespace depthgrid
