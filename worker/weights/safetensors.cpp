#include "worker/weights/safetensors.hpp"

#include <cstring>
#include <span>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

const char* dtype_name(const at::Tensor& x) {
  if (x.scalar_type() == at::kFloat) return "F32";
  if (x.scalar_type() == at::kLong) return "I64";
  throw Error("safetensors: only float32 and int64 are written");
}

}  // namespace

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
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin at a multiple of eight
  const std::uint64_t length = text.size();
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof length + text.size() + end);
  bytes.resize(sizeof length + text.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, text.data(), text.size());
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor host = tensor.detach().cpu().contiguous();
    const auto* data = static_cast<const std::byte*>(host.const_data_ptr());
    bytes.insert(bytes.end(), data, data + host.nbytes());
  }
  publish_replace(file, std::span<const std::byte>(bytes));
}

}  // namespace depthgrid
