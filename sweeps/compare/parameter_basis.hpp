#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Of cells that are to be equal in trainable parameters: how far apart two are, and the block of
/// the sweep file (`match:`) that makes them equal.
class ParameterBasis {
 public:
  /// @param listing    must outlive this. @param tolerance  the share that is allowed; nothing:
  ///                   any.
  ParameterBasis(const Listing& listing, std::optional<double> tolerance);

  BasisMismatch mismatch(std::size_t mine, std::size_t theirs) const;

 private:
  const Listing& listing_;
  std::optional<double> tolerance_;
  std::string advice_;  // the block, or what to do without one
};

}  // namespace depthgrid
