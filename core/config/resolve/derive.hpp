#pragma once

#include <memory>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// The largest rate of a signal's maps that is not written as `train.groups.control.lr`.
inline constexpr double kHighestControlRate = 0.01;

/// Fills in derived defaults (null = from another leaf, `auto`, `1/L`) and normalises equivalent
/// values to one form. Each leaf's derived default is kept beside it, so that a value equal to its
/// default is not part of the identity, whether written or not.
class Deriver {
 public:
  explicit Deriver(std::shared_ptr<ValuePool> pool);
  /// Recomputes values and defaults from the written values.
  void derive(Slots& slots) const;

 private:
  void seeds(Slots& slots) const;
  void model(Slots& slots) const;
  void flow(Slots& slots) const;
  void control(Slots& slots) const;
  void modulation(Slots& slots) const;
  void routing(Slots& slots) const;
  void train(Slots& slots) const;
  void eval(Slots& slots) const;

  const PooledValue* vocabulary(const Slots& slots) const;
  static void derive(Slots& slots, std::size_t leaf, const PooledValue* derived);
  const PooledValue* number(std::int64_t value) const { return pool_->intern(Value(value)); }

  struct Group {
    ParameterGroup kind;
    std::size_t lr, weight_decay;
  };
  std::shared_ptr<ValuePool> pool_;
  std::vector<Group> groups_;
  // Values that leaves are derived to.
  const PooledValue* zero_ = pool_->intern(0);
  const PooledValue* zero_real_ = pool_->intern(0.0);
  const PooledValue* one_ = pool_->intern(1);
  const PooledValue* one_real_ = pool_->intern(1.0);
  const PooledValue* small_ = pool_->intern(0.02);
  const PooledValue* true_ = pool_->intern(true);
  const PooledValue* false_ = pool_->intern(false);
  const PooledValue* sequential_ = pool_->intern("sequential");
  const PooledValue* parallel_ = pool_->intern("parallel");
  const PooledValue* layer_norm_ = pool_->intern("layer_norm");
  const PooledValue* none_ = pool_->intern("none");
  const PooledValue* all_ = pool_->intern("all");
  const PooledValue* sdpa_ = pool_->intern("sdpa");
  const PooledValue* explicit_ = pool_->intern("explicit");
  const PooledValue* bytes_ = pool_->intern(256);
  const PooledValue* gpt2_ = pool_->intern(50257);  // tokens of its vocabulary
  const PooledValue* all_splits_ = pool_->intern(ValueList{"train", "dev", "valid"});
  const PooledValue* no_dev_ = pool_->intern(ValueList{"train", "valid"});
  const PooledValue* all_targets_ = pool_->intern(ValueList{"q", "k", "v", "out", "up", "down"});
  const PooledValue* attention_targets_ = pool_->intern(ValueList{"q", "k", "v", "out"});
  const PooledValue* learned_ = pool_->intern("learned");
  const PooledValue* rope_ = pool_->intern("rope");
  const PooledValue* main_ = pool_->intern("main");
  const PooledValue* global_ = pool_->intern("global");
  const PooledValue* group_ = pool_->intern("group");
  const PooledValue* thousand_ = pool_->intern(1000.0);
  const PooledValue* router_lr_ = pool_->intern(3e-3);
  const PooledValue* scalars_lr_ = pool_->intern(1e-3);
  const PooledValue* all_modes_ = pool_->intern(
      ValueList{"dense", "teacher_topk", "teacher_threshold", "student", "random", "skip_all"});
  const PooledValue* modes_without_threshold_ =
      pool_->intern(ValueList{"dense", "teacher_topk", "student", "random", "skip_all"});
  const PooledValue* pytorch_ = pool_->intern("pytorch");
  const PooledValue* gpt2_scheme_ = pool_->intern("gpt2");
  const PooledValue* gelu_ = pool_->intern("gelu");
  const PooledValue* softplus_ = pool_->intern("softplus");
  const PooledValue* mlp_ = pool_->intern("mlp");
  const PooledValue* in_flow_ = pool_->intern("flow");
  const PooledValue* in_layers_ = pool_->intern("layers");
  const PooledValue* additive_ = pool_->intern("additive");
  const PooledValue* concat_ = pool_->intern("concat");
  const PooledValue* off_ = pool_->intern("off");
  const PooledValue* at_both_ends_ = pool_->intern(ValueMap{{"at", ValueList{"0%", "100%"}}});
  const PooledValue* all_deciders_ =
      pool_->intern(ValueList{"calibrated", "threshold", "running_topk"});
};

/// True if the cell has a `dev` split.
bool has_dev(const Slots& slots);

}  // namespace depthgrid
