#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/unique_handle.hpp"

namespace depthgrid {

struct TerminalTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept;
};

/// Erases from the cursor to the end of the screen.
inline constexpr std::string_view kEraseBelow = "\r\033[J";

/// What a display may do on a terminal.
enum class TerminalUse : std::uint8_t {
  Draw,    // it is ours
  Lines,   // another program has it, and lines of ours may stand among its own
  Nothing  // another program has it, and the terminal stops who else writes
};

/// A terminal on which progress may be drawn.
class Terminal {
 public:
  struct Size {
    int columns = 80, rows = 24;
  };

  /// The terminal behind stderr. Under a launcher stderr is a pipe to it; then the launcher's own
  /// stderr, if it is a terminal and the launcher runs on this machine as this user: text
  /// redirected by the user (`mpirun … 2>log`) stays plain.
  /// @return  nothing if there is none, or if it can do nothing but print (TERM=dumb).
  static std::optional<Terminal> find();

  /// The terminal open as `fd`, without owning it; nothing if it is none.
  static std::optional<Terminal> of(int fd);

  /// Its size now: users resize their windows.
  Size size() const;

  /// It is ours unless neither this process nor the one that the user started (our parent) is in
  /// the terminal's foreground job, such as after `&`. With `stty tostop` only that job may write.
  TerminalUse use() const;

  /// Writes all of it at once. Errors are ignored: no display is worth a crash.
  void write(std::string_view text) const noexcept;

 private:
  explicit Terminal(int fd) : fd_(fd) {}
  bool ours() const;

  UniqueHandle<TerminalTraits> fd_;
};

/// One line that is there as long as this object: of a long step during which nothing is drawn. The
/// cursor stays at its begin, so that whatever others write covers it.
class PassingLine {
 public:
  /// @param terminal  nothing: no line. Nothing is written to a terminal that others use.
  PassingLine(std::optional<Terminal> terminal, std::string_view text);
  ~PassingLine();
  PassingLine(const PassingLine&) = delete;
  PassingLine& operator=(const PassingLine&) = delete;

 private:
  std::optional<Terminal> terminal_;
};

/// Erases what a program that draws has left below the cursor, if stderr is a terminal.
void erase_display() noexcept;

}  // namespace depthgrid
