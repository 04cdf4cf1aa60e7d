#include "sweeps/orders/order_json.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// `Way` is what to do with a member: Writing or Reading.
template <typename Way, typename Object>
class Visitor final : public OrderVisitor {
 public:
  explicit Visitor(Object& json) : json_(json) {}
  void operator()(const char* name, bool& value) override { Way::member(json_, name, value); }
  void operator()(const char* name, std::int64_t& value) override {
    Way::member(json_, name, value);
  }
  void operator()(const char* name, double& value) override { Way::member(json_, name, value); }
  void operator()(const char* name, std::string& value) override {
    Way::member(json_, name, value);
  }
  void operator()(const char* name, std::vector<double>& value) override {
    Way::member(json_, name, value);
  }
  void operator()(const char* name, std::vector<std::string>& value) override {
    Way::member(json_, name, value);
  }
  void object(const char* name, const Members& inner) override {
    Visitor visitor(Way::inside(json_, name));
    inner(visitor);
  }

 private:
  Object& json_;
};

struct Writing {
  static void member(Json& json, const char* name, const auto& value) { json[name] = value; }
  static Json& inside(Json& json, const char* name) { return json[name] = Json::object(); }
};

struct Reading {
  static void member(const Json& json, const char* name, auto& value) {
    json.at(name).get_to(value);
  }
  static const Json& inside(const Json& json, const char* name) { return json.at(name); }
};

}  // namespace

std::string write_order(const OrderVisitor::Members& members) {
  Json json = {{"schema", 1}};
  Visitor<Writing, Json> visitor(json);
  members(visitor);
  return json.dump();
}

void read_order(std::string_view text, const OrderVisitor::Members& members) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != 1) {
      throw Error("order: unknown schema; are both programs of one build?");
    }
    Visitor<Reading, const Json> visitor(json);
    members(visitor);
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("order: ") + e.what());
  }
}

}  // namespace depthgrid
