#include "sweeps/run/slot_pool.hpp"

#include <algorithm>
#include <utility>

namespace depthgrid {
namespace {

constexpr std::int64_t kCardFaults = 2;

template <typename T>
std::vector<T> first_of(std::vector<T>& from, std::int64_t most) {
  const auto end = from.begin() + std::min(most, static_cast<std::int64_t>(from.size()));
  std::vector<T> out(from.begin(), end);
  from.erase(from.begin(), end);
  return out;
}

}  // namespace

SlotPool::SlotPool(std::int64_t slots, std::vector<std::string> gpus, std::vector<int> cores,
                   std::int64_t cores_per_rank)
    : all_(slots),
      free_(slots),
      gpus_(std::move(gpus)),
      cores_(std::move(cores)),
      cores_per_rank_(cores_per_rank) {}

SlotShare SlotPool::take(std::int64_t ranks) {
  free_ -= ranks;
  return {.ranks = ranks,
          .gpus = first_of(gpus_, ranks),
          .cores = first_of(cores_, ranks * cores_per_rank_)};
}

std::vector<SlotPool::BadCard> SlotPool::give_back(const SlotShare& share, bool faulty) {
  free_ += share.ranks;
  cores_.insert(cores_.end(), share.cores.begin(), share.cores.end());
  std::vector<BadCard> out;
  for (const std::string& card : share.gpus) {
    std::int64_t& faults = faults_[card];
    if (faulty) ++faults;
    if (faults < kCardFaults) {
      gpus_.push_back(card);
      continue;
    }
    // Its place, and those of launches that would have shared it.
    const auto places = 1 + static_cast<std::int64_t>(std::erase(gpus_, card));
    free_ -= places;
    all_ -= places;
    out.push_back({card, faults});
  }
  return out;
}

}  // namespace depthgrid
