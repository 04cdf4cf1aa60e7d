#include "worker/session/cell_checkpoint.hpp"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr const char* kParameters = "parameters";
constexpr std::string_view kOfProbe = "probe.";  // then its name

void load_row(const at::Tensor& arena, std::size_t e, const LoadedCheckpoint& from,
              std::string_view name) {
  const auto at = std::ranges::find(from.tensors, name, &LoadedTensor::name);
  if (at == from.tensors.end()) {
    throw UserError(ExitCode::BadData, "a checkpoint has no tensor '" + std::string(name) + "'");
  }
  const at::Tensor row = arena.select(0, static_cast<std::int64_t>(e));
  if (row.numel() != static_cast<std::int64_t>(at->data.size())) {
    throw UserError(ExitCode::BadData, "a checkpoint holds " + std::to_string(at->data.size()) +
                                           " parameters, the model has " +
                                           std::to_string(row.numel()));
  }
  row.copy_(at::from_blob(const_cast<float*>(at->data.data()), {row.numel()}, at::kFloat));
}

}  // namespace

std::string kind_of(at::Device device) {
  return c10::DeviceTypeName(device.type(), /*lower_case=*/true);
}

std::vector<float> host_row(const at::Tensor& arena, std::size_t e) {
  const at::Tensor row = arena.select(0, static_cast<std::int64_t>(e)).cpu().contiguous();
  const float* data = row.const_data_ptr<float>();
  return {data, data + row.numel()};
}

CellCheckpoint::CellCheckpoint(const FusedModel& job, std::size_t e, const CellClock& clock,
                               int ranks)
    : values_(host_row(job.arena->values(), e)),
      clock_(clock),
      ranks_(ranks),
      device_(kind_of(job.arena->values().device())) {
  for (const CellOptimizer::Moment& m : job.optimizer->moments()) {
    moments_.emplace_back(m.name, host_row(m.values, e));
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

CellClock restore_cell(FusedModel& job, std::size_t e, const LoadedCheckpoint& from) {
  load_row(job.arena->values(), e, from, kParameters);
  for (CellOptimizer::Moment& m : job.optimizer->moments()) load_row(m.values, e, from, m.name);
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

void share_state(FusedModel& job, Collective& team) {
  team.broadcast(job.arena->values(), 0);
  for (CellOptimizer::Moment& m : job.optimizer->moments()) team.broadcast(m.values, 0);
}

}  // namespace depthgrid
