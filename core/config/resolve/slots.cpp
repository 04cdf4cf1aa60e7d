#include "core/config/resolve/slots.hpp"

#include "core/base/error.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

LeafRows::LeafRows()
    : seed(leaf_index("seed")),
      model_seed(leaf_index("model.seed")),
      data_seed(leaf_index("data.seed")),
      preset(leaf_index("model.preset")),
      family(leaf_index("model.family")),
      share(leaf_index("model.share")),
      d_model(leaf_index("model.d_model")),
      n_layers(leaf_index("model.n_layers")),
      n_heads(leaf_index("model.n_heads")),
      d_ff(leaf_index("model.d_ff")),
      vocab_size(leaf_index("model.vocab_size")),
      max_seq_len(leaf_index("model.max_seq_len")),
      sublayers(leaf_index("model.sublayers")),
      mixer(leaf_index("model.mixer")),
      ssm_a(leaf_index("model.ssm.A")),
      ssm_parameters(leaf_index("model.ssm.parameters")),
      norm(leaf_index("model.norm")),
      norm_kind(leaf_index("model.norm_kind")),
      final_norm(leaf_index("model.final_norm")),
      positions(leaf_index("model.positions")),
      implementation(leaf_index("model.attention.implementation")),
      attention_dropout(leaf_index("model.dropout.attention")),
      include_t(leaf_index("model.time_features.include_t")),
      scale(leaf_index("model.residual.scale")),
      scale_init(leaf_index("model.residual.init")),
      granularity(leaf_index("model.modulation.granularity")),
      targets(leaf_index("model.modulation.targets")),
      share_qkv(leaf_index("model.modulation.share_qkv")),
      init_scheme(leaf_index("model.init.scheme")),
      embedding_std(leaf_index("model.init.embedding_std")),
      residual_scaling(leaf_index("model.init.residual_scaling")),
      init_from(leaf_index("model.init.from")),
      init_layout(leaf_index("model.init.layout")),
      replaced_layers(leaf_index("model.replaced_layers")),
      field_kind(leaf_index("model.field.kind")),
      field_hidden(leaf_index("model.field.hidden")),
      field_activation(leaf_index("model.field.activation")),
      time_embedding(leaf_index("model.field.time_embedding")),
      corpus(leaf_index("data.corpus")),
      data_path(leaf_index("data.path")),
      data_test(leaf_index("data.test")),
      tokenizer(leaf_index("data.tokenizer")),
      word_vocab(leaf_index("data.vocab_size")),
      split(leaf_index("data.split")),
      dev_fraction(leaf_index("data.dev_fraction")),
      seq_len(leaf_index("data.seq_len")),
      markov_order(leaf_index("data.synthetic.order")),
      synthetic_vocab(leaf_index("data.synthetic.vocab_size")),
      synthetic_tokens(leaf_index("data.synthetic.tokens")),
      lag(leaf_index("data.synthetic.lag")),
      steps(leaf_index("train.steps")),
      batch_size(leaf_index("train.batch_size")),
      accumulation(leaf_index("train.accumulation")),
      lr(leaf_index("train.lr")),
      weight_decay(leaf_index("train.weight_decay")),
      no_decay(leaf_index("train.no_decay")),
      clip_scope(leaf_index("train.clip_scope")),
      tdt_layers(leaf_index("model.tdt.layers")),
      mod_layers(leaf_index("model.mod.layers")),
      predictor_hidden(leaf_index("model.mod.predictor_hidden")),
      modes(leaf_index("eval.modes")),
      deciders(leaf_index("eval.deciders")),
      tdt_capacity(leaf_index("model.tdt.capacity")),
      tdt_min_k(leaf_index("model.tdt.min_k")),
      tdt_dense_fraction(leaf_index("model.tdt.dense_fraction")),
      tdt_execution(leaf_index("model.tdt.execution")),
      mod_capacity(leaf_index("model.mod.capacity")),
      mod_execution(leaf_index("model.mod.execution")),
      schedule(leaf_index("train.schedule.kind")),
      warmup(leaf_index("train.schedule.warmup_steps")),
      decay_steps(leaf_index("train.schedule.decay_steps")),
      patience(leaf_index("train.early_stop.patience")),
      every(leaf_index("eval.every")),
      splits(leaf_index("eval.splits")),
      final_splits(leaf_index("eval.final_splits")),
      stride(leaf_index("eval.stride")),
      keep_best(leaf_index("checkpoint.keep_best")),
      keep_final(leaf_index("checkpoint.keep_final")) {}

const LeafRows& leaf_rows() {
  static const LeafRows rows;
  return rows;
}

std::size_t digest_slot() {
  return schema().size();
}
std::size_t start_digest_slot() {
  return schema().size() + 1;
}
std::size_t start_depth_slot() {
  return schema().size() + 2;
}
std::size_t slot_count() {
  return schema().size() + 3;
}

Slots::Slots(const ValuePool& pool)
    : written(pool.defaults()), places(slot_count()), origins(slot_count(), Origin::Default) {
  written.resize(slot_count(), pool.null());
  values = written;
  defaults = written;
}

void Slots::assign(std::size_t leaf, const PooledValue* value, Place place, Origin origin) {
  if (origins[leaf] > origin) return;
  written[leaf] = value;
  places[leaf] = place;
  origins[leaf] = origin;
}

void Slots::reset(std::size_t leaf, const ValuePool& pool) {
  written[leaf] = pool.defaults()[leaf];
  places[leaf] = Place();
  origins[leaf] = Origin::Default;
}

const FamilyFacts& Slots::family() const {
  const auto* text = values[leaf_rows().family]->get_if<std::string>();
  return facts_of(text != nullptr ? *text : std::string_view());
}

bool Slots::is(std::size_t leaf, std::string_view word) const {
  const auto* text = values[leaf]->get_if<std::string>();
  return text != nullptr && *text == word;
}

std::int64_t Slots::integer(std::size_t leaf) const {
  const auto* number = values[leaf]->get_if<std::int64_t>();
  if (number == nullptr) throw Error("not an integer: " + std::string(schema()[leaf].path));
  return *number;
}

bool Slots::has_word(std::size_t list_leaf, std::string_view word) const {
  const auto* list = values[list_leaf]->get_if<ValueList>();
  if (list == nullptr) return false;
  for (const auto& item : *list) {
    const auto* text = item.get_if<std::string>();
    if (text != nullptr && *text == word) return true;
  }
  return false;
}

}  // namespace depthgrid
