#include "storage/cells/cell_profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/config/value.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

/// What becomes of an axis.
enum class AxisUse : std::uint8_t { Along, By, Chosen, Averaged };

struct ProfileAxis {
  std::string name;
  std::size_t length = 1, stride = 1;
  AxisUse use = AxisUse::Averaged;
  std::size_t entry = 0;  // of a chosen one
};

/// Coordinates of an axis as numbers and as texts.
struct AxisEntries {
  std::vector<double> numbers;
  std::vector<std::string> texts;
};

/// Axes of names whose entries are parts of one whole, not alternatives.
bool has_parts(std::string_view axis) {
  return axis == "weight_type";
}

AxisEntries axis_entries(const TableReader& reader, const ProfileAxis& axis) {
  AxisEntries out;
  std::optional<VariableColumn> column;
  if (reader.has(axis.name)) column = reader.read(axis.name);
  if (column && column->items() != axis.length) column.reset();
  const bool texts = column && column->type == DataType::Text;
  for (std::size_t i = 0; i < axis.length; ++i) {
    const double number = column && !texts ? column->number(i) : static_cast<double>(i);
    out.numbers.push_back(number);
    out.texts.push_back(texts ? column->text(i) : shortest(number));
  }
  return out;
}

/// Nothing if the variable cannot be reduced to what is asked for.
std::optional<std::vector<ProfileAxis>> profile_axes(const TableReader& reader,
                                                     const ProfileRequest& request) {
  const Variable* const variable = find_variable(request.variable);
  const std::string column(request.variable);
  if (variable == nullptr || !reader.has(column)) return std::nullopt;
  const std::vector<std::string> names = axes_of(*variable);
  const auto has = [&names](std::string_view axis) {
    return std::ranges::find(names.begin() + 1, names.end(), axis) != names.end();
  };
  if (names.front() != "cell" || !has(request.axis)) return std::nullopt;
  if (!request.by.empty() && (!has(request.by) || request.by == request.axis)) return std::nullopt;
  const std::vector<std::int64_t> extents = reader.shape(column).extents;
  if (extents.size() != names.size()) return std::nullopt;
  std::vector<ProfileAxis> out;
  bool entry_found = request.only.empty();
  std::size_t stride = 1;
  for (std::size_t i = names.size(); i-- > 1;) {
    const Dimension& dim = dimension(names[i]);
    ProfileAxis axis{names[i], static_cast<std::size_t>(extents[i]), stride};
    stride *= axis.length;
    if (axis.name == request.axis) {
      axis.use = AxisUse::Along;
    } else if (axis.name == request.by) {
      axis.use = AxisUse::By;
    } else if (dim.kind == AxisKind::Joined) {
      if (axis.name != "probe_step") return std::nullopt;
      axis.use = AxisUse::Chosen;
    } else if (dim.type == DataType::Text && !has_parts(axis.name)) {
      axis.use = AxisUse::Chosen;
      const AxisEntries entries = axis_entries(reader, axis);
      const auto at = std::ranges::find(entries.texts, request.only);
      if (at != entries.texts.end()) {
        axis.entry = static_cast<std::size_t>(at - entries.texts.begin());
        entry_found = true;
      }
    }
    out.push_back(std::move(axis));
  }
  if (!entry_found || stride == 0) return std::nullopt;
  return out;
}

/// Sizes of what is asked for: lines, and numbers of each.
struct ProfileShape {
  const ProfileAxis* along = nullptr;
  const ProfileAxis* by = nullptr;
  std::size_t lines() const { return by == nullptr ? 1 : by->length; }
};

ProfileShape profile_shape(const std::vector<ProfileAxis>& axes) {
  ProfileShape out;
  for (const ProfileAxis& axis : axes) {
    if (axis.use == AxisUse::Along) out.along = &axis;
    if (axis.use == AxisUse::By) out.by = &axis;
  }
  return out;
}

/// (lines, n): means over the axes that are averaged over.
std::vector<double> reduced(const VariableColumn& column, const std::vector<ProfileAxis>& axes) {
  const ProfileShape shape = profile_shape(axes);
  const bool whole = column.type != DataType::Float32 && column.type != DataType::Float64;
  std::vector<double> sums(shape.lines() * shape.along->length, 0), counts(sums.size(), 0);
  for (std::size_t i = 0; i < column.items(); ++i) {
    std::size_t line = 0, place = 0;
    bool counts_here = true;
    for (const ProfileAxis& axis : axes) {
      const std::size_t index = i / axis.stride % axis.length;
      if (axis.use == AxisUse::Along) place = index;
      if (axis.use == AxisUse::By) line = index;
      counts_here = counts_here && (axis.use != AxisUse::Chosen || index == axis.entry);
    }
    const double value = counts_here ? column.number(i) : kNaN;
    if (!std::isfinite(value) || (whole && value == -1)) continue;  // -1: absent
    sums[line * shape.along->length + place] += value;
    counts[line * shape.along->length + place] += 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = counts[i] > 0 ? sums[i] / counts[i] : kNaN;
  return sums;
}

/// The profile without the lines and places that have no number.
CellProfile trimmed_profile(const TableReader& reader, const ProfileShape& shape,
                            const std::vector<double>& values) {
  const std::size_t n = shape.along->length;
  std::vector<bool> line_used(shape.lines(), false), place_used(n, false);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    line_used[i / n] = true;
    place_used[i % n] = true;
  }
  CellProfile out;
  const AxisEntries places = axis_entries(reader, *shape.along);
  const AxisEntries lines =
      shape.by == nullptr ? AxisEntries{{0}, {""}} : axis_entries(reader, *shape.by);
  for (std::size_t p = 0; p < n; ++p) {
    if (!place_used[p]) continue;
    out.at.push_back(places.numbers[p]);
    out.names.push_back(places.texts[p]);
  }
  for (std::size_t l = 0; l < line_used.size(); ++l) {
    if (!line_used[l]) continue;
    out.lines.push_back(lines.texts[l]);
    for (std::size_t p = 0; p < n; ++p) {
      if (place_used[p]) out.values.push_back(values[l * n + p]);
    }
  }
  return out;
}

std::optional<CellProfile> read_profile(const TableReader& reader, const ProfileRequest& request) {
  std::optional<std::vector<ProfileAxis>> axes = profile_axes(reader, request);
  if (!axes) return std::nullopt;
  const VariableColumn column = reader.read(std::string(request.variable));
  const auto measurements = std::ranges::find_if(*axes, [](const ProfileAxis& axis) {
    return axis.use == AxisUse::Chosen && axis.name == "probe_step";
  });
  if (measurements != axes->end()) measurements->entry = measurements->length - 1;
  while (true) {
    const std::vector<double> values = reduced(column, *axes);
    if (std::ranges::any_of(values, [](double value) { return !std::isnan(value); })) {
      CellProfile out = trimmed_profile(reader, profile_shape(*axes), values);
      if (measurements != axes->end())
        out.step = axis_entries(reader, *measurements).numbers[measurements->entry];
      return out;
    }
    if (measurements == axes->end() || measurements->entry == 0) return std::nullopt;
    --measurements->entry;
  }
}

}  // namespace

std::vector<std::optional<CellProfile>> read_cell_profiles(
    const TableReader& result, std::span<const ProfileRequest> requests) {
  std::vector<std::optional<CellProfile>> out;
  for (const ProfileRequest& request : requests) out.push_back(read_profile(result, request));
  return out;
}

std::vector<std::optional<CellProfile>> read_cell_profiles(const std::filesystem::path& result,
                                                           const CellId& id,
                                                           std::span<const ProfileRequest> requests,
                                                           const Fs& disk) {
  return read_cell_profiles(open_cell_file(result, id, "", disk), requests);
}

}  // namespace depthgrid
