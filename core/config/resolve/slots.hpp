#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/schema/value_pool.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// Rows of the leaves used by rules, looked up once.
struct LeafRows {
  LeafRows();
  std::size_t seed, model_seed, data_seed;
  std::size_t preset, family, share, d_model, n_layers, n_heads, d_ff, vocab_size, max_seq_len,
      sublayers;
  std::size_t mixer, ssm_a, ssm_parameters;
  std::size_t norm, norm_kind, final_norm, positions, implementation, attention_dropout;
  std::size_t include_t, scale, scale_init, granularity, targets, share_qkv;
  std::size_t init_scheme, embedding_std, residual_scaling, init_from, init_layout;
  std::size_t replaced_layers, field_kind, field_hidden, field_activation, time_embedding;
  std::size_t corpus, data_path, data_test, tokenizer, word_vocab, split, dev_fraction, seq_len;
  std::size_t markov_order, synthetic_vocab, synthetic_tokens, lag;
  std::size_t steps, batch_size, accumulation, lr, weight_decay, no_decay;
  std::size_t clip_scope, tdt_layers, mod_layers, predictor_hidden, modes, deciders;
  std::size_t tdt_capacity, tdt_min_k, tdt_dense_fraction, tdt_execution, mod_capacity,
      mod_execution;
  std::size_t schedule, warmup, decay_steps, patience;
  std::size_t every, splits, final_splits, stride, keep_best, keep_final;
};
const LeafRows& leaf_rows();

/// Slot after the leaves for the digest of a user's own corpus (null without one).
std::size_t digest_slot();
/// The next slot, for the digest of the weights that a cell starts from (`model.init.from`).
std::size_t start_digest_slot();
/// The next slot: cells before this one in a chain of starts (null = none).
std::size_t start_depth_slot();
std::size_t slot_count();

/// Origin of a leaf's value; later ones override earlier ones.
enum class Origin : std::uint8_t { Default, Preset, Fixed, Level, Row };

/// The leaves of one cell during resolution. All vectors have slot_count() entries.
struct Slots {
  std::vector<const PooledValue*> written;   // as given, with null, auto and 1/L
  std::vector<const PooledValue*> values;    // resolved
  std::vector<const PooledValue*> defaults;  // value of each leaf if not given
  std::vector<Place> places;
  std::vector<Origin> origins;

  explicit Slots(const ValuePool& pool);
  /// Sets the value unless a stronger origin has set the leaf.
  void assign(std::size_t leaf, const PooledValue* value, Place place, Origin origin);
  void reset(std::size_t leaf, const ValuePool& pool);

  bool is(std::size_t leaf, std::string_view word) const;
  bool null(std::size_t leaf) const { return values[leaf]->is_null(); }
  std::int64_t integer(std::size_t leaf) const;
  double number(std::size_t leaf) const { return values[leaf]->number(); }
  bool has_word(std::size_t list_leaf, std::string_view word) const;
};

/// Shared by all configurations of a sweep.
struct ConfigBase {
  std::shared_ptr<ValuePool> pool;
  std::vector<const PooledValue*> values;
};

}  // namespace depthgrid
