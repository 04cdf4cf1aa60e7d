#include "worker/inspect/inspect_report.hpp"

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json row(const at::Tensor& x) {
  const at::Tensor plain = x.contiguous();
  const T* const at = plain.const_data_ptr<T>();
  return std::vector<T>(at, at + plain.numel());
}

Json nested(const at::Tensor& x) {
  if (x.dim() == 0) return nested(x.unsqueeze(0)).front();
  if (x.dim() == 1) return x.is_floating_point() ? row<double>(x) : row<std::int64_t>(x);
  Json out = Json::array();
  for (std::int64_t i = 0; i < x.size(0); ++i) out.push_back(nested(x.select(0, i)));
  return out;
}

Json json_of(const CheckReport& report);

struct Written {
  Json operator()(std::monostate) const { return {}; }
  Json operator()(const at::Tensor& x) const {
    if (!x.defined()) return {};
    return nested(x.detach().to(at::kCPU, x.is_floating_point() ? at::kDouble : at::kLong));
  }
  Json operator()(const CheckReport::Object& x) const { return json_of(*x); }
  Json operator()(const std::vector<CheckReport>& rows) const {
    Json out = Json::array();
    for (const CheckReport& row : rows) out.push_back(json_of(row));
    return out;
  }
  Json operator()(const auto& x) const { return x; }  // a number that is not finite becomes null
};

Json json_of(const CheckReport& report) {
  Json out = Json::object();
  for (const auto& [name, value] : report.members()) out[name] = std::visit(Written(), value);
  return out;
}

}  // namespace

std::string CheckReport::json() const {
  return json_text(json_of(*this));
}

}  // namespace depthgrid
