#include "storage/cells/cell_axes.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {

void CellAxes::give(const RowAxis& axis) {
  const Dimension& d = dimension(axis.name);
  const bool texts = d.type == DataType::Text;
  const auto length = static_cast<std::size_t>(axis.length);
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("axis '{}' of length {}: {}", axis.name, axis.length, why));
  };
  if (axis.length < 1) refuse("an axis has at least one entry");
  if (texts ? axis.labels.size() != length : !axis.labels.empty()) {
    refuse(fmt::format("{} labels are given", axis.labels.size()));
  }
  if (!axis.values.empty() && (texts || axis.values.size() != length)) {
    refuse(fmt::format("{} values are given", axis.values.size()));
  }
  if (d.kind == AxisKind::Labelled && !texts && axis.values.empty()) refuse("it has no values");
  const bool own = d.kind == AxisKind::Padded || d.kind == AxisKind::Labelled;
  if (!own || (d.kind == AxisKind::Padded && !axis.values.empty())) {
    refuse("its entries are not a job's to give");
  }
  const auto [at, fresh] = axes_.try_emplace(axis.name, Axis{axis, "", false, false});
  if (!fresh && at->second.row != axis) {
    refuse(
        fmt::format("it was given with length {} and other entries before", at->second.row.length));
  }
  at->second.explicit_axis = at->second.explicit_axis || d.kind == AxisKind::Labelled;
}

std::vector<std::int64_t> CellAxes::shape(const Variable& v, std::size_t first,
                                          std::int64_t count) {
  const std::vector<std::string> names = axes_of(v);
  std::vector<std::int64_t> out = fixed_lengths(v, first);
  std::int64_t product = 1;
  std::vector<std::size_t> open, unknown;  // of `out`
  std::string known;                       // "depth 6, split 4"
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string& name = names[first + i];
    if (out[i] == 0) open.push_back(i);
    const auto at = axes_.find(name);
    if (out[i] == 0 && at != axes_.end()) out[i] = at->second.row.length;
    if (out[i] == 0) {
      unknown.push_back(i);
      continue;
    }
    product *= out[i];
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", name, out[i]);
    if (at != axes_.end() && !at->second.from.empty()) known += " as in " + at->second.from;
  }
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("variable '{}' ({}) got {} values{}{}: {}", v.name, v.dims, count,
                            known.empty() ? "" : ", its axes have lengths ", known, why));
  };
  if (unknown.size() > 1) {
    refuse(fmt::format("the lengths of '{}' and '{}' cannot both follow from them",
                       names[first + unknown[0]], names[first + unknown[1]]));
  }
  if (unknown.empty() ? count != product : count < product || count % product != 0) {
    refuse(unknown.empty() ? fmt::format("{} are expected", product)
                           : fmt::format("no length of '{}' fits", names[first + unknown[0]]));
  }
  for (const std::size_t i : unknown) {
    const std::string& name = names[first + i];
    if (dimension(name).kind == AxisKind::Labelled) refuse("axis '" + name + "' has no labels");
    out[i] = count / product;
    axes_.try_emplace(name, Axis{{name, out[i], {}, {}}, std::string(v.name), true, false});
  }
  for (const std::size_t i : open) {
    Axis& axis = axes_.at(names[first + i]);
    axis.used = true;
    axis.explicit_axis = axis.explicit_axis || open.size() > 1;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string& name = names[first + i];
    axes_.try_emplace(name, Axis{{name, out[i], {}, {}}, "", true, false});
  }
  return out;
}

std::int64_t CellAxes::width(const Variable& v, std::size_t first) {
  const std::vector<std::string> names = axes_of(v);
  std::vector<std::int64_t> lengths = fixed_lengths(v, first);
  std::int64_t out = 1;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto at = axes_.find(names[first + i]);
    if (lengths[i] == 0 && at == axes_.end()) {
      throw Error(fmt::format("variable '{}' ({}): the length of axis '{}' is not known", v.name,
                              v.dims, names[first + i]));
    }
    out *= lengths[i] == 0 ? at->second.row.length : lengths[i];
  }
  shape(v, first, out);
  return out;
}

std::vector<RowAxis> CellAxes::axes(const Variable& v, std::size_t first) const {
  const std::vector<std::string> names = axes_of(v);
  std::vector<RowAxis> out;
  for (std::size_t i = first; i < names.size(); ++i) out.push_back(axes_.at(names[i]).row);
  return out;
}

std::int64_t CellAxes::used(const std::string& axis) const {
  const auto at = axes_.find(axis);
  return at == axes_.end() || !at->second.used ? 0 : at->second.row.length;
}

std::vector<RowAxis> CellAxes::explicit_axes() const {
  std::vector<RowAxis> out;
  for (const auto& [name, axis] : axes_) {
    if (axis.used && axis.explicit_axis) out.push_back(axis.row);
  }
  return out;
}

void CellAxes::add_to(ColumnTable& table) const {
  for (const auto& [name, axis] : axes_) {
    if (!axis.used) continue;
    table.sizes[name] = axis.row.length;
    if (dimension(name).kind != AxisKind::Labelled) continue;
    table.columns.push_back(axis.row.labels.empty()
                                ? number_column(name, {name}, dimension(name).type, axis.row.values)
                                : text_column(name, {name}, axis.row.labels));
    describe(table.columns.back());
  }
}

}  // namespace depthgrid
