#include "storage/pack/pack_axes.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

std::vector<std::int64_t> integers_of(const VariableColumn& column) {
  std::vector<std::int64_t> out(column.items());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = column.integer(i);
  return out;
}

template <class T>
void sort_out(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto doubles = std::ranges::unique(values);
  values.erase(doubles.begin(), doubles.end());
}

/// Labels that the program knows come first, in its order.
void put_in_order(std::vector<std::string>& labels, const std::string& axis) {
  sort_out(labels);
  const std::span<const std::string_view> known = known_labels(dimension(axis));
  std::ranges::stable_sort(labels, {},
                           [&](const std::string& label) { return label_index(known, label); });
}

template <class T>
std::int64_t place_of(const std::vector<T>& all, const T& one, const std::string& axis) {
  const auto at = std::ranges::find(all, one);
  if (at == all.end()) throw Error("a label is not on the axis '" + axis + "'");
  return at - all.begin();
}

}  // namespace

void PackAxes::add(const ColumnTable& source) {
  for (const auto& [axis, size] : source.sizes) {
    const AxisKind kind = dimension(axis).kind;
    if (kind == AxisKind::Padded) sizes_[axis] = std::max(sizes_[axis], size);  // the longest
    const bool labelled = kind == AxisKind::Labelled && !is_record_axis(axis);
    if (kind != AxisKind::Joined && !labelled) continue;
    const VariableColumn* own = source.find(axis);
    if (own == nullptr) throw Error("the coordinate of axis '" + axis + "' is missing");
    if (labelled) {
      add_labels(*own);
    } else {
      add_steps(axis, integers_of(*own));
    }
  }
}

void PackAxes::add_steps(const std::string& axis, std::span<const std::int64_t> steps) {
  std::vector<std::int64_t>& all = steps_[axis];
  // Most cells have the same steps: nothing to add.
  if (std::ranges::includes(all, steps)) return;
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), steps.begin(), steps.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

void PackAxes::add_labels(const VariableColumn& own) {
  for (std::size_t i = 0; i < own.items(); ++i) {
    if (own.type == DataType::Text) {
      texts_[own.name].push_back(own.text(i));
    } else {
      values_[own.name].push_back(own.number(i));
    }
  }
}

void PackAxes::finish() {
  for (auto& [axis, labels] : texts_) {
    put_in_order(labels, axis);
    sizes_[axis] = static_cast<std::int64_t>(labels.size());
  }
  for (auto& [axis, values] : values_) {
    sort_out(values);
    sizes_[axis] = static_cast<std::int64_t>(values.size());
  }
  for (const auto& [axis, steps] : steps_) sizes_[axis] = static_cast<std::int64_t>(steps.size());
}

std::vector<VariableColumn> PackAxes::coordinates() const {
  std::vector<VariableColumn> out;
  for (const auto& [axis, steps] : steps_) {
    out.push_back(integer_column(axis, {axis}, DataType::Int64, steps));
  }
  for (const auto& [axis, labels] : texts_) out.push_back(text_column(axis, {axis}, labels));
  for (const auto& [axis, values] : values_) {
    out.push_back(number_column(axis, {axis}, dimension(axis).type, values));
  }
  for (VariableColumn& column : out) describe(column);
  return out;
}

std::vector<std::int64_t> PackAxes::positions(const std::string& axis,
                                              std::span<const std::int64_t> own) const {
  const std::vector<std::int64_t>& all = steps_.at(axis);
  std::vector<std::int64_t> out;
  out.reserve(own.size());
  auto from = all.begin();
  for (const std::int64_t step : own) {
    from = std::lower_bound(from, all.end(), step);
    if (from == all.end() || *from != step) {
      throw Error("step " + std::to_string(step) + " is not on the axis '" + axis + "'");
    }
    out.push_back(from - all.begin());
  }
  return out;
}

std::vector<std::int64_t> PackAxes::positions(const VariableColumn& own) const {
  if (steps_.contains(own.name)) return positions(own.name, integers_of(own));
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < own.items(); ++i) {
    out.push_back(own.type == DataType::Text
                      ? place_of(texts_.at(own.name), own.text(i), own.name)
                      : place_of(values_.at(own.name), own.number(i), own.name));
  }
  return out;
}

std::int64_t length_of(const AxisSizes& sizes, const std::string& axis) {
  const auto at = sizes.find(axis);
  if (at == sizes.end()) throw Error("axis '" + axis + "' has no length");
  return at->second;
}

AxisFit PackAxes::fit(const ColumnTable& source, const std::string& axis, std::int64_t all) const {
  AxisFit out{.own = length_of(source.sizes, axis), .all = all, .positions = {}};
  const AxisKind kind = dimension(axis).kind;  // labels may differ in their order alone
  if (kind == AxisKind::Labelled || (kind == AxisKind::Joined && out.own != out.all)) {
    out.positions = positions(*source.find(axis));
  }
  return out;
}

void place_items(std::span<const std::byte> from, std::size_t from_item, std::span<std::byte> to,
                 std::size_t to_item, std::span<const AxisFit> axes) {
  const bool same = from_item == to_item && std::ranges::all_of(axes, [](const AxisFit& axis) {
                      return axis.positions.empty() && axis.own == axis.all;
                    });
  if (same || axes.empty()) {
    std::memcpy(to.data(), from.data(), same ? std::min(from.size(), to.size()) : from_item);
    return;
  }
  const AxisFit& axis = axes.front();
  const std::size_t from_step =
      from.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, axis.own));
  const std::size_t to_step = to.size() / static_cast<std::size_t>(axis.all);
  const std::int64_t count = axis.positions.empty() ? std::min(axis.own, axis.all) : axis.own;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(
        axis.positions.empty() ? i : axis.positions[static_cast<std::size_t>(i)]);
    place_items(from.subspan(static_cast<std::size_t>(i) * from_step, from_step), from_item,
                to.subspan(at * to_step, to_step), to_item, axes.subspan(1));
  }
}

VariableColumn absent_column(const Variable& v, std::size_t item_bytes, std::size_t items) {
  VariableColumn out{.name = std::string(v.name),
                     .dims = axes_of(v),
                     .type = v.type,
                     .item_bytes = item_bytes,
                     .bytes = absent_items(v.type, item_bytes, items),
                     .attributes = {}};
  describe(out);
  return out;
}

std::vector<std::byte> absent_items(DataType type, std::size_t item_bytes, std::size_t items) {
  const std::vector<std::byte> one = fill_item(type, item_bytes);
  std::vector<std::byte> out(items * item_bytes);
  for (std::size_t i = 0; i < items; ++i) {
    std::memcpy(out.data() + i * item_bytes, one.data(), item_bytes);
  }
  return out;
}

}  // namespace depthgrid
