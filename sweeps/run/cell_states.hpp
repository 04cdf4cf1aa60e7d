#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The cells of a sweep as one supervisor knows them: what is finalised stays finalised.
class CellStates {
 public:
  /// Both outlive this.
  CellStates(const Sweep& sweep, const Store& store);

  bool done(std::size_t row) const;
  bool cancelled(std::size_t row) const;
  /// It has a result, is cancelled, or has failed since this was made.
  bool finalised(std::size_t row);

 private:
  const Sweep& sweep_;
  const Store& store_;
  std::vector<bool> finalised_;
  std::vector<std::int64_t> failed_before_;
};

}  // namespace depthgrid
