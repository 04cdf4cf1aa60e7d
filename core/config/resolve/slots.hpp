#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/family_facts.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/value_pool.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// Rows of the leaves used by rules, looked up once.
struct LeafRows {
  std::size_t seed = leaf_index("seed");
  std::size_t model_seed = leaf_index("model.seed");
  std::size_t data_seed = leaf_index("data.seed");
  std::size_t preset = leaf_index("model.preset");
  std::size_t family = leaf_index("model.family");
  std::size_t share = leaf_index("model.share");
  std::size_t time_nodes = leaf_index("model.time.nodes");
  std::size_t d_model = leaf_index("model.d_model");
  std::size_t n_layers = leaf_index("model.n_layers");
  std::size_t n_heads = leaf_index("model.n_heads");
  std::size_t d_ff = leaf_index("model.d_ff");
  std::size_t vocab_size = leaf_index("model.vocab_size");
  std::size_t max_seq_len = leaf_index("model.max_seq_len");
  std::size_t sublayers = leaf_index("model.sublayers");
  std::size_t mixer = leaf_index("model.mixer");
  std::size_t ssm_a = leaf_index("model.ssm.A");
  std::size_t ssm_parameters = leaf_index("model.ssm.parameters");
  std::size_t norm = leaf_index("model.norm");
  std::size_t norm_kind = leaf_index("model.norm_kind");
  std::size_t final_norm = leaf_index("model.final_norm");
  std::size_t positions = leaf_index("model.positions");
  std::size_t implementation = leaf_index("model.attention.implementation");
  std::size_t attention_dropout = leaf_index("model.dropout.attention");
  std::size_t include_t = leaf_index("model.time_features.include_t");
  std::size_t scale = leaf_index("model.residual.scale");
  std::size_t scale_init = leaf_index("model.residual.init");
  std::size_t granularity = leaf_index("model.modulation.granularity");
  std::size_t targets = leaf_index("model.modulation.targets");
  std::size_t share_qkv = leaf_index("model.modulation.share_qkv");
  std::size_t init_scheme = leaf_index("model.init.scheme");
  std::size_t embedding_std = leaf_index("model.init.embedding_std");
  std::size_t tie_embeddings = leaf_index("model.tie_embeddings");
  std::size_t residual_scaling = leaf_index("model.init.residual_scaling");
  std::size_t init_from = leaf_index("model.init.from");
  std::size_t init_layout = leaf_index("model.init.layout");
  std::size_t replaced_layers = leaf_index("model.replaced_layers");
  std::size_t field_kind = leaf_index("model.field.kind");
  std::size_t field_hidden = leaf_index("model.field.hidden");
  std::size_t field_activation = leaf_index("model.field.activation");
  std::size_t time_embedding = leaf_index("model.field.time_embedding");
  std::size_t control_dim = leaf_index("model.control.dim");
  std::size_t control_names = leaf_index("model.control.names");
  std::size_t control_sites = leaf_index("model.control.sites");
  std::size_t control_injection = leaf_index("model.control.injection");
  std::size_t control_layers = leaf_index("model.control.layers");
  std::size_t control_u = leaf_index("model.control.u");
  std::size_t control_schedule = leaf_index("model.control.schedule");
  std::size_t control_window = leaf_index("model.control.window");
  std::size_t task = leaf_index("train.task");
  std::size_t label_source = leaf_index("train.control.labels.source");
  std::size_t label_file = leaf_index("train.control.labels.file");
  std::size_t label_scores = leaf_index("train.control.labels.scores");
  std::size_t label_command = leaf_index("train.control.labels.command");
  std::size_t label_span = leaf_index("train.control.labels.span");
  std::size_t label_map = leaf_index("train.control.labels.map");
  std::size_t prompts = leaf_index("train.steering.prompts");
  std::size_t prompt_file = leaf_index("train.steering.file");
  std::size_t trainable = leaf_index("train.control.trainable");
  std::size_t lr_scale = leaf_index("train.control.lr_scale");
  std::size_t control_lr_scale = leaf_index("train.control.control_lr_scale");
  std::size_t label_shuffle = leaf_index("train.control.labels.shuffle");
  std::size_t contrastive = leaf_index("train.control.contrastive");
  std::size_t attribute = leaf_index("train.control.attribute");
  std::size_t anchor = leaf_index("train.control.anchor");
  std::size_t corpus = leaf_index("data.corpus");
  std::size_t data_path = leaf_index("data.path");
  std::size_t data_format = leaf_index("data.format");
  std::size_t text_key = leaf_index("data.text_key");
  std::size_t join = leaf_index("data.join");
  std::size_t precision = leaf_index("train.precision");
  std::size_t device = leaf_index("resources.device");
  std::size_t data_valid = leaf_index("data.valid");
  std::size_t data_test = leaf_index("data.test");
  std::size_t tokenizer = leaf_index("data.tokenizer");
  std::size_t word_vocab = leaf_index("data.vocab_size");
  std::size_t split = leaf_index("data.split");
  std::size_t valid_fraction = leaf_index("data.valid_fraction");
  std::size_t test_fraction = leaf_index("data.test_fraction");
  std::size_t dev_fraction = leaf_index("data.dev_fraction");
  std::size_t seq_len = leaf_index("data.seq_len");
  std::size_t first_step = leaf_index("data.first_step");
  std::size_t markov_order = leaf_index("data.synthetic.order");
  std::size_t synthetic_vocab = leaf_index("data.synthetic.vocab_size");
  std::size_t synthetic_tokens = leaf_index("data.synthetic.tokens");
  std::size_t lag = leaf_index("data.synthetic.lag");
  std::size_t steps = leaf_index("train.steps");
  std::size_t batch_size = leaf_index("train.batch_size");
  std::size_t accumulation = leaf_index("train.accumulation");
  std::size_t lr = leaf_index("train.lr");
  std::size_t weight_decay = leaf_index("train.weight_decay");
  std::size_t no_decay = leaf_index("train.no_decay");
  std::size_t clip = leaf_index("train.clip");
  std::size_t clip_scope = leaf_index("train.clip_scope");
  std::size_t predictor_hidden = leaf_index("model.mod.predictor_hidden");
  std::size_t modes = leaf_index("eval.modes");
  std::size_t deciders = leaf_index("eval.deciders");
  std::size_t schedule = leaf_index("train.schedule.kind");
  std::size_t warmup = leaf_index("train.schedule.warmup_steps");
  std::size_t decay_steps = leaf_index("train.schedule.decay_steps");
  std::size_t diverged_above = leaf_index("train.diverged_above");
  std::size_t patience = leaf_index("train.early_stop.patience");
  std::size_t every = leaf_index("eval.every");
  std::size_t splits = leaf_index("eval.splits");
  std::size_t final_splits = leaf_index("eval.final_splits");
  std::size_t stride = leaf_index("eval.stride");
  std::size_t probe_sequences = leaf_index("probes.set.sequences");
  std::size_t trajectory = leaf_index("probes.trajectory.schedule");
  std::size_t cka = leaf_index("probes.trajectory.cka");
  std::size_t state_sequences = leaf_index("probes.trajectory.state_sequences");
  std::size_t state_bytes = leaf_index("probes.trajectory.max_bytes");
  std::size_t solver_schedule = leaf_index("probes.solver.schedule");
  std::size_t flow_method = leaf_index("model.solver.method");
  std::size_t flow_steps = leaf_index("model.solver.steps");
  std::size_t gradient = leaf_index("model.gradient.mode");
  /// energy and kinetic first.
  std::array<std::size_t, 7> regularisers = {leaf_index("regularisers.energy"),
                                             leaf_index("regularisers.kinetic"),
                                             leaf_index("regularisers.acceleration"),
                                             leaf_index("regularisers.jacobian_frobenius"),
                                             leaf_index("regularisers.spectral_norm"),
                                             leaf_index("regularisers.log_norm"),
                                             leaf_index("regularisers.control_smoothness")};
  std::size_t acceleration = leaf_index("regularisers.acceleration");
  std::size_t control_band = leaf_index("regularisers.control_band");
  std::size_t gradients_schedule = leaf_index("probes.gradients.schedule");
  std::size_t keep_best = leaf_index("checkpoint.keep_best");
  std::size_t keep_final = leaf_index("checkpoint.keep_final");
};
const LeafRows& leaf_rows();

/// Slot after the leaves for the digest of a user's own corpus (null without one).
inline std::size_t digest_slot() {
  return schema().size();
}
/// The next slot, for the digest of the weights that a cell starts from (`model.init.from`).
inline std::size_t start_digest_slot() {
  return schema().size() + 1;
}
/// The next slot, for the number of cells before this one in a chain of starts (null = none).
inline std::size_t start_depth_slot() {
  return schema().size() + 2;
}
/// The next slots, for the digests of the files that label sentences and of one's own prompts.
inline std::size_t labels_digest_slot() {
  return schema().size() + 3;
}
inline std::size_t prompts_digest_slot() {
  return schema().size() + 4;
}
inline std::size_t slot_count() {
  return schema().size() + 5;
}

/// Origin of a leaf's value; later ones override earlier ones.
enum class Origin : std::uint8_t { Default, Preset, Fixed, Level, Row };

/// The leaves of one cell during resolution. All vectors have slot_count() entries.
struct Slots {
  std::vector<const PooledValue*> written;   // as given, with null, auto and 1/L
  std::vector<const PooledValue*> values;    // resolved
  std::vector<const PooledValue*> defaults;  // from which the identity counts: the value of each
                                             // leaf if not given, or a default of former times
  std::vector<Place> places;
  std::vector<Origin> origins;

  explicit Slots(const ValuePool& pool);
  /// Sets the value unless a stronger origin has set the leaf.
  void assign(std::size_t leaf, const PooledValue* value, Place place, Origin origin);
  void reset(std::size_t leaf, const ValuePool& pool);

  bool is(std::size_t leaf, std::string_view word) const;
  /// Resolved values by leaf, for conditions. Refers to these slots.
  auto lookup() const {
    return [this](std::size_t leaf) -> const PooledValue& { return *values[leaf]; };
  }
  /// The same by path.
  auto by_path() const {
    return [this](std::string_view path) -> const Value& { return *values[leaf_index(path)]; };
  }
  const FamilyFacts& family() const;  // of `model.family`
  bool null(std::size_t leaf) const { return values[leaf]->is_null(); }
  std::int64_t integer(std::size_t leaf) const;
  double number(std::size_t leaf) const { return values[leaf]->number(); }
  bool has_word(std::size_t list_leaf, std::string_view word) const;
};

/// Gives resolved slots another seed, and the derived seeds that are not written.
void set_seed(Slots& slots, std::int64_t seed, ValuePool& pool);

/// Shared by all configurations of a sweep.
struct ConfigBase {
  std::shared_ptr<ValuePool> pool;
  std::vector<const PooledValue*> values;
};
std::shared_ptr<const ConfigBase> base_of(std::shared_ptr<ValuePool> pool, const Slots& slots);

}  // namespace depthgrid
