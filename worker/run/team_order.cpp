#include "worker/run/team_order.hpp"

#include <nlohmann/json.hpp>

namespace depthgrid {

void tell_job(Collective& team, const SessionJob& job) {
  if (team.size() < 2) return;
  const nlohmann::json order = {
      {"job", job.id}, {"rows", job.rows}, {"first_step", job.first_step}};
  broadcast_text(team, order.dump(), 0);
}

void tell_end(Collective& team) {
  if (team.size() > 1) broadcast_text(team, "", 0);
}

std::optional<SessionJob> hear_job(Collective& team) {
  const std::string text = broadcast_text(team, "", 0);
  if (text.empty()) return std::nullopt;
  const auto order = nlohmann::json::parse(text);
  return SessionJob{order.at("job"), order.at("rows").get<std::vector<std::size_t>>(),
                    order.at("first_step")};
}

}  // namespace depthgrid
