#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Whether a cell that starts from another one may begin. It examines the store only: whichever
/// process trains the source, its result shows that it is done.
class StartPermit {
 public:
  enum class Answer : std::uint8_t { Open, Wait, Never };

  /// @param failed_before  by row: generation of the newest failure when this run began. Earlier
  ///                       failures are tried again, cells that a user has cancelled are not.
  StartPermit(const Sweep& sweep, const Store& store,
              const std::vector<std::int64_t>& failed_before);

  /// @param why  set when Never: how the source ended.
  Answer ask(std::size_t row, std::string& why);

 private:
  const Sweep& sweep_;
  const Store& store_;
  const std::vector<std::int64_t>& failed_before_;
  std::map<CellId, std::size_t> rows_;         // of sources
  std::map<CellId, std::string> ended_badly_;  // results of sources, once read; "" = completed
};

}  // namespace depthgrid
