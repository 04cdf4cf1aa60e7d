#include "sweeps/live/live_event.hpp"

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN: it is written as null.
double number(const Json& j) {
  return j.is_number() ? j.get<double>() : kNaN;
}

/// Texts may hold bytes that are not UTF-8.
std::string one_line(const Json& json) {
  return json_text(json);
}

Json head(const char* event, const LiveEvent& e) {
  return {{"schema", 1}, {"event", event}, {"rank", e.rank}};
}

void add(Json& to, const Json& members) {
  for (const auto& [name, value] : members.items()) to[name] = value;
}

}  // namespace

double LiveEvent::rate() const {
  const auto made = static_cast<double>((step - first) * cells());
  return made > 0 && seconds > 0 ? made / seconds : kNaN;
}

std::string event_line(const LiveEvent& e) {
  return one_line(Json{{"kind", static_cast<int>(e.kind)},
                       {"rank", e.rank},
                       {"job", e.job},
                       {"rows", e.rows},
                       {"text", e.text},
                       {"at", {e.first, e.step, e.steps}},
                       {"loss", {e.low, e.high}},
                       {"seconds", {e.seconds, e.idle}}});
}

std::optional<LiveEvent> event_of(std::string_view line) {
  const Json j = parse_ordered_json_or_discard(line);
  if (!j.is_object()) return std::nullopt;
  try {
    LiveEvent e;
    const int kind = j.at("kind");
    if (kind < 0 || kind > static_cast<int>(LiveKind::Cancelled)) return std::nullopt;
    e.kind = static_cast<LiveKind>(kind);
    e.rank = j.at("rank");
    e.job = j.at("job");
    e.rows = j.at("rows").get<std::vector<std::size_t>>();
    e.text = j.at("text");
    const auto at = j.at("at").get<std::vector<std::int64_t>>();
    e.first = at.at(0);
    e.step = at.at(1);
    e.steps = at.at(2);
    e.low = number(j.at("loss").at(0));
    e.high = number(j.at("loss").at(1));
    e.seconds = number(j.at("seconds").at(0));
    e.idle = number(j.at("seconds").at(1));
    return e;
  } catch (const std::exception&) {  // of another version
    return std::nullopt;
  }
}

std::string record_json(const LiveEvent& e, std::int64_t done, std::int64_t total) {
  Json out;
  switch (e.kind) {
    case LiveKind::Phase:
    case LiveKind::Failed:
    case LiveKind::Diverged:
    case LiveKind::Cancelled:
      return "";
    case LiveKind::Note:
      out = head("note", e);
      out["text"] = e.text;
      return one_line(out);
    case LiveKind::JobStart:
      out = head("job_start", e);
      add(out, {{"job", e.job},
                {"cells", e.cells()},
                {"step", e.step},
                {"steps", e.steps},
                {"label", e.text}});
      break;
    case LiveKind::Step:
      out = head("step", e);
      add(out, {{"job", e.job},
                {"cells", e.cells()},
                {"step", e.step},
                {"steps", e.steps},
                {"loss_min", e.low},
                {"loss_max", e.high},
                {"cell_steps_per_second", e.rate()},
                {"eta_seconds", static_cast<double>((e.steps - e.step) * e.cells()) / e.rate()}});
      break;
    case LiveKind::JobEnd:
      out = head("job_end", e);
      add(out, {{"job", e.job},
                {"outcome", e.text},
                {"cells", e.cells()},
                {"step", e.step},
                {"seconds", e.seconds}});
      break;
  }
  add(out, {{"cells_done", done}, {"cells_total", total}});
  return one_line(out);
}

}  // namespace depthgrid
