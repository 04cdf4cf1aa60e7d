#include "core/config/resolve/derive.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

bool synthetic(const Slots& slots) {
  const auto* corpus = slots.values[leaf_rows().corpus]->get_if<std::string>();
  return corpus != nullptr && corpus->starts_with("synthetic:");
}

/// Whether the signal is trained: by labels or by prompts.
bool signalled(const Slots& slots) {
  return slots.is(leaf_rows().task, "control") || slots.is(leaf_rows().task, "steering");
}

/// Rates of the groups where the signal is trained. Source: second study, 3.2.
class ControlRates {
 public:
  ControlRates(const Slots& slots, ValuePool& pool) : slots_(slots), pool_(pool) {}

  bool apply() const { return signalled(slots_); }
  /// Labels train the maps of u at a rate of their own and without decay; prompts train all alike.
  bool apart() const { return slots_.is(leaf_rows().task, "control"); }

  bool trained(ParameterGroup group) const {
    using enum ParameterGroup;
    if (group == Control || slots_.is(leaf_rows().trainable, "all")) return true;
    return slots_.is(leaf_rows().trainable, "flow") && (group == Field || group == Alpha);
  }

  const PooledValue* lr(ParameterGroup group) const {
    const LeafRows& row = leaf_rows();
    const double base = slots_.number(row.lr);
    const double rate =
        !apart() ? base
        : group == ParameterGroup::Control
            ? std::min(kHighestControlRate, base * slots_.number(row.control_lr_scale))
            : base * slots_.number(row.lr_scale);
    return pool_.intern(Value(trained(group) ? rate : 0.0));
  }

 private:
  const Slots& slots_;
  ValuePool& pool_;
};

}  // namespace

bool has_dev(const Slots& slots) {
  const LeafRows& row = leaf_rows();
  return synthetic(slots) ||
         (!slots.is(row.split, "published") && slots.number(row.dev_fraction) > 0);
}

Deriver::Deriver(std::shared_ptr<ValuePool> pool) : pool_(std::move(pool)) {
  for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
    const std::string under = "train.groups." + std::string(kParameterGroupNames[g]);
    groups_.push_back({static_cast<ParameterGroup>(g), leaf_index(under + ".lr"),
                       leaf_index(under + ".weight_decay")});
  }
}

void Deriver::derive(Slots& slots, std::size_t leaf, const PooledValue* derived) {
  slots.defaults[leaf] = derived;
  if (slots.values[leaf]->is_null()) slots.values[leaf] = derived;
}

void Deriver::derive(Slots& slots) const {
  std::copy(slots.written.begin(), slots.written.end(), slots.values.begin());
  seeds(slots);
  model(slots);
  modulation(slots);
  routing(slots);
  train(slots);
  eval(slots);
}

void Deriver::seeds(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  const PooledValue* seed = slots.values[row.seed];
  slots.defaults[row.seed] = seed;  // the resolved seeds are the identity
  for (const std::size_t leaf : {row.model_seed, row.data_seed}) {
    derive(slots, leaf, seed);
    slots.defaults[leaf] = zero_;
  }
}

const PooledValue* Deriver::vocabulary(const Slots& slots) const {
  const LeafRows& row = leaf_rows();
  if (synthetic(slots)) return slots.values[row.synthetic_vocab];
  if (slots.is(row.tokenizer, "char")) return pool_->null();
  if (slots.is(row.tokenizer, "word")) return slots.values[row.word_vocab];
  return slots.is(row.tokenizer, "gpt2") ? gpt2_ : bytes_;
}

void Deriver::model(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  derive(slots, row.d_ff, number(4 * slots.integer(row.d_model)));
  derive(slots, row.vocab_size, vocabulary(slots));
  derive(slots, row.max_seq_len, slots.values[row.seq_len]);
  const FamilyFacts& family = slots.family();
  derive(slots, row.share, family.plain ? none_ : all_);
  derive(slots, row.sublayers, family.timed ? parallel_ : sequential_);
  derive(slots, row.positions, family.skips ? rope_ : learned_);
  derive(slots, row.include_t, family.generated ? false_ : true_);
  derive(slots, row.final_norm, slots.is(row.norm, "none") ? none_ : layer_norm_);
  if (slots.is(row.implementation, "auto")) slots.values[row.implementation] = pool_->null();
  derive(slots, row.implementation, slots.number(row.attention_dropout) > 0 ? explicit_ : sdpa_);
  const PooledValue* step = pool_->intern(1.0 / static_cast<double>(slots.integer(row.n_layers)));
  derive(slots, row.scale, family.generated ? step : one_real_);
  for (const std::size_t leaf : {row.scale, row.scale_init}) {
    if (slots.is(leaf, "1/L")) slots.values[leaf] = step;
  }
  flow(slots);
  control(slots);
  const bool pytorch = slots.is(row.init_scheme, "pytorch");
  // A table that is also the head gives logits of variance std² d_model: of one, if it is 1/√d.
  const bool tied = *slots.values[row.tie_embeddings]->get_if<bool>();
  const Value head(1 / std::sqrt(static_cast<double>(slots.integer(row.d_model))));
  derive(slots, row.embedding_std, !pytorch ? small_ : tied ? pool_->intern(head) : one_real_);
  derive(slots, row.residual_scaling, pytorch ? false_ : true_);
}

void Deriver::flow(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  const bool mlp = slots.is(row.field_kind, "mlp");
  const std::int64_t layers = slots.integer(row.n_layers), width = slots.integer(row.d_model);
  const std::int64_t first = layers / 3;
  derive(slots, row.replaced_layers,
         pool_->intern(ValueList{first, std::max(first + 1, 2 * layers / 3)}));
  derive(slots, row.field_hidden, number((mlp ? 2 : 4) * width));
  derive(slots, row.field_activation, mlp ? softplus_ : gelu_);
  derive(slots, row.time_embedding, mlp || slots.is(row.field_kind, "time_indexed") ? none_ : mlp_);
  derive(slots, row.flow_steps, number(slots.family().timed ? layers : 4));
  derive(slots, row.init_scheme, slots.family().flow ? pytorch_ : gpt2_scheme_);
  derive(slots, row.solver_schedule, slots.family().flow ? at_both_ends_ : off_);
}

void Deriver::control(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  const auto* names = slots.values[row.control_names]->get_if<ValueList>();
  derive(slots, row.control_dim, number(names == nullptr ? 1 : std::ssize(*names)));
  const bool flow = slots.family().flow;
  const bool field = flow && !slots.is(row.field_kind, "block");
  derive(slots, row.control_sites, field ? in_flow_ : in_layers_);
  derive(slots, row.control_injection, slots.is(row.field_kind, "mlp") ? concat_ : additive_);
  const ValueList& replaced = *slots.values[row.replaced_layers]->get_if<ValueList>();
  const bool first = flow && *replaced.front().get_if<std::int64_t>() == 0;
  derive(slots, row.control_layers, pool_->intern(ValueList{first ? replaced.back() : Value(0)}));
}

void Deriver::modulation(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  derive(slots, row.targets, slots.is(row.mixer, "ssm") ? attention_targets_ : all_targets_);
  const auto* given = slots.values[row.granularity]->get_if<ValueMap>();
  if (given == nullptr) return;
  // A map names every target; one word for all targets is written as that word.
  ValueMap full;
  bool same = true;
  for (const auto& target : *slots.values[row.targets]->get_if<ValueList>()) {
    const std::string& name = *target.get_if<std::string>();
    const Value* word = find_key(*given, name);
    full.emplace_back(name, word != nullptr ? *word : Value("row"));
    same = same && full.back().second == full.front().second;
  }
  for (const auto& [name, word] : *given) {
    if (find_key(full, name) == nullptr) {  // reported by the checks
      full.emplace_back(name, word);
      same = false;
    }
  }
  if (full.empty()) return;
  sort_map(full);
  slots.values[row.granularity] =
      same ? pool_->intern(full.front().second) : pool_->intern(Value(std::move(full)));
}

void Deriver::routing(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  const bool teaches = slots.family().teaches;
  derive(slots, row.predictor_hidden, number(slots.integer(row.d_model) / 2));
  // Without layers that skip, main and global are one computation and have one name. The identity
  // counts from the former defaults, so that cells trained under them keep their ids, and no cell
  // clipped otherwise takes these.
  const PooledValue*& scope = slots.values[row.clip_scope];
  slots.defaults[row.clip_scope] = teaches ? group_ : global_;
  const bool apart = slots.family().skips || signalled(slots);
  // What is not trained must not weigh in the norm of what is.
  const bool partly = signalled(slots) && !slots.is(row.trainable, "all");
  if (scope->is_null() && partly) scope = group_;
  if (scope->is_null() || scope == main_) scope = apart ? main_ : global_;
  if (slots.is(row.clip, "none")) scope = slots.defaults[row.clip_scope];
  derive(slots, row.modes, teaches ? all_modes_ : modes_without_threshold_);
  derive(slots, row.deciders, all_deciders_);
}

void Deriver::train(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  const bool teaches = slots.family().teaches;
  const PooledValue* decay = pool_->null();
  const std::int64_t steps = slots.integer(row.steps);
  if (slots.is(row.schedule, "wsd")) {
    decay = number(steps / 5);
  } else if (!slots.is(row.schedule, "constant")) {
    decay = number(std::max<std::int64_t>(0, steps - slots.integer(row.warmup)));
  }
  derive(slots, row.decay_steps, decay);
  derive(slots, row.diverged_above, thousand_);
  const ControlRates rates(slots, *pool_);
  for (const Group& group : groups_) {
    if (rates.apply()) {
      derive(slots, group.lr, rates.lr(group.kind));
      const bool kept = slots.has_word(row.no_decay, name_of(group.kind));
      const bool decays = !kept && rates.trained(group.kind) &&
                          !(rates.apart() && group.kind == ParameterGroup::Control);
      derive(slots, group.weight_decay, decays ? slots.values[row.weight_decay] : zero_real_);
      continue;
    }
    const bool router = teaches && group.kind == ParameterGroup::Router;
    const bool scalars = teaches && group.kind == ParameterGroup::Scalars;
    derive(slots, group.lr, router ? router_lr_ : scalars ? scalars_lr_ : slots.values[row.lr]);
    // On the dense path the scalars have no gradient, and decay alone must not change them.
    const bool exempt = router || scalars || slots.has_word(row.no_decay, name_of(group.kind));
    derive(slots, group.weight_decay, exempt ? zero_real_ : slots.values[row.weight_decay]);
  }
}

void Deriver::eval(Slots& slots) const {
  const LeafRows& row = leaf_rows();
  derive(slots, row.splits, has_dev(slots) ? all_splits_ : no_dev_);
  derive(slots, row.stride, slots.values[row.seq_len]);
  derive(slots, row.keep_best, slots.has_word(row.splits, "dev") ? one_ : zero_);
}

}  // namespace depthgrid
