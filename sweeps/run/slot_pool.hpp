#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace depthgrid {

/// What a launch holds while it runs.
struct SlotShare {
  std::int64_t ranks = 0;
  std::vector<std::string> gpus{};  // empty: it trains on the CPU
  std::vector<int> cores{};         // of its own; empty: it may use all
};

/// Places for ranks on one machine, with the cards and cores that belong to them. A card under
/// which two launches have failed by a fault of the node is handed out no more.
class SlotPool {
 public:
  /// @param gpus  one for each slot; a card that several slots share is named as often. Empty: CPU.
  /// @param cores  handed out, `cores_per_rank` to a rank; empty: all launches share all.
  SlotPool(std::int64_t slots, std::vector<std::string> gpus, std::vector<int> cores,
           std::int64_t cores_per_rank);

  /// As many cards and cores as are left, if those are fewer than `ranks` want.
  SlotShare take(std::int64_t ranks);

  /// A card with its faults so far.
  struct BadCard {
    std::string card;
    std::int64_t faults;
  };
  /// @param faulty  its launch has failed by a fault of the node: one of each of its cards.
  /// @return cards that are disabled from now on.
  std::vector<BadCard> give_back(const SlotShare& share, bool faulty);

  std::int64_t all() const noexcept { return all_; }
  std::int64_t free() const noexcept { return free_; }

 private:
  std::int64_t all_, free_;
  std::vector<std::string> gpus_;  // that are free
  std::vector<int> cores_;         // that are free
  std::int64_t cores_per_rank_;
  std::map<std::string, std::int64_t> faults_;
};

}  // namespace depthgrid
