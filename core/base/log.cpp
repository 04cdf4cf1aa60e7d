#include "core/base/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr const char* kName = "depthgrid";
constexpr const char* kFileName = "depthgrid-file";

struct Level {
  const char* name;
  spdlog::level::level_enum spdlog;
  const char* head;  // of a line on stderr
};
constexpr Level kLevels[] = {{"debug", spdlog::level::debug, ""},  // by LogLevel
                             {"info", spdlog::level::info, ""},
                             {"warning", spdlog::level::warn, "warning: "},
                             {"error", spdlog::level::err, "error: "}};

const Level& row_of(LogLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

std::shared_ptr<spdlog::logger> logger() {
  if (auto known = spdlog::get(kName)) return known;
  auto made = spdlog::stderr_logger_mt(kName);
  made->set_pattern("depthgrid: %v");
  return made;
}

void to_file(LogLevel level, std::string text) {
  const auto file = spdlog::get(kFileName);
  if (!file) return;
  std::ranges::replace(text, '\n', ' ');  // one time stamp per line
  file->log(row_of(level).spdlog, "{}", text);
  file->flush();
}

}  // namespace

std::optional<LogLevel> log_level_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kLevels); ++i) {
    if (name == kLevels[i].name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

LogLevel wanted_log_level() {
  const char* name = std::getenv(kLogLevelVariable);
  return log_level_named(name != nullptr ? name : "").value_or(LogLevel::Info);
}

void configure_log(LogLevel lowest, const std::string& tag, std::string_view lead) {
  const auto l = logger();
  l->set_level(row_of(lowest).spdlog);
  l->set_pattern(std::string(lead) +
                 (tag.empty() ? "depthgrid: %v" : "depthgrid [" + tag + "]: %v"));
}

void log_to_file(const std::filesystem::path& file) {
  spdlog::drop(kFileName);
  try {
    const auto made = spdlog::basic_logger_mt(kFileName, file.string());
    made->set_level(spdlog::level::debug);
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l: %v", spdlog::pattern_time_type::utc);
  } catch (const spdlog::spdlog_ex& e) {
    throw StorageError(file.string(), e.what());
  }
}

void log(LogLevel level, const std::string& given) noexcept {
  try {
    const std::string text = printable(given);
    const auto l = logger();
    l->log(row_of(level).spdlog, "{}{}", row_of(level).head, text);
    l->flush();
    to_file(level, text);
  } catch (...) {  // no log line is worth a crash
  }
}

void log_quietly(LogLevel level, const std::string& text) noexcept {
  try {
    to_file(level, printable(text));
  } catch (...) {  // as above
  }
}

}  // namespace depthgrid
