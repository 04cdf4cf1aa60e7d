#include "worker/session/trained_job.hpp"

#include <utility>

namespace depthgrid {
namespace {

std::vector<const CellConfig*> configs_of(const Sweep& sweep,
                                          const std::vector<std::size_t>& rows) {
  std::vector<const CellConfig*> out;
  for (const std::size_t r : rows) out.push_back(&sweep.cells.at(r).config);
  return out;
}

Sampler sampler_of(const CellConfig& c, const Dataset& data) {
  return {sampler_kind(c.word("data.sampler")), data.train().size(), c.integer("data.seq_len"),
          c.integer("train.batch_size")};
}

}  // namespace

TrainedJob::TrainedJob(RunContext& context, SessionJob what)
    : run(context),
      job(std::move(what)),
      configs(configs_of(run.sweep, job.rows)),
      data(run.data.open(*configs[0])),
      fused(configs, run.device.device, &run.sync),
      sampler(sampler_of(*configs[0], *data)),
      cells(configs.size()) {}

std::int64_t TrainedJob::running() const {
  std::int64_t out = 0;
  for (std::size_t e = 0; e < configs.size(); ++e) out += running(e) ? 1 : 0;
  return out;
}

}  // namespace depthgrid
