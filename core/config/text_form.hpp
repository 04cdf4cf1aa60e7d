#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace depthgrid {

/// What a text of a leaf must look like.
struct TextForm {
  std::string_view path;  // of the leaf, or the beginning of several with a dot at its end
  bool (*fits)(std::string_view text);
  std::string_view expected;  // for messages
};

/// The form of a leaf's texts; nullptr: any text.
const TextForm* text_form(std::string_view path);

/// Letters, digits and . _ - , : @ = & ( ) / alone: nothing that a shell or sbatch would take
/// apart.
bool is_plain_word(std::string_view text);

/// sbatch's times, in seconds: "90" (minutes), "90:00", "4:00:00", "2-12", "2-12:30:00".
std::optional<std::int64_t> seconds_of(std::string_view time);

/// Megabytes of "64G", "500M", "2T"; K, M, G and T are powers of 1024.
std::optional<std::int64_t> megabytes_of(std::string_view size);

}  // namespace depthgrid
