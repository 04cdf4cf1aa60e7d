#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

namespace depthgrid {

/// Members of a struct by their names in JSON, in the order of the text:
/// json_members("id", &Launch::id, "ranks", &Launch::ranks). One such table serves both directions.
constexpr std::tuple<> json_members() {
  return {};
}
template <typename Member, typename... Rest>
constexpr auto json_members(const char* name, Member member, Rest... rest) {
  return std::tuple_cat(std::make_tuple(std::pair(name, member)), json_members(rest...));
}

/// Adds these members to an object, behind what it holds.
template <typename Json, typename Struct, typename Members>
void put_members(Json& object, const Struct& from, const Members& members) {
  std::apply([&](const auto&... m) { ((object[m.first] = from.*m.second), ...); }, members);
}

/// An object of these members alone.
template <typename Json, typename Struct, typename Members>
Json object_of(const Struct& from, const Members& members) {
  Json out;
  put_members(out, from, members);
  return out;
}

/// Reads these members of an object. @param may_lack  names that earlier releases did not write:
/// without them the members stay as they are.
/// @throws nlohmann::json::exception if another one is missing, or one is of another type.
template <typename Json, typename Struct, typename Members>
void take_members(const Json& object, Struct& to, const Members& members,
                  std::initializer_list<std::string_view> may_lack = {}) {
  const auto take = [&](const auto& m) {
    const bool needed = std::ranges::find(may_lack, m.first) == may_lack.end();
    if (needed || object.contains(m.first)) object.at(m.first).get_to(to.*m.second);
  };
  std::apply([&](const auto&... m) { (take(m), ...); }, members);
}

}  // namespace depthgrid
