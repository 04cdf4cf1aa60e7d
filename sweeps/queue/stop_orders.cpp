#include "sweeps/queue/stop_orders.hpp"

#include <utility>

#include <sys/stat.h>

#include "sweeps/queue/cell_orders.hpp"

namespace depthgrid {
namespace {

/// A filesystem may keep time in seconds: a second change would not show.
constexpr int kLooksAfterChange = 4;

}  // namespace

StopOrders::StopOrders(const Store& store, std::vector<CellId> cells)
    : store_(store), cells_(std::move(cells)) {}

std::vector<std::size_t> StopOrders::look() {
  struct stat about{};
  if (stat(store_.orders_dir().c_str(), &about) != 0) {
    changed_ = {};
    return {};
  }
  if (about.st_mtim.tv_sec != changed_.tv_sec || about.st_mtim.tv_nsec != changed_.tv_nsec) {
    changed_ = about.st_mtim;
    looks_left_ = kLooksAfterChange;
  }
  std::vector<std::size_t> out;
  if (looks_left_ == 0) return out;
  --looks_left_;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (stop_ordered(store_, cells_[i])) out.push_back(i);
  }
  return out;
}

}  // namespace depthgrid
