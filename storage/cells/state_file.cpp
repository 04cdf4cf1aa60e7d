#include "storage/cells/state_file.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/version.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/chunk_codec.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStem = "states-";
constexpr const char* kSelection = "selection_sha256";

fs::path state_file(const fs::path& cell_dir, std::int64_t step, int number) {
  const std::string more = number == 1 ? "" : fmt::format("-{}", number);
  return cell_dir / fmt::format("{}{:08}{}.h5", kStem, step, more);
}

/// Digest of what is kept: type, tokens, channels, and the signal where one was given.
std::string selection_of(const StateFileInput& in) {
  std::string text =
      fmt::format("{} {} {} [{}] [{}]", in.half ? "f2" : "f4", in.sequences, in.edge_times.size(),
                  fmt::join(in.channels, " "), fmt::join(in.token_ids, " "));
  if (!in.control.empty()) text += fmt::format(" [{}]", fmt::join(in.control, " "));
  return hex(sha256(text));
}

/// The same of a file; nothing, and the file is quarantined, if it is damaged.
std::optional<std::string> selection_in(const fs::path& file, const Fs& disk) {
  try {
    return TableReader(file, disk).required_text(kSelection);
  } catch (const StorageError& problem) {
    if (problem.code() != ExitCode::BadData) throw;
    log(LogLevel::Warning,
        fmt::format("{}; moved to {}", problem.what(), quarantine(file, disk).filename().string()));
    return std::nullopt;
  }
}

VariableColumn channel_axis(std::span<const std::int64_t> channels) {
  VariableColumn out =
      integer_column("channel_sample", {"channel_sample"}, DataType::Int32, channels);
  out.attributes = {{"units", std::string("1")},
                    {"long_name", std::string("channel of the state")}};
  return out;
}

VariableColumn token_column(std::span<const std::int32_t> ids) {
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  VariableColumn out =
      integer_column("state_token", {"sequence_sample", "token_position"}, DataType::Int32, wide);
  out.attributes = {{"units", std::string("1")},
                    {"long_name", std::string("id of the token at this position")}};
  return out;
}

/// Numbers that binary16 could not hold: infinities, as states are finite.
std::int64_t infinities(std::span<const std::byte> halves) {
  constexpr std::uint16_t kMagnitude = 0x7fff, kInfinity = 0x7c00;
  std::int64_t out = 0;
  for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, halves.data() + at, 2);
    if ((bits & kMagnitude) == kInfinity) ++out;
  }
  return out;
}

/// The value of a binary16. Source: IEEE 754-2019, 3.4.
float single_of(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = (half >> 10U) & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  constexpr std::uint32_t kBias = 127 - 15, kHighest = 0x1f;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == kHighest ? 0xffU : exponent + kBias;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

/// Binary16 in the bytes of binary32. The file's filters make nothing of the zeros behind.
std::vector<std::byte> widened(std::span<const std::byte> halves) {
  std::vector<std::byte> out(2 * halves.size());
  for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
    std::uint16_t half = 0;
    std::memcpy(&half, halves.data() + at, 2);
    const float value = single_of(half);
    std::memcpy(out.data() + 2 * at, &value, 4);
  }
  return out;
}

VariableColumn state_column(const StateFileInput& in) {
  VariableColumn out;
  out.name = "state";
  out.dims = {"depth_edge", "sequence_sample", "token_position", "channel_sample"};
  out.type = DataType::Float32;  // also of rounded states: the netCDF library has no binary16
  out.item_bytes = bytes_of(out.type);
  out.attributes = {{"units", std::string("1")},
                    {"long_name", std::string("states before, between and after the depth steps")},
                    {"significant_bits", in.half ? std::int64_t{11} : std::int64_t{24}},
                    {"beyond_f16", in.half ? infinities(in.states) : 0}};
  return out;
}

void write(TableWriter& writer, const StateFileInput& in, const std::string& selection) {
  const auto edges = static_cast<std::int64_t>(in.edge_times.size());
  const auto ids = static_cast<std::int64_t>(in.token_ids.size());
  const std::int64_t tokens = in.sequences > 0 ? ids / in.sequences : 0;
  const VariableColumn states = state_column(in);
  const std::size_t depth_bytes = in.token_ids.size() * in.channels.size() * (in.half ? 2U : 4U);
  if (tokens * in.sequences != ids || depth_bytes == 0 ||
      in.states.size() != depth_bytes * in.edge_times.size()) {
    throw Error(
        fmt::format("{} bytes of states do not fit {} depths, {} tokens of {} sequences "
                    "and {} channels",
                    in.states.size(), edges, ids, in.sequences, in.channels.size()));
  }
  writer.attributes({{"format", std::string("depthgrid-states")},
                     {"format_version", std::string("2.0")},
                     {"cell", in.cell},
                     {"step", in.step},
                     {kSelection, selection},
                     {"code_version", std::string(code_version())}});
  if (!in.control.empty()) {
    writer.attributes({{"control", fmt::format("[{}]", fmt::join(in.control, ", "))}});
  }
  for (const auto& [name, size] :
       {std::pair("depth_edge", edges), std::pair("sequence_sample", in.sequences),
        std::pair("token_position", tokens)}) {
    writer.axis(coordinate(dimension(name), size));
  }
  writer.axis(channel_axis(in.channels));
  VariableColumn times =
      number_column("depth_edge_time", {"depth_edge"}, DataType::Float64, in.edge_times);
  describe(times);
  writer.column(times);
  writer.column(token_column(in.token_ids));
  const std::size_t column = writer.declare(states, 1);
  for (std::int64_t edge = 0; edge < edges; ++edge) {
    const auto first = static_cast<std::size_t>(edge) * depth_bytes;
    const std::span<const std::byte> given = in.states.subspan(first, depth_bytes);
    const std::vector<std::byte> wide = in.half ? widened(given) : std::vector<std::byte>();
    writer.write_chunk(column, edge, encode_chunk(in.half ? wide : given, states.item_bytes));
  }
}

/// Step and number of `states-<step>[-<number>].h5`.
std::optional<std::pair<std::int64_t, int>> step_and_number(const std::string& name) {
  constexpr std::string_view kEnd = ".h5";
  if (!name.starts_with(kStem) || !name.ends_with(kEnd)) return std::nullopt;
  const char* const end = name.data() + name.size() - kEnd.size();
  std::pair<std::int64_t, int> out(0, 1);
  auto read = std::from_chars(name.data() + std::string_view(kStem).size(), end, out.first);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, out.second);
  }
  return read.ec == std::errc() && read.ptr == end ? std::optional(out) : std::nullopt;
}

}  // namespace

std::vector<StateFile> state_files(const fs::path& cell_dir, const Fs& disk) {
  std::map<std::pair<std::int64_t, int>, StateFile> sorted;
  for (const fs::path& file : disk.entries(cell_dir)) {  // none of a cell that nobody has begun
    const auto place = step_and_number(file.filename());
    if (!place) continue;
    if (const auto seal = peek_seal(file, disk)) {
      sorted[*place] = {file, place->first, hex(seal->digest)};
    }
  }
  std::vector<StateFile> out;
  for (auto& [place, file] : sorted) out.push_back(std::move(file));
  return out;
}

fs::path publish_states(const fs::path& cell_dir, const StateFileInput& input, const Fs& disk) {
  const std::string selection = selection_of(input);
  for (int number = 1;;) {
    const fs::path file = state_file(cell_dir, input.step, number);
    if (something_at(file, disk)) {
      const auto kept = selection_in(file, disk);
      if (kept == selection) return file;
      if (kept) {
        ++number;
        continue;
      }
    }
    TableWriter writer(file, input.states.size(), disk);
    write(writer, input, selection);
    if (writer.publish_once(0)) return file;  // else another process was faster: examine its file
  }
}

}  // namespace depthgrid
