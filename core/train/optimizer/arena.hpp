#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"

namespace depthgrid {

/// All parameters of E cells in one (E, P) tensor, and their gradients in another.
///
/// Blocks hold leaf views whose .grad is a view of the gradient arena, so backward accumulates in
/// place and clip, optimizer, all-reduce, checkpoint and digest are one pass each. This breaks if a
/// .grad is replaced: set_to_none, or backward with create_graph (use autograd::grad).
///
/// With `mixed` there is also a bf16 copy of the values: parameters that are factors of matrix
/// products are returned as views of that copy, with float32 gradients; the optimizer rewrites the
/// copy with each update. Source of the mixed scheme: Micikevicius et al. (2018), ICLR,
/// section 3.1.
class Arena final : public ParameterSource {
 public:
  /// @param seeds  (E); cell e is initialised exactly as it would be alone.
  /// @param mixed  keep the bf16 copy. Needs float32 options.
  Arena(ParameterLayout layout, std::vector<std::uint64_t> seeds, const at::TensorOptions& options,
        bool mixed = false);

  /// The initialised leaf view of one slot. @throws Error unless the layout has it in this shape.
  at::Tensor parameter(const ParameterSpec& spec) override;

  const ParameterLayout& layout() const noexcept { return layout_; }
  std::int64_t cells() const noexcept { return values_.size(0); }
  std::int64_t size() const noexcept { return layout_.size(); }
  at::Tensor& values() noexcept { return values_; }  // (E, P)
  const at::Tensor& values() const noexcept { return values_; }
  at::Tensor& gradients() noexcept { return gradients_; }  // (E, P)
  at::Tensor& shadow() noexcept { return shadow_; }        // (E, P) bf16; undefined unless mixed

  /// The leaf views that parameter() has returned.
  struct Leaf {
    std::int64_t offset;  // of its slot
    at::Tensor view;
  };
  const std::vector<Leaf>& leaves() const noexcept { return leaves_; }

  /// Updates the bf16 copy; call it after writing to values() directly.
  void refresh_shadow();

  void zero_gradients() { gradients_.zero_(); }

 private:
  ParameterLayout layout_;
  std::vector<std::uint64_t> seeds_;
  at::Tensor values_;
  at::Tensor gradients_;
  at::Tensor shadow_;
  std::vector<Leaf> leaves_;
};

/// (E, shape...) view of one slot's columns of an (E, P) tensor.
at::Tensor slot_view(const at::Tensor& arena, const ParameterSlot& slot);

}  // namespace depthgrid
