#include "worker/run/cell_checkpoint.hpp"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kFirst = "first_moment";
constexpr const char* kSecond = "second_moment";

void load_row(const at::Tensor& arena, std::size_t e, const LoadedCheckpoint& from,
              const char* name) {
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

std::vector<float> host_row(const at::Tensor& arena, std::size_t e) {
  const at::Tensor row = arena.select(0, static_cast<std::int64_t>(e)).cpu().contiguous();
  const float* data = row.const_data_ptr<float>();
  return {data, data + row.numel()};
}

CellCheckpoint::CellCheckpoint(const FusedModel& job, std::size_t e, const CellClock& clock,
                               int ranks)
    : values_(host_row(job.arena->values(), e)),
      first_(host_row(job.optimizer->first_moment(), e)),
      second_(host_row(job.optimizer->second_moment(), e)),
      clock_(clock),
      ranks_(ranks) {}

CheckpointData CellCheckpoint::data(std::int64_t step, std::string digest) const {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values_.size())};
  return {.step = step,
          .config_digest = std::move(digest),
          .numbers = {{"wall", clock_.wall},
                      {"eval", clock_.eval},
                      {"checkpoint", clock_.checkpoint},
                      {"device", clock_.device},
                      {"lost", clock_.lost},
                      {"ranks", ranks_}},
          .texts = {},
          .tensors = {
              {kParameters, shape, values_}, {kFirst, shape, first_}, {kSecond, shape, second_}}};
}

CellClock restore_cell(FusedModel& job, std::size_t e, const LoadedCheckpoint& from) {
  load_row(job.arena->values(), e, from, kParameters);
  load_row(job.optimizer->first_moment(), e, from, kFirst);
  load_row(job.optimizer->second_moment(), e, from, kSecond);
  const auto number = [&](const char* name) {
    const auto at = from.numbers.find(name);
    return at == from.numbers.end() ? 0.0 : at->second;
  };
  return {number("wall"), number("eval"), number("checkpoint"), number("device"), number("lost")};
}

void share_state(FusedModel& job, Collective& team) {
  for (at::Tensor* arena :
       {&job.arena->values(), &job.optimizer->first_moment(), &job.optimizer->second_moment()}) {
    team.broadcast(*arena, 0);
  }
}

}  // namespace depthgrid
