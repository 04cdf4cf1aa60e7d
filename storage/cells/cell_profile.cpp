#include "storage/cells/cell_profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/nan.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

/// One axis of a column beyond cell and probe_step.
struct ProfileAxis {
  std::size_t length = 1, stride = 1;
  bool along = false;  // the one asked for
  bool first = false;  // of names: only the first
};

std::vector<ProfileAxis> profile_axes(const std::vector<std::string>& names,
                                      const std::vector<std::int64_t>& extents,
                                      std::string_view along) {
  std::vector<ProfileAxis> out;
  std::size_t stride = 1;
  for (std::size_t i = names.size(); i-- > 2;) {
    const auto length = static_cast<std::size_t>(extents[i]);
    const bool text = dimension(names[i]).type == DataType::Text;
    out.insert(out.begin(), {length, stride, names[i] == along, text && names[i] != along});
    stride *= length;
  }
  return out;
}

/// Mean over all axes but the one asked for, of one look that begins at `base`.
std::vector<double> reduced(const VariableColumn& column, std::size_t base, std::size_t items,
                            const std::vector<ProfileAxis>& axes) {
  std::size_t length = 0;
  for (const ProfileAxis& axis : axes) length = axis.along ? axis.length : length;
  std::vector<double> sums(length, 0), counts(length, 0);
  for (std::size_t i = 0; i < items; ++i) {
    std::size_t at = 0;
    bool counts_here = true;
    for (const ProfileAxis& axis : axes) {
      const std::size_t index = i / axis.stride % axis.length;
      if (axis.along) at = index;
      counts_here = counts_here && !(axis.first && index > 0);
    }
    const double value = column.number(base + i);
    if (!counts_here || !std::isfinite(value)) continue;
    sums[at] += value;
    counts[at] += 1;
  }
  for (std::size_t i = 0; i < length; ++i) sums[i] = counts[i] > 0 ? sums[i] / counts[i] : kNaN;
  return sums;
}

std::optional<CellProfile> read_profile(const TableReader& reader, const ProfileRequest& request) {
  const std::string name(request.variable);
  const Variable* const variable = find_variable(name);
  if (variable == nullptr || !reader.has(name) || !reader.has("probe_step")) return std::nullopt;
  const std::vector<std::string> names = axes_of(*variable);
  if (names.size() < 3 || names[1] != "probe_step") return std::nullopt;
  if (std::ranges::find(names, request.axis) == names.end()) return std::nullopt;
  const ColumnShape shape = reader.shape(name);
  if (shape.extents.size() != names.size()) return std::nullopt;
  const std::vector<ProfileAxis> axes = profile_axes(names, shape.extents, request.axis);
  std::size_t items = 1;
  for (const ProfileAxis& axis : axes) items *= axis.length;
  const VariableColumn column = reader.read(name), steps = reader.read("probe_step");
  const auto finite = [](double value) { return std::isfinite(value); };
  for (std::size_t look = static_cast<std::size_t>(shape.extents[1]); look-- > 0;) {
    std::vector<double> values = reduced(column, look * items, items, axes);
    if (std::ranges::none_of(values, finite)) continue;
    return CellProfile{static_cast<double>(steps.integer(look)), std::move(values)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<CellProfile>> read_cell_profiles(
    const std::filesystem::path& result, const CellId& id,
    std::span<const ProfileRequest> requests) {
  const TableReader reader = open_cell_file(result, id);
  std::vector<std::optional<CellProfile>> out;
  for (const ProfileRequest& request : requests) out.push_back(read_profile(reader, request));
  return out;
}

}  // namespace depthgrid
