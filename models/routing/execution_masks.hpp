#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

struct RoutingRecord;

/// What layers that skip tokens have executed, one mask (E, B, T) bool per layer, in order.
using ExecutionMasks = std::vector<at::Tensor>;

/// What each layer of a pass over `tokens` (E, B, T) has executed, as masks for Execution::forced;
/// layers that have recorded nothing execute every token. @return (E, B, T, L) bool
at::Tensor executed_masks(const RoutingRecord& record, const at::Tensor& tokens,
                          std::int64_t layers);

/// Share of the tokens that none of the layers has executed. @return (E)
std::vector<double> unexecuted_shares(const ExecutionMasks& masks);

/// Longest run of tokens, one after another in a sequence, that a layer has skipped: the longest of
/// all layers and sequences. @return (E)
std::vector<double> longest_skips(const ExecutionMasks& masks);

/// Mean number of layers that execute a token. @return (E)
std::vector<double> executed_per_token(const ExecutionMasks& masks);

/// Bytes of ⌈T/8⌉ tokens each, the lowest bit first (numpy.unpackbits, bitorder="little").
/// @param mask  (E, B, T) bool. @param sequences  the first ones. @return (E, sequences, bytes)
std::vector<double> packed_mask(const at::Tensor& mask, std::int64_t sequences);

}  // namespace depthgrid
