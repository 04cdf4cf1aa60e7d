#include "worker/weights/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/ops/empty.h>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

using SortedJson = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr int kDeepest = 4;

struct FileType {
  std::string_view name;
  std::uint64_t bytes;
  std::optional<at::ScalarType> type;  // none: a valid type that is not read
};
constexpr FileType kTypes[] = {{"F64", 8, at::kDouble}, {"F32", 4, at::kFloat},
                               {"F16", 2, at::kHalf},   {"BF16", 2, at::kBFloat16},
                               {"I64", 8, at::kLong},   {"I32", 4, at::kInt},
                               {"I16", 2, at::kShort},  {"I8", 1, at::kChar},
                               {"U8", 1, at::kByte},    {"BOOL", 1, at::kBool},
                               {"U64", 8, {}},          {"U32", 4, {}},
                               {"U16", 2, {}},          {"F8_E4M3", 1, {}},
                               {"F8_E5M2", 1, {}}};

const FileType* type_of(std::string_view name) {
  const auto* const at = std::ranges::find(kTypes, name, &FileType::name);
  return at == std::end(kTypes) ? nullptr : at;
}

/// An error in the file, without its name, which the caller adds.
struct Refusal {
  std::string why;
};

[[noreturn]] void refuse(std::string why) {
  throw Refusal{std::move(why)};
}

/// Parses JSON, rejecting repeated keys and deep nesting, which the parser would accept.
SortedJson parse_header(const std::string& text) {
  if (text.empty() || text.front() != '{') refuse("its header is not a JSON object");
  std::vector<std::set<std::string>> keys(kDeepest + 2);
  const auto watch = [&](int depth, SortedJson::parse_event_t event, SortedJson& value) {
    if (depth > kDeepest) refuse("its header is nested too deeply");
    const auto level = static_cast<std::size_t>(depth);
    if (event == SortedJson::parse_event_t::object_start) keys[level + 1].clear();
    if (event == SortedJson::parse_event_t::key &&
        !keys[level].insert(value.get<std::string>()).second) {
      refuse(fmt::format("its header names '{}' twice", value.get<std::string>()));
    }
    return true;
  };
  try {
    return SortedJson::parse(text, watch);
  } catch (const SortedJson::exception& e) {
    refuse(fmt::format("its header is not JSON: {}", e.what()));
  }
}

std::uint64_t natural(const SortedJson& value, const std::string& name) {
  if (!value.is_number_unsigned()) {
    refuse(fmt::format("tensor '{}': {} is not a number of 0 or more", name, json_text(value)));
  }
  return value.get<std::uint64_t>();
}

SafetensorsEntry parse_entry(const std::string& name, const SortedJson& value,
                             std::uint64_t data_bytes) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    refuse(fmt::format("tensor '{}' has other members than dtype, shape and data_offsets", name));
  }
  const SortedJson &dtype = value["dtype"], &shape = value["shape"],
                   &offsets = value["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2) {
    refuse(fmt::format("tensor '{}': a member has another type than it should", name));
  }
  SafetensorsEntry entry{.name = name, .dtype = dtype.get<std::string>(), .shape = {}};
  const FileType* type = type_of(entry.dtype);
  if (type == nullptr) refuse(fmt::format("tensor '{}' has unknown type {}", name, entry.dtype));
  std::uint64_t bytes = type->bytes;
  for (const SortedJson& size : shape) {
    const std::uint64_t n = natural(size, name);
    if (n > static_cast<std::uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, n, &bytes)) {
      refuse(fmt::format("tensor '{}': its shape is too large", name));
    }
    entry.shape.push_back(static_cast<std::int64_t>(n));
  }
  entry.begin = natural(offsets[0], name);
  entry.end = natural(offsets[1], name);
  if (entry.begin > entry.end || entry.end > data_bytes) {
    refuse(fmt::format("tensor '{}': bytes {} to {} are not inside the file, which has {}", name,
                       entry.begin, entry.end, data_bytes));
  }
  if (entry.end - entry.begin != bytes) {
    refuse(fmt::format("tensor '{}' has {} bytes; its shape needs {}", name,
                       entry.end - entry.begin, bytes));
  }
  return entry;
}

void expect_gapless(std::vector<SafetensorsEntry> entries, std::uint64_t data_bytes) {
  std::ranges::sort(entries, {},
                    [](const SafetensorsEntry& e) { return std::pair(e.begin, e.end); });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != at) {
      refuse(fmt::format("tensor '{}' begins at byte {}; what is before it ends at {}", entry.name,
                         entry.begin, at));
    }
    at = entry.end;
  }
  if (at != data_bytes)
    refuse(fmt::format("{} bytes behind the last tensor belong to none", data_bytes - at));
}

/// Name of the type of a tensor that is written.
std::string_view dtype_name(const at::Tensor& x) {
  if (x.scalar_type() == at::kFloat) return "F32";
  if (x.scalar_type() == at::kLong) return "I64";
  throw Error("safetensors: only float32 and int64 are written");
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::filesystem::path file) : path_(std::move(file)) {
  std::ifstream in(path_, std::ios::binary | std::ios::ate);
  if (!in) throw StorageError(path_, "cannot be opened", ExitCode::NoInput);
  try {
    const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, in.tellg()));
    std::uint64_t length = 0;
    if (size < sizeof length) refuse("it is too short for a header");
    in.seekg(0);
    in.read(reinterpret_cast<char*>(&length), sizeof length);
    if (!in || length > kLongestHeader || length > size - sizeof length) {
      refuse("the length of its header is impossible");
    }
    std::string text(length, '\0');
    in.read(text.data(), static_cast<std::streamsize>(length));
    if (!in) refuse("its header cannot be read");
    body_ = sizeof length + length;
    const SortedJson header = parse_header(text);
    for (const auto& [name, value] : header.items()) {
      if (name != "__metadata__") {
        entries_.push_back(parse_entry(name, value, size - body_));
        continue;
      }
      if (!value.is_object()) refuse("__metadata__ is not an object");
      for (const auto& [key, word] : value.items()) {
        if (!word.is_string()) refuse(fmt::format("__metadata__: '{}' is not a text", key));
        metadata_[key] = word.get<std::string>();
      }
    }
    expect_gapless(entries_, size - body_);
  } catch (const Refusal& refusal) {
    throw StorageError(path_, "is not a readable safetensors file: " + refusal.why,
                       ExitCode::BadData);
  }
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::ranges::find(entries_, name, &SafetensorsEntry::name);
  return at == entries_.end() ? nullptr : &*at;
}

at::Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
  const FileType* type = type_of(entry.dtype);
  if (type == nullptr || !type->type) {
    throw StorageError(
        path_, fmt::format("tensor '{}' is of type {}, which is not read", entry.name, entry.dtype),
        ExitCode::BadData);
  }
  at::Tensor out = at::empty(entry.shape, *type->type);
  std::ifstream in(path_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(body_ + entry.begin));
  in.read(static_cast<char*>(out.mutable_data_ptr()),
          static_cast<std::streamsize>(entry.end - entry.begin));
  if (!in) {
    throw StorageError(path_, "tensor '" + entry.name + "' cannot be read", ExitCode::BadData);
  }
  return out;
}

void write_safetensors(const std::filesystem::path& file,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = end;
    end += tensor.nbytes();
    header[name] = {{"dtype", dtype_name(tensor)},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = json_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin at a multiple of eight
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.reserve(sizeof length + text.size() + end);
  bytes += text;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor host = tensor.detach().cpu().contiguous();
    bytes.append(static_cast<const char*>(host.const_data_ptr()), host.nbytes());
  }
  publish_replace(file, std::string_view(bytes));
}

}  // namespace depthgrid
