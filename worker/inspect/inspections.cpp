#include "worker/inspect/inspections.hpp"

#include <algorithm>
#include <utility>

namespace depthgrid {
namespace {

using ModelCheck = CheckReport (*)(CheckSubject&, const CheckCase&);

/// In the order of CheckKind, without the gate.
constexpr ModelCheck kModelChecks[] = {inspect_forward, inspect_decode, inspect_gradients};

bool passed(const CheckReport& report) {
  const auto at =
      std::ranges::find(report.members(), "pass", [](const auto& member) { return member.first; });
  return at == report.members().end() || std::get<bool>(at->second);
}

}  // namespace

CheckAnswer check(std::string_view request) {
  const CheckRequest asked = parse_check_request(request);
  const auto kind = static_cast<std::size_t>(asked.kind);
  std::vector<CheckReport> results;
  const auto on = [&](CheckSubject&& subject) {
    for (const CheckCase& c : asked.cases) results.push_back(kModelChecks[kind - 1](subject, c));
  };
  if (asked.kind == CheckKind::Gate) {
    for (const CheckCase& c : asked.cases) results.push_back(inspect_gate(c));
  } else if (asked.from) {
    on(CheckSubject(*asked.from));
  } else {
    for (const CheckCell& cell : asked.cells) on(CheckSubject(cell));
  }
  const bool good = std::ranges::all_of(results, passed);
  CheckReport out;
  out.add("schema", std::int64_t{1}).add("check", std::string(name_of(asked.kind)));
  if (asked.kind == CheckKind::Gradients) out.add("pass", good);
  out.add("results", std::move(results));
  return {out.json(), good ? ExitCode::Done : ExitCode::Failed};
}

}  // namespace depthgrid
