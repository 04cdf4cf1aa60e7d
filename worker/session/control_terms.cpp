#include "worker/session/control_terms.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <ATen/ops/zeros.h>

#include "core/data/labels/word_classifier.hpp"
#include "core/train/control_batches.hpp"
#include "worker/session/warm_start.hpp"

namespace depthgrid {
namespace {

std::vector<double> weights_of(const TrainedJob& job, const char* leaf) {
  std::vector<double> out;
  for (const CellConfig* config : job.configs) out.push_back(config->real(leaf));
  return out;
}

bool has_weight(const std::vector<double>& weights) {
  return std::ranges::any_of(weights, [](double weight) { return weight != 0; });
}

/// Classifiers of the cells, (E, c, V) and (E, c); cells under the same labels share a fit.
void fit_words(const TrainedJob& job, ControlTerms& terms) {
  const std::int64_t cells = std::ssize(job.configs), axes = job.fused.options.control.axes;
  const std::int64_t vocabulary = job.data->vocab_size;  // the model may have more
  terms.words = at::zeros({cells, axes, job.fused.options.vocabulary});
  terms.words_bias = at::zeros({cells, axes});
  std::map<const SentenceLabels*, WordClassifier> fits;
  for (std::int64_t e = 0; e < cells; ++e) {
    const SentenceLabels* labels = job.training_labels[static_cast<std::size_t>(e)].get();
    auto at = fits.find(labels);
    if (at == fits.end()) {
      at = fits.emplace(labels, depthgrid::fit_words(job.data->train(), *labels, vocabulary)).first;
    }
    const WordClassifier& fit = at->second;
    for (std::int64_t k = 0; k < axes; ++k) {
      auto* to = terms.words[e][k].data_ptr<float>();
      std::copy_n(fit.weight.begin() + k * vocabulary, vocabulary, to);
      terms.words_bias[e][k] = fit.bias[static_cast<std::size_t>(k)];
    }
  }
  const at::Device device = job.run.device.device;
  terms.words = terms.words.to(device);
  terms.words_bias = terms.words_bias.to(device);
}

}  // namespace

JobObjective::JobObjective(const TrainedJob& job, const WeightsReader& source)
    : language_(*job.fused.language) {
  if (job.labels.empty()) return;
  const std::int64_t rows = contrasted_rows(*job.configs[0]);
  if (rows == 0) return;
  ControlTerms terms{
      .contrastive = weights_of(job, "train.control.contrastive"),
      .attribute = weights_of(job, "train.control.attribute"),
      .anchor = weights_of(job, "train.control.anchor"),
      .rows_in_batch = static_cast<double>(job.fused.train.batch) / static_cast<double>(rows)};
  if (has_weight(terms.attribute)) fit_words(job, terms);
  if (has_weight(terms.anchor)) {
    const ModelOptions& o = job.fused.options;
    const bool mixed = job.fused.train.precision == Precision::Bf16;
    start_weights_ = std::make_unique<Arena>(
        layout_of(o), job.fused.train.model_seed,
        at::TensorOptions().dtype(at::kFloat).device(job.run.device.device), mixed);
    start_ = std::make_unique<Model>(*start_weights_, o);
    warm_start(job.configs, o, *start_weights_, source);
    terms.reference = start_.get();
  }
  with_terms_ = std::make_unique<ControlObjective>(language_, *job.fused.model,
                                                   job.fused.train.model_seed, std::move(terms));
}

}  // namespace depthgrid
