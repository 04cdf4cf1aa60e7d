#include "worker/inspect/inspect_report.hpp"

#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json();
}

Json element(const at::Tensor& x) {
  if (x.is_floating_point()) return number(x.item<double>());
  return x.item<std::int64_t>();
}

template <typename T>
Json row(const at::Tensor& x) {
  const at::Tensor plain = x.contiguous();
  const T* const at = plain.const_data_ptr<T>();
  Json out = Json::array();
  for (std::int64_t i = 0; i < plain.numel(); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      out.push_back(number(at[i]));
    } else {
      out.push_back(at[i]);
    }
  }
  return out;
}

Json nested(const at::Tensor& x) {
  if (x.dim() == 0) return element(x);
  if (x.dim() == 1) return x.is_floating_point() ? row<double>(x) : row<std::int64_t>(x);
  Json out = Json::array();
  for (std::int64_t i = 0; i < x.size(0); ++i) out.push_back(nested(x.select(0, i)));
  return out;
}

Json json_of(const CheckReport& report);

struct Written {
  Json operator()(std::monostate) const { return {}; }
  Json operator()(bool x) const { return x; }
  Json operator()(std::int64_t x) const { return x; }
  Json operator()(double x) const { return number(x); }
  Json operator()(const std::string& x) const { return x; }
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
  Json operator()(const std::vector<std::string>& words) const { return words; }
};

Json json_of(const CheckReport& report) {
  Json out = Json::object();
  for (const auto& [name, value] : report.members()) out[name] = std::visit(Written(), value);
  return out;
}

}  // namespace

std::string CheckReport::json() const {
  return json_of(*this).dump();
}

}  // namespace depthgrid
