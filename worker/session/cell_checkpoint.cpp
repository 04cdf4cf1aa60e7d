#include "worker/session/cell_checkpoint.hpp"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr const char* kParameters = "parameters";
constexpr std::string_view kOfProbe = "probe.";  // then its name

/// (P), in the checkpoint's own memory.
at::Tensor row_in(const LoadedCheckpoint& from, std::string_view name, std::int64_t parameters) {
  const auto at = std::ranges::find(from.tensors, name, &LoadedTensor::name);
  if (at == from.tensors.end()) {
    throw UserError(ExitCode::BadData, "a checkpoint has no tensor '" + std::string(name) + "'");
  }
  if (parameters != static_cast<std::int64_t>(at->data.size())) {
    throw UserError(ExitCode::BadData, "a checkpoint holds " + std::to_string(at->data.size()) +
                                           " parameters, the model has " +
                                           std::to_string(parameters));
  }
  return at::from_blob(const_cast<float*>(at->data.data()), {parameters}, at::kFloat);
}

std::vector<float> floats_of(const at::Tensor& row) {
  const float* data = row.const_data_ptr<float>();
  return {data, data + row.numel()};
}

}  // namespace

std::string kind_of(at::Device device) {
  return c10::DeviceTypeName(device.type(), /*lower_case=*/true);
}

std::vector<float> host_row(const at::Tensor& arena, std::size_t e) {
  return floats_of(arena.select(0, static_cast<std::int64_t>(e)).cpu().contiguous());
}

CellCheckpoint::CellCheckpoint(const FusedModel& job, std::size_t e, const CellClock& clock,
                               int ranks)
    : values_(host_row(job.arena->values(), e)),
      clock_(clock),
      ranks_(ranks),
      device_(kind_of(job.arena->values().device())) {
  const std::vector<CellOptimizer::Moment>& moments = job.optimizer->moments();
  for (std::size_t m = 0; m < moments.size(); ++m) {
    const at::Tensor row = job.optimizer->moment_row(m, static_cast<std::int64_t>(e));
    moments_.emplace_back(moments[m].name, floats_of(row.contiguous()));
  }
}

CheckpointData CellCheckpoint::data(std::int64_t step, std::string digest) const {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values_.size())};
  CheckpointData out{.step = step,
                     .config_digest = std::move(digest),
                     .numbers = {{"wall", clock_.wall},
                                 {"train", clock_.train},
                                 {"eval", clock_.eval},
                                 {"checkpoint", clock_.checkpoint},
                                 {"probe", clock_.probe},
                                 {"device", clock_.device},
                                 {"lost", clock_.lost},
                                 {"ranks", ranks_}},
                     .texts = {{"device", device_}},
                     .tensors = {{kParameters, shape, values_}}};
  for (const auto& [probe, seconds] : clock_.probes) {
    out.numbers[std::string(kOfProbe) + probe] = seconds;
  }
  for (const auto& [name, values] : moments_) out.tensors.push_back({name, shape, values});
  return out;
}

void restore_cells(FusedModel& job, const std::vector<const LoadedCheckpoint*>& from,
                   GradientSync& team) {
  const std::int64_t parameters = job.arena->size();
  const auto source = [&](std::int64_t e) {
    const auto at = static_cast<std::size_t>(e);
    return at < from.size() ? from[at] : nullptr;
  };
  for (std::int64_t e = 0; e < job.arena->cells(); ++e) {
    if (const LoadedCheckpoint* state = source(e)) {
      job.arena->values().select(0, e).copy_(row_in(*state, kParameters, parameters));
    }
  }
  team.broadcast(job.arena->values(), 0);
  const std::vector<CellOptimizer::Moment>& moments = job.optimizer->moments();
  for (std::size_t m = 0; m < moments.size(); ++m) {
    for (std::int64_t e = 0; e < job.arena->cells(); ++e) {
      const LoadedCheckpoint* state = source(e);
      if (state == nullptr && team.ranks() == 1) continue;  // as drawn
      at::Tensor row;
      if (team.rank() == 0) {
        row = state == nullptr ? at::zeros({parameters})
                               : row_in(*state, moments[m].name, parameters);
      }
      job.optimizer->set_moment_row(m, e, row);
    }
  }
}

CellClock clock_of(const LoadedCheckpoint& from) {
  const auto number = [&](const char* name) {
    const auto at = from.numbers.find(name);
    return at == from.numbers.end() ? 0.0 : at->second;
  };
  // Checkpoints of earlier builds have no "train".
  const double train = from.numbers.contains("train")
                           ? number("train")
                           : number("device") / std::max(number("ranks"), 1.0);
  std::map<std::string, double> probes;
  for (const auto& [name, seconds] : from.numbers) {
    if (name.starts_with(kOfProbe)) probes[name.substr(kOfProbe.size())] = seconds;
  }
  return {.wall = number("wall"),
          .train = train,
          .eval = number("eval"),
          .checkpoint = number("checkpoint"),
          .probe = number("probe"),
          .device = number("device"),
          .lost = number("lost"),
          .probes = std::move(probes)};
}

}  // namespace depthgrid
