#include "core/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace depthgrid {
namespace {

constexpr const char* kName = "depthgrid";

std::shared_ptr<spdlog::logger> logger() {
  if (auto known = spdlog::get(kName)) return known;
  auto made = spdlog::stderr_logger_mt(kName);
  made->set_pattern("depthgrid: %v");
  return made;
}

}  // namespace

void configure_log(LogLevel lowest, const std::string& tag) {
  const auto l = logger();
  l->set_level(lowest == LogLevel::Debug     ? spdlog::level::debug
               : lowest == LogLevel::Info    ? spdlog::level::info
               : lowest == LogLevel::Warning ? spdlog::level::warn
                                             : spdlog::level::err);
  l->set_pattern(tag.empty() ? "depthgrid: %v" : "depthgrid [" + tag + "]: %v");
}

void log(LogLevel level, const std::string& text) noexcept {
  try {
    const auto l = logger();
    switch (level) {
      case LogLevel::Debug:
        l->debug("{}", text);
        break;
      case LogLevel::Info:
        l->info("{}", text);
        break;
      case LogLevel::Warning:
        l->warn("warning: {}", text);
        break;
      case LogLevel::Error:
        l->error("error: {}", text);
        break;
    }
    l->flush();
  } catch (...) {  // a log line is never worth a crash
  }
}

}  // namespace depthgrid
