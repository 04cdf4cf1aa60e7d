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
#include "models/family.hpp"
#include "models/model.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// A structure under audit, and how to build its models.
struct AuditSubject {
  /// Options of E cells that all have the structure's values.
  std::function<ModelOptions(std::int64_t cells)> options;
  std::int64_t tokens = 128;                           // T, data.seq_len
  std::uint64_t seed = 0;                              // model.seed
  std::array<bool, kParameterGroupCount> frozen = {};  // groups that do not train
  double memory_bytes = 4e9;                           // memory that the audit may take
  FamilyBuilder family = {};                           // none: the one named by the options
  /// The loss; none: cross-entropy of the next token.
  std::function<std::unique_ptr<LanguageModel>(const Model&, std::vector<std::uint64_t> seeds)>
      language = {};
};

/// E cells of a subject with their own arena, in float32 on the CPU; without_dense_start().
class AuditModel {
 public:
  /// @param o  sizes, possibly those of the structure's twin. @param seeds  (E) model seeds.
  AuditModel(const AuditSubject& subject, ModelOptions o, std::vector<std::uint64_t> seeds);

  const ModelOptions& options() const noexcept { return model_.options(); }
  const Model& model() const noexcept { return model_; }
  LanguageModel& language() noexcept { return *language_; }
  Arena& arena() noexcept { return arena_; }
  const ParameterLayout& layout() const noexcept { return arena_.layout(); }

  /// Logits of one mode of execution, without a graph; draws are keyed by step 1 and this model's
  /// seeds.
  /// @param tokens  (E, B, T). @return (E, B, T, V)
  at::Tensor logits(const at::Tensor& tokens, ForwardContext context) const;

 private:
  std::vector<std::uint64_t> seeds_;
  Arena arena_;
  Model model_;
  std::unique_ptr<LanguageModel> language_;
};

/// One mode of executing a family in the audit, and what the family declares about it.
struct AuditedMode {
  std::string name;        // "training", "evaluation", or a mode of the family
  ForwardContext context;  // seeds are filled in by AuditModel
  bool causal = true;
  std::string reason = {};  // if not causal: what looks ahead
};

/// Training, the default evaluation, and, if a family has several evaluation modes, each of them.
/// The default evaluation must be causal whatever is declared.
std::vector<AuditedMode> audited_modes(const Family& family);

/// The layout of a subject's parameters at these sizes.
ParameterLayout layout_of(const AuditSubject& subject, const ModelOptions& o);

/// Token ids drawn uniformly from [0, below), as a function of the arguments alone.
/// @return (sizes) int64
at::Tensor audit_tokens(std::int64_t below, std::vector<std::int64_t> sizes, std::uint64_t key);

/// What each layer of a pass over `tokens` (E, B, T) has executed, as masks for Execution::forced;
/// layers that have recorded nothing execute every token. @return (E, B, T, L) bool
at::Tensor executed_masks(const RoutingRecord& record, const at::Tensor& tokens,
                          std::int64_t layers);

/// Whether all bits are equal, including those of NaN. @param a, b  float32 of the same shape.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

/// Largest |a - b|; NaN if one is NaN where the other is not; 0 for empty tensors.
double largest_difference(const at::Tensor& a, const at::Tensor& b);

}  // namespace depthgrid
