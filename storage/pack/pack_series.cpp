#include "storage/pack/pack_series.hpp"

#include <algorithm>
#include <span>
#include <thread>

#include "core/base/error.hpp"
#include "storage/columns/variables.hpp"
#include "storage/hdf5/chunk_codec.hpp"

namespace depthgrid {
namespace {

constexpr unsigned kMostThreads = 8;

std::span<std::byte> row_of(std::vector<std::byte>& bytes, std::int64_t row, std::size_t size) {
  return std::span(bytes).subspan(static_cast<std::size_t>(row) * size, size);
}

}  // namespace

bool any_packed(const PackSources& sources) {
  return std::ranges::any_of(sources.cells, [](const CellSource& source) {
    return source.kind == CellSource::Kind::Packed;
  });
}

std::vector<AxisFit> fits_of(const PackInput& input, const ColumnTable& source,
                             const std::vector<std::string>& dims) {
  std::vector<AxisFit> out;
  for (std::size_t i = 1; i < dims.size(); ++i) {
    out.push_back(input.axes.fit(source, dims[i], length_of(input.sizes, dims[i])));
  }
  return out;
}

std::size_t inner_items(const PackInput& input, const std::vector<std::string>& dims) {
  std::size_t out = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) {
    out *= static_cast<std::size_t>(length_of(input.sizes, dims[i]));
  }
  return out;
}

void SeriesPacker::add(std::string_view variable) {
  const Variable& v = *find_variable(variable);
  Series out;
  out.column = absent_column(v, bytes_of(v.type), 0);
  const std::size_t cells = input_.plan.cells.size();
  const std::size_t items = inner_items(input_, out.column.dims);
  out.row_bytes = items * out.column.item_bytes;
  if (out.row_bytes * cells >= kFilteredFrom) {
    out.chunk_rows = chunk_rows(out.row_bytes, static_cast<std::int64_t>(cells));
    out.reusable = same_shape_before(out);
  } else {
    out.gathered = absent_items(v.type, out.column.item_bytes, items * cells);
  }
  series_.push_back(std::move(out));
}

std::uint64_t SeriesPacker::bytes() const {
  std::uint64_t out = 0;
  for (const Series& series : series_) out += series.row_bytes * input_.plan.cells.size();
  return out;
}

void SeriesPacker::declare(TableWriter& writer, std::string_view variable) {
  const auto at = std::ranges::find_if(
      series_, [variable](const Series& series) { return series.column.name == variable; });
  if (at == series_.end()) throw Error("series '" + std::string(variable) + "' was not added");
  at->number = writer.declare(at->column, at->chunk_rows);
}

void SeriesPacker::write(TableWriter& writer) {
  ChunkEncoder encoder(std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads));
  const auto cells = static_cast<std::int64_t>(input_.plan.cells.size());
  const std::vector<bool> empty = rows_without_series();
  const auto drain = [&](bool wait) {
    while (const auto chunk = encoder.take(wait)) {
      writer.write_chunk(chunk->column, chunk->first_row, chunk->bytes);
    }
  };
  for (std::int64_t first = 0; first < cells; first += kMostChunkRows) {
    const std::int64_t end = std::min(cells, first + kMostChunkRows);
    const Block block = load_block(first, end);
    for (Series& series : series_) {
      const bool chunked = series.chunk_rows > 0;
      const std::int64_t step = chunked ? series.chunk_rows : end - first;
      for (std::int64_t row = first; row < end; row += step) {
        if (copy_chunk(writer, series, row, empty)) continue;
        std::vector<std::byte> chunk = build_chunk(block, series, row, std::min(end, row + step));
        if (!chunked) {
          std::ranges::copy(chunk, row_of(series.gathered, row, series.row_bytes).begin());
        } else if (!chunk.empty()) {
          encoder.submit({.column = series.number,
                          .first_row = row,
                          .item_bytes = series.column.item_bytes,
                          .bytes = std::move(chunk)});
        }
        drain(false);
      }
    }
  }
  drain(true);
  for (const Series& series : series_) {
    if (series.chunk_rows == 0) writer.write_whole(series.number, series.gathered);
  }
}

bool SeriesPacker::same_shape_before(const Series& series) const {
  const VariableColumn& column = series.column;
  if (!any_packed(input_.sources) || !input_.sources.previous->has(column.name)) return false;
  const ColumnShape shape = input_.sources.previous->shape(column.name);
  if (shape.type != column.type || shape.chunk_rows != series.chunk_rows) return false;
  for (std::size_t i = 0; i < column.dims.size(); ++i) {
    if (shape.extents.at(i) != length_of(input_.sizes, column.dims[i])) return false;
  }
  return true;  // a union of steps or labels that has not grown holds the same ones
}

SeriesPacker::Block SeriesPacker::load_block(std::int64_t first, std::int64_t end) const {
  Block out;
  out.first = first;
  out.files.resize(static_cast<std::size_t>(end - first));
  for (std::size_t i = 0; i < out.files.size(); ++i) {
    const std::size_t row = static_cast<std::size_t>(first) + i;
    const CellSource& source = input_.sources.cells[row];
    if (source.kind == CellSource::Kind::File) {
      out.files[i] = read_series(input_.store, input_.plan.cells[row]);
      out.rows.push_back(&out.files[i]);
    } else {
      const bool packed = source.kind == CellSource::Kind::Packed;
      out.rows.push_back(packed ? &input_.previous : &source.table);
    }
  }
  return out;
}

/// Cells [row, end), padded to a whole chunk; empty for a chunked series if no cell has a number.
std::vector<std::byte> SeriesPacker::build_chunk(const Block& block, const Series& series,
                                                 std::int64_t row, std::int64_t end) const {
  const VariableColumn& column = series.column;
  const auto rows = static_cast<std::size_t>(std::max(end - row, series.chunk_rows));
  std::vector<std::byte> out =
      absent_items(column.type, column.item_bytes, rows * series.row_bytes / column.item_bytes);
  bool any = series.chunk_rows == 0;
  std::optional<std::vector<std::byte>> packed;
  const TableReader* previous = input_.sources.previous ? &*input_.sources.previous : nullptr;
  for (std::int64_t i = row; i < end; ++i) {
    const CellSource& source = input_.sources.cells[static_cast<std::size_t>(i)];
    const ColumnTable& from = *block.rows[static_cast<std::size_t>(i - block.first)];
    std::span<const std::byte> bytes;
    if (source.kind == CellSource::Kind::Packed) {
      if (!previous->has(column.name)) continue;
      if (!packed) packed = previous->read_rows(column.name, row, end - row);
      const std::size_t size = packed->size() / static_cast<std::size_t>(end - row);
      bytes = row_of(*packed, i - row, size);
    } else if (const VariableColumn* own = from.find(column.name)) {
      bytes = own->bytes;
    } else {
      continue;
    }
    place_items(bytes, column.item_bytes, row_of(out, i - row, series.row_bytes), column.item_bytes,
                fits_of(input_, from, column.dims));
    any = true;
  }
  if (!any) out.clear();
  return out;
}

/// Cells that have no series now and had none in the packed file before.
std::vector<bool> SeriesPacker::rows_without_series() const {
  const PackSources& sources = input_.sources;
  std::vector<bool> out(sources.cells.size(), false);
  if (!any_packed(sources)) return out;
  std::vector<VariableColumn> counts;
  for (const char* name : {"n_steps", "n_evals", "n_probes"}) {
    if (sources.previous->has(name)) counts.push_back(sources.previous->read(name));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const CellSource& source = sources.cells[i];
    const auto& sizes = source.table.sizes;
    const bool now =
        sizes.contains("step") || sizes.contains("eval_step") || sizes.contains("probe_step");
    const bool before = std::ranges::any_of(
        counts, [i](const VariableColumn& count) { return count.integer(i) > 0; });
    out[i] = source.kind == CellSource::Kind::Whole && !now && !before;
  }
  return out;
}

/// Copies a chunk as stored if nothing in it has changed.
bool SeriesPacker::copy_chunk(TableWriter& writer, const Series& series, std::int64_t row,
                              const std::vector<bool>& empty) const {
  if (!series.reusable) return false;
  const PackSources& sources = input_.sources;
  const auto end =
      std::min(static_cast<std::int64_t>(sources.cells.size()), row + series.chunk_rows);
  for (auto i = static_cast<std::size_t>(row); i < static_cast<std::size_t>(end); ++i) {
    if (sources.cells[i].kind != CellSource::Kind::Packed && !empty[i]) return false;
  }
  const auto bytes = sources.previous->read_chunk(series.column.name, row);
  if (bytes) writer.write_chunk(series.number, row, *bytes);
  return true;
}

}  // namespace depthgrid
