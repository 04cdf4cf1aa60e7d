#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/config/resolve/slots.hpp"

namespace depthgrid {

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
  void modulation(Slots& slots) const;
  void routing(Slots& slots) const;
  void train(Slots& slots) const;
  void eval(Slots& slots) const;

  const PooledValue* vocabulary(const Slots& slots) const;
  static void settle(Slots& slots, std::size_t leaf, const PooledValue* derived);
  const PooledValue* number(std::int64_t value) const { return pool_->intern(Value(value)); }

  struct Group {
    std::string_view name;
    std::size_t lr, weight_decay;
  };
  std::shared_ptr<ValuePool> pool_;
  std::vector<Group> groups_;  // every train.groups.<g> of the schema
  const PooledValue *zero_, *zero_real_, *one_, *one_real_, *small_, *true_, *false_;
  const PooledValue *sequential_, *parallel_, *layer_norm_, *none_, *all_, *sdpa_, *explicit_;
  const PooledValue *bytes_, *gpt2_, *all_splits_, *no_dev_, *all_targets_, *attention_targets_;
  const PooledValue *learned_, *rope_, *global_, *group_, *router_lr_, *scalars_lr_;
  const PooledValue *tdt_modes_, *mod_modes_, *all_deciders_;
  const PooledValue *pytorch_, *gpt2_scheme_, *gelu_, *softplus_, *mlp_;
};

/// True if the cell has a `dev` split.
bool has_dev(const Slots& slots);

}  // namespace depthgrid
