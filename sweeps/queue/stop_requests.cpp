#include "sweeps/queue/stop_requests.hpp"

#include <utility>

#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {
namespace {

/// A filesystem may keep time in seconds: a second change would not show.
constexpr int kPollsAfterChange = 4;

}  // namespace

StopRequests::StopRequests(const Store& store, std::vector<CellId> cells)
    : store_(store), cells_(std::move(cells)) {}

std::vector<std::size_t> StopRequests::poll() {
  const auto [about, absent] = store_.fs().facts(store_.requests_dir(), Links::Follow);
  if (absent != 0) {
    changed_ = {};
    return {};
  }
  if (about.modified != changed_) {
    changed_ = about.modified;
    polls_left_ = kPollsAfterChange;
  }
  std::vector<std::size_t> out;
  if (polls_left_ == 0) return out;
  --polls_left_;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cell_stop_requested(store_, cells_[i])) out.push_back(i);
  }
  return out;
}

}  // namespace depthgrid
