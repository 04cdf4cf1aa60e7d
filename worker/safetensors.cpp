#include "worker/safetensors.hpp"

#include <cstring>
#include <span>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "storage/publish.hpp"

namespace depthgrid {
namespace {

const char* dtype_name(const at::Tensor& x) {
  if (x.scalar_type() == at::kFloat) return "F32";
  if (x.scalar_type() == at::kLong) return "I64";
  throw Error("safetensors: only float32 and int64 are written");
}

}  // namespace

void write_safetensors(const std::filesystem::path& file,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::vector<std::byte> body;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor host = tensor.detach().cpu().contiguous();
    const auto* data = static_cast<const std::byte*>(host.const_data_ptr());
    const std::size_t begin = body.size();
    body.insert(body.end(), data, data + host.nbytes());
    header[name] = {{"dtype", dtype_name(host)},
                    {"shape", host.sizes().vec()},
                    {"data_offsets", {begin, body.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin at a multiple of eight
  const std::uint64_t length = text.size();
  std::vector<std::byte> bytes(sizeof length + text.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, text.data(), text.size());
  bytes.insert(bytes.end(), body.begin(), body.end());
  publish_replace(file, std::span<const std::byte>(bytes));
}

}  // namespace depthgrid
