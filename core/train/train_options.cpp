#include "core/train/train_options.hpp"

#include <string>

#include "core/config/family_facts.hpp"
#include "core/train/optimizer/optimizer_table.hpp"

namespace depthgrid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Leaves train.groups.<g>.* exist for the groups that some family has.
const Value* group_leaf(const CellConfig& c, std::size_t group, const char* leaf) {
  const std::string path =
      "train.groups." + std::string(kParameterGroupNames[group]) + "." + std::string(leaf);
  if (find_leaf(path) == schema().size()) return nullptr;
  const Value& value = c.at(path);
  return value.is_null() ? nullptr : &value;
}

double real_or(const CellConfig& c, const char* path, double otherwise) {
  return c.null(path) || c.is_word(path) ? otherwise : c.real(path);
}

ScheduleOptions schedule(const CellConfig& c) {
  ScheduleOptions s;
  s.kind = schedule_kind(c.word("train.schedule.kind"));
  s.steps = c.integer("train.steps");
  s.warmup_steps = c.integer("train.schedule.warmup_steps");
  if (!c.null("train.schedule.decay_steps"))
    s.decay_steps = c.integer("train.schedule.decay_steps");
  s.final_ratio = c.real("train.schedule.final_ratio");
  return s;
}

ClipScope clip_scope(const CellConfig& c) {
  using enum ParameterGroup;
  const std::string& word = c.word("train.clip_scope");
  if (word == "global") return ClipScope::Global;
  if (word == "group") return ClipScope::Group;
  const FamilyFacts& family = facts_of(c.word("model.family"));
  // The router of a family that predicts weighs what a block adds: it belongs to the model.
  const bool labelled = c.word("train.task") != "lm";
  if (family.teaches) {
    return labelled ? ClipScope::apart({Tpn, Scalars, Router, Control})
                    : ClipScope::apart({Tpn, Scalars, Router});
  }
  return labelled ? ClipScope::apart({Predictor, Control}) : ClipScope::apart({Predictor});
}

Precision precision(const std::string& word) {
  if (word == "bf16") return Precision::Bf16;
  return word == "tf32" ? Precision::Tf32 : Precision::Fp32;
}

}  // namespace

TrainOptions train_options(const std::vector<const CellConfig*>& cells) {
  const CellConfig& first = *cells.at(0);
  TrainOptions o;
  o.cells = static_cast<std::int64_t>(cells.size());
  o.steps = first.integer("train.steps");
  o.batch = first.integer("train.batch_size");
  o.accumulation = first.integer("train.accumulation");
  o.optimizer = first.word("train.optimizer");
  o.clip_scope = clip_scope(first);
  o.precision = precision(first.word("train.precision"));
  for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
    const Value* frozen = group_leaf(first, g, "frozen");
    o.frozen[g] = frozen != nullptr && *frozen->get_if<bool>();
  }
  for (const std::string_view leaf : optimizer_row(o.optimizer).scalars) {
    std::vector<double>& of_cells = o.scalars.emplace_back();
    for (const CellConfig* c : cells) of_cells.push_back(c->real(leaf));
  }
  for (const CellConfig* c : cells) {
    o.model_seed.push_back(static_cast<std::uint64_t>(c->integer("model.seed")));
    o.data_seed.push_back(static_cast<std::uint64_t>(c->integer("data.seed")));
    o.first_step.push_back(c->integer("data.first_step"));
    o.clip.push_back(real_or(*c, "train.clip", kNever));
    o.loss_scale.push_back(c->real("train.loss_scale"));
    o.diverged_above.push_back(real_or(*c, "train.diverged_above", kNever));
    o.schedule.push_back(schedule(*c));
    o.patience.push_back(c->integer_if("train.early_stop.patience"));
    o.min_delta.push_back(c->real("train.early_stop.min_delta"));
    for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
      const Value* lr = group_leaf(*c, g, "lr");
      const Value* decay = group_leaf(*c, g, "weight_decay");
      o.lr.push_back(lr != nullptr ? lr->number() : c->real("train.lr"));
      o.weight_decay.push_back(decay != nullptr ? decay->number() : c->real("train.weight_decay"));
    }
  }
  return o;
}

}  // namespace depthgrid
