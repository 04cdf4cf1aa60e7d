#include "core/config/text_form.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parse_number.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kLongestWord = 256;
constexpr std::size_t kLongestName = 32;

bool is_time(std::string_view text) {
  const auto seconds = seconds_of(text);
  return seconds && *seconds > 0;
}

bool is_size(std::string_view text) {
  const auto size = megabytes_of(text);
  return size && *size > 0;
}

bool is_axis_name(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return text.size() <= kLongestName && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

constexpr TextForm kForms[] = {
    {"model.control.names", is_axis_name, "at most 32 letters, digits, _ and -"},
    {"slurm.", is_plain_word, "letters, digits and . _ - , : @ = & ( ) / alone"},
    {"resources.time", is_time, "a time as sbatch reads it: 4:00:00, 2-12:00:00 or minutes"},
    {"resources.max_cell_time", is_time,
     "a time as sbatch reads it: 4:00:00, 2-12:00:00 or minutes"},
    {"budget.wall_time", is_time, "a time as sbatch reads it: 4:00:00, 2-12:00:00 or minutes"},
    {"budget.store_bytes", is_size, "a size such as 64G or 500M"},
    {"resources.mem", is_size, "a size such as 64G or 500M"},
};

std::optional<std::int64_t> whole(std::string_view digits) {
  const auto n = parse_number<std::int64_t>(digits);
  return n && *n >= 0 ? n : std::nullopt;
}

}  // namespace

const TextForm* text_form(std::string_view path) {
  const auto* const at = std::ranges::find_if(kForms, [&](const TextForm& form) {
    return form.path == path || (form.path.ends_with('.') && path.starts_with(form.path));
  });
  return at == std::end(kForms) ? nullptr : at;
}

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-,:@=&()/";
  return !text.empty() && text.size() <= kLongestWord &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::optional<std::int64_t> seconds_of(std::string_view time) {
  std::int64_t days = 0;
  const std::size_t dash = time.find('-');
  const bool has_days = dash != std::string_view::npos;
  if (has_days) {
    const auto n = whole(time.substr(0, dash));
    if (!n) return std::nullopt;
    days = *n;
    time.remove_prefix(dash + 1);
  }
  std::vector<std::int64_t> parts;
  for (std::size_t at = 0; at <= time.size();) {
    const std::size_t end = std::min(time.find(':', at), time.size());
    const auto n = whole(time.substr(at, end - at));
    if (!n) return std::nullopt;
    parts.push_back(*n);
    at = end + 1;
  }
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  parts.resize(3, -1);
  // With days the first part is hours; without, one part is minutes and two are minutes:seconds.
  std::int64_t hours = 0, minutes = 0, seconds = 0;
  const auto part = [&](std::size_t i) { return std::max<std::int64_t>(parts[i], 0); };
  if (has_days || parts[2] >= 0) {
    hours = part(0);
    minutes = part(1);
    seconds = part(2);
  } else {
    minutes = part(0);
    seconds = part(1);
  }
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

std::optional<std::int64_t> megabytes_of(std::string_view size) {
  if (size.empty()) return std::nullopt;
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t unit = kUnits.find(size.back());
  if (unit == std::string_view::npos) return std::nullopt;
  const auto n = whole(size.substr(0, size.size() - 1));
  if (!n || *n > (std::int64_t{1} << 30)) return std::nullopt;
  constexpr std::int64_t kKilo = 1024;
  return unit == 0 ? *n / kKilo : unit == 1 ? *n : unit == 2 ? *n * kKilo : *n * kKilo * kKilo;
}

}  // namespace depthgrid
