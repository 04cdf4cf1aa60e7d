#include "storage/files/process_identity.hpp"

#include <span>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/crc32c.hpp"

namespace depthgrid {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessIdentity, uuid, host, boot_id, pid_namespace, pid,
                                   start_time, scheduler_job)

namespace {

using nlohmann::json;

std::uint32_t machine_of(const ProcessIdentity& p) {
  const std::string text = p.host + "\n" + p.boot_id + "\n" + p.pid_namespace;
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

std::string to_json(const ProcessIdentity& identity) {
  return json_text(json(identity)) + "\n";
}

std::optional<ProcessIdentity> identity_from_json(std::string_view text) {
  try {
    return parse_json(text).get<ProcessIdentity>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string process_tag(const ProcessIdentity& process) {
  return fmt::format("{}-{}-{:08x}", process.pid, process.start_time, machine_of(process));
}

std::string process_tag() {
  return process_tag(this_process());
}

bool surely_dead_tag(std::string_view tag) {
  std::istringstream in{std::string(tag)};
  ProcessIdentity of = this_process();
  char first = 0, second = 0;
  std::uint32_t machine = 0;
  in >> of.pid >> first >> of.start_time >> second >> std::hex >> machine;
  return in && first == '-' && second == '-' && machine == machine_of(of) && surely_dead(of);
}

}  // namespace depthgrid
