#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/language_model.hpp"
#include "core/train/optimizer/arena.hpp"
#include "core/train/train_options.hpp"
#include "core/train/trainer.hpp"
#include "models/family.hpp"
#include "models/model.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// Arithmetic of an audited model: mixed has the factors of matrix products in bf16.
enum class Arithmetic : std::uint8_t { Float32, Float64, Mixed };

/// How a model is audited, besides its options.
struct AuditedAs {
  Arithmetic arithmetic = Arithmetic::Float32;
  /// Every weight is moved away from its start value by a draw that depends on the cell's seed
  /// alone: at the start many are 0 or 1, and what they multiply or leave alone does not show.
  bool moved = false;
  /// In the initial steps of a temporal dynamic transformer, in which every token is executed;
  /// otherwise past them.
  bool dense_start = false;
};

/// A leaf that may differ between the cells of a structure: a cell in which it acts, and the same
/// cell with other values of it.
struct AuditedLeaf {
  std::string path;
  std::function<ModelOptions()> base = {};  // none: the structure's cell 0
  std::vector<std::function<ModelOptions()>> changed = {};
};

/// A structure under audit, and how to build its models.
struct AuditSubject {
  /// Options of cells by their numbers. Cells 0 to variety - 1 have the values that are audited;
  /// higher numbers repeat those of cell 0.
  std::function<ModelOptions(const std::vector<std::size_t>& cells)> options;
  std::size_t variety = 1;                             // number of different cells
  std::int64_t tokens = 128;                           // T, data.seq_len
  std::uint64_t seed = 0;                              // model.seed
  std::array<bool, kParameterGroupCount> frozen = {};  // groups that do not train
  double memory_bytes = 4e9;                           // memory that the audit may take
  bool mixed = false;                                  // trains in bf16
  std::string optimizer = "adam";                      // train.optimizer
  ClipScope clip_scope = ClipScope::Global;            // train.clip_scope
  std::vector<AuditedLeaf> leaves = {};                // leaves that must change numbers
  FamilyBuilder family = {};                           // none: the one named by the options
  /// The loss; none: cross-entropy of the next token.
  std::function<std::unique_ptr<LanguageModel>(const Model&, std::vector<std::uint64_t> seeds)>
      language = {};
  /// How a training step is made; none: by the trainer.
  std::function<StepReport(Trainer& trainer, Arena& arena, std::int64_t step)> step = {};
};

/// E cells of a subject with their own arena, on the CPU.
class AuditModel {
 public:
  /// @param o  sizes, possibly those of the structure's twin. @param seeds  (E) model seeds.
  AuditModel(const AuditSubject& subject, ModelOptions o, std::vector<std::uint64_t> seeds,
             AuditedAs as = {});

  const ModelOptions& options() const noexcept { return model_.options(); }
  const Model& model() const noexcept { return model_; }
  LanguageModel& language() noexcept { return *language_; }
  Arena& arena() noexcept { return arena_; }
  const ParameterLayout& layout() const noexcept { return arena_.layout(); }

  /// Logits of one mode of execution, without a graph; draws are keyed by the context's step, or
  /// 1, and this model's seeds.
  /// @param tokens  (E, B, T). @return (E, B, T, V)
  at::Tensor logits(const at::Tensor& tokens, ForwardContext context) const;

  /// The same as a training step computes them. @return (E, B, T, V) with a graph.
  at::Tensor recorded_logits(const at::Tensor& tokens, ForwardContext context) const;

  const std::vector<std::uint64_t>& seeds() const noexcept { return seeds_; }

 private:
  std::vector<std::uint64_t> seeds_;
  at::ScalarType dtype_;  // of parameters
  Arena arena_;
  Model model_;
  std::unique_ptr<LanguageModel> language_;
};

/// The layout of a subject's parameters at these sizes.
ParameterLayout layout_of(const AuditSubject& subject, const ModelOptions& o);

/// Token ids drawn uniformly from [0, below), as a function of the arguments alone.
/// @return (sizes) int64
at::Tensor audit_tokens(std::int64_t below, std::vector<std::int64_t> sizes, std::uint64_t key);

/// The control signal of a pass over `tokens` (E, B, T) for a model that has one: as many numbers
/// as it has axes, a function of `key` alone; undefined for other models. @return (E, B, T, U)
Control audit_control(const ModelOptions& o, const at::Tensor& tokens, std::uint64_t key);

/// Whether all bits are equal, including those of NaN. @param a, b  of one shape and dtype.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

/// Largest |a - b|; NaN if one is NaN where the other is not; 0 for empty tensors.
double largest_difference(const at::Tensor& a, const at::Tensor& b);

}  // namespace depthgrid
