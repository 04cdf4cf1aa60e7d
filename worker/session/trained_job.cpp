#include "worker/session/trained_job.hpp"

#include <string>
#include <utility>

#include "core/train/control_batches.hpp"

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
      cells(configs.size()) {
  for (const CellConfig* config : configs) {
    if (auto found = run.labels.open(*config)) labels.push_back(std::move(found));
  }
}

std::unique_ptr<BatchSource> TrainedJob::batches() const {
  const TrainOptions& train = fused.train;
  if (labels.empty()) {
    return std::make_unique<TextBatches>(data->train(), sampler, train.data_seed, train.first_step);
  }
  std::vector<ControlBatches::Cell> each;
  for (std::size_t e = 0; e < configs.size(); ++e) {
    const std::string& shuffle = configs[e]->word("train.control.labels.shuffle");
    // Shares the owner of all labels of the corpus.
    std::shared_ptr<const SentenceLabels> own(
        labels[e], &labels[e]->splits[static_cast<std::size_t>(Split::Train)]);
    if (shuffle == "sentences") {
      own = std::make_shared<const SentenceLabels>(shuffled(*own, train.data_seed[e]));
    } else if (shuffle == "constant") {
      own = std::make_shared<const SentenceLabels>(constant(*own));
    }
    each.push_back(
        {control_draws(*configs[e]), std::move(own), train.data_seed[e], train.first_step[e]});
  }
  return std::make_unique<ControlBatches>(data->train(), sampler, std::move(each),
                                          labels.front()->kinds());
}

std::int64_t TrainedJob::running() const {
  std::int64_t out = 0;
  for (std::size_t e = 0; e < configs.size(); ++e) out += running(e) ? 1 : 0;
  return out;
}

}  // namespace depthgrid
