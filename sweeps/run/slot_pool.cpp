#include "sweeps/run/slot_pool.hpp"

#include <algorithm>
#include <set>
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
  gpus_.insert(gpus_.end(), share.gpus.begin(), share.gpus.end());
  // Several ranks of the launch may have shared a card: that is one fault of it.
  for (const std::string& card : std::set(share.gpus.begin(), share.gpus.end())) {
    std::int64_t& faults = faults_[card];
    if (faulty) ++faults;
    if (faults < kCardFaults) continue;
    // The launch's places on it, and free ones of others that would have shared it.
    const auto places = static_cast<std::int64_t>(std::erase(gpus_, card));
    free_ -= places;
    all_ -= places;
    if (faulty && faults == kCardFaults) out.push_back({card, faults});  // reported once
  }
  return out;
}

}  // namespace depthgrid
