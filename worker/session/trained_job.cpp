#include "worker/session/trained_job.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/train/control_batches.hpp"
#include "core/train/steering_batches.hpp"

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

std::shared_ptr<const SentenceLabels> labels_in_training(
    const std::shared_ptr<const CorpusLabels>& all, const CellConfig& config) {
  const std::string& shuffle = config.word("train.control.labels.shuffle");
  // Shares the owner of all labels of the corpus.
  const std::shared_ptr<const SentenceLabels> own(
      all, &all->splits[static_cast<std::size_t>(Split::Train)]);
  if (shuffle == "constant") return std::make_shared<const SentenceLabels>(constant(*own));
  if (shuffle != "sentences") return own;
  const auto seed = static_cast<std::uint64_t>(config.integer("data.seed"));
  return std::make_shared<const SentenceLabels>(shuffled(*own, seed));
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
    auto found = run.labels.open(*config);
    if (!found) continue;
    training_labels.push_back(labels_in_training(found, *config));
    labels.push_back(std::move(found));
  }
  if (configs[0]->word("train.task") == "steering") {
    prompts = steering_tokens_of(*configs[0], data->tokenizer.get());
  }
}

std::unique_ptr<BatchSource> TrainedJob::batches() const {
  const TrainOptions& train = fused.train;
  if (!prompts.empty()) {
    std::vector<SteeringTokens> trained;
    std::ranges::copy_if(prompts, std::back_inserter(trained),
                         [](const SteeringTokens& one) { return !one.heldout; });
    return std::make_unique<SteeringBatches>(std::move(trained), fused.options.control.axes,
                                             train.batch, train.data_seed, train.first_step);
  }
  if (labels.empty()) {
    return std::make_unique<TextBatches>(data->train(), sampler, train.data_seed, train.first_step);
  }
  std::vector<ControlBatches::Cell> each;
  for (std::size_t e = 0; e < configs.size(); ++e) {
    each.push_back(
        {control_draws(*configs[e]), training_labels[e], train.data_seed[e], train.first_step[e]});
  }
  ContrastedRows contrasted{.rows = contrasted_rows(*configs[0]), .axes = {}};
  for (const auto& own : labels) {  // whether an axis says something depends on its map
    std::vector<std::size_t>& axes = contrasted.axes.emplace_back();
    for (std::size_t k = 0; k < own->trained.size(); ++k) {
      if (own->trained[k]) axes.push_back(k);
    }
  }
  return std::make_unique<ControlBatches>(data->train(), sampler, std::move(each),
                                          labels.front()->kinds(), std::move(contrasted));
}

std::int64_t TrainedJob::running() const {
  std::int64_t out = 0;
  for (std::size_t e = 0; e < configs.size(); ++e) out += running(e) ? 1 : 0;
  return out;
}

}  // namespace depthgrid
