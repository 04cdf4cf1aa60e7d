#include "models/routing/execution_masks.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>

#include "models/routing/routing_record.hpp"

namespace depthgrid {
namespace {

/// (E) from a tensor with one number per cell.
std::vector<double> per_cell(const at::Tensor& x) {
  const at::Tensor host = x.to(at::kCPU, at::kDouble).contiguous();
  return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()};
}

}  // namespace

at::Tensor executed_masks(const RoutingRecord& record, const at::Tensor& tokens,
                          std::int64_t layers) {
  std::vector<std::int64_t> sizes = tokens.sizes().vec();
  sizes.push_back(layers);
  const at::Tensor masks = at::ones(sizes, at::kBool);
  for (const LayerRouting& layer : record.layers) {
    masks.select(3, layer.layer).copy_(layer.executed);
  }
  return masks;
}

std::vector<double> unexecuted_shares(const ExecutionMasks& masks) {
  const at::Tensor none = at::stack(masks).any(0).logical_not();
  return per_cell(none.flatten(1).to(at::kDouble).mean(1));
}

std::vector<double> longest_skips(const ExecutionMasks& masks) {
  const at::Tensor all = at::stack(masks, 1).to(at::kCPU).contiguous();  // (E, layers, B, T)
  const std::int64_t cells = all.size(0), tokens = all.size(3);
  const std::int64_t rows = all.numel() / (cells * tokens);
  const bool* executed = all.const_data_ptr<bool>();
  std::vector<double> out;
  for (std::int64_t e = 0; e < cells; ++e) {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t run = 0;
      for (std::int64_t t = 0; t < tokens; ++t) {
        run = *executed++ ? 0 : run + 1;
        longest = std::max(longest, run);
      }
    }
    out.push_back(static_cast<double>(longest));
  }
  return out;
}

std::vector<double> executed_per_token(const ExecutionMasks& masks) {
  return per_cell(at::stack(masks, 1).flatten(2).to(at::kDouble).mean(2).sum(1));
}

std::vector<double> packed_mask(const at::Tensor& mask, std::int64_t sequences) {
  const at::Tensor host = mask.narrow(1, 0, sequences).to(at::kCPU).contiguous();
  const std::int64_t tokens = host.size(2);
  const bool* bit = host.const_data_ptr<bool>();
  std::vector<double> out;
  for (std::int64_t row = 0; row < host.size(0) * sequences; ++row) {
    for (std::int64_t first = 0; first < tokens; first += 8) {
      unsigned byte = 0;
      for (std::int64_t t = first; t < std::min(first + 8, tokens); ++t) {
        byte |= static_cast<unsigned>(*bit++) << static_cast<unsigned>(t - first);
      }
      out.push_back(byte);
    }
  }
  return out;
}

}  // namespace depthgrid
