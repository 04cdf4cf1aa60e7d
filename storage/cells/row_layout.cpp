#include "storage/cells/row_layout.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds = {
    {{"train", "step"}, {"eval", "eval_step"}, {"probe", "probe_step"}, {"cell", ""}}};

}  // namespace

std::string_view axis_of_kind(std::string_view kind) {
  const auto at = std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::first);
  if (at == kKinds.end()) {
    throw Error("a journal has rows of the unknown kind '" + std::string(kind) + "'");
  }
  return at->second;
}

RowSlot RowLayout::add(std::string_view variable) {
  const std::string name(variable);
  const Variable* v = find_variable(name);
  if (v == nullptr) throw Error("no variable is called '" + name + "'");
  const std::vector<std::string> axes = axes_of(*v);
  const auto kind = std::ranges::find(kKinds, axes.size() < 2 ? "cell" : axes[1],
                                      &decltype(kKinds)::value_type::second);
  if (axes[0] != "cell" || kind == kKinds.end()) {
    throw Error("variable '" + name + "' (" + std::string(v->dims) + ") is no series");
  }
  const auto fresh = RowKind{std::string(kind->first), {}};
  auto at = std::ranges::find(kinds_, fresh.name, &RowKind::name);
  if (at == kinds_.end()) at = kinds_.insert(at, fresh);
  if (std::ranges::find(at->columns, name, &RowColumn::variable) != at->columns.end()) {
    throw Error("variable '" + name + "' is recorded twice");
  }
  const std::int64_t first = at->width(), count = axes_.width(*v, 2);
  at->columns.push_back({name, count});
  return {static_cast<std::size_t>(at - kinds_.begin()), static_cast<std::size_t>(first),
          static_cast<std::size_t>(count)};
}

}  // namespace depthgrid
