#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/output.hpp"  // print(), which every verb needs
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// Options and arguments of one verb. Long names cannot be abbreviated; every verb has --help.
class CommandLine {
 public:
  /// @param usage    "validate FILE [options]"
  /// @param summary  what the verb does, shown by --help
  CommandLine(std::string_view usage, std::string_view summary);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `name` as "json" or "quiet,q".
  CommandLine& flag(const char* name, const char* help);
  /// Options with a value; `placeholder` names the value in --help.
  CommandLine& text(const char* name, const char* placeholder, const char* help);
  CommandLine& number(const char* name, std::optional<std::int64_t> fallback, const char* help);
  CommandLine& list(const char* name, const char* placeholder,
                    const char* help);  // may be repeated
  /// The next argument without dashes.
  CommandLine& argument(const char* name);
  /// All further arguments without dashes, any number; list_of() has them.
  CommandLine& arguments(const char* name);
  /// --set and --yes of verbs that read a sweep file.
  CommandLine& sweep_options();
  bool has_sweep_options() const;  // whether sweep_options() was called
  /// --json.
  CommandLine& json();

  // What parse() refuses, naming both options.
  CommandLine& needs(const char* option, const char* other);     // the one without the other
  CommandLine& excludes(const char* option, const char* other);  // both

  /// Command lines for --help, without the name of the program.
  CommandLine& examples(std::initializer_list<const char*> lines);

  /// As the only argument: parse() prints the names of all options, one per line; for completion.
  static constexpr std::string_view kListOptions = "--list-options";

  /// @return false if --help was given (and printed). @throws UserError (Usage)
  bool parse(const std::vector<std::string>& arguments);

  bool has(const char* name) const;             // whether it is given
  std::string text_of(const char* name) const;  // "" if not given
  /// @throws UserError (Usage) if the number is less than `least`.
  std::int64_t number_of(const char* name, std::int64_t least = 1) const;
  std::vector<std::string> list_of(const char* name) const;
  /// The same with "a,b" as two. @throws UserError (Usage) if it is given without a word.
  std::vector<std::string> words_of(const char* name) const;
  /// The real number of a text option, or `fallback`. @throws UserError (Usage) if it is none, or
  /// outside of these.
  double real_of(const char* name, double fallback, double least = -HUGE_VAL,
                 double most = HUGE_VAL) const;
  /// The word of a text option; empty if it is not given. @throws UserError (Usage) naming `known`
  /// if it is none of them.
  std::string word_of(const char* name, std::initializer_list<std::string_view> known) const;
  /// A mandatory argument. @throws UserError (Usage) if it is missing.
  std::string required(const char* name) const;
  /// A mandatory argument that is one of `known`. @throws UserError (Usage) naming them.
  std::string required(const char* name, std::span<const std::string_view> known) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Prints it with two blanks a level, and a line feed.
void print_json(const nlohmann::ordered_json& json);

/// Yes if stdout is a terminal that shows colours and NO_COLOR (https://no-color.org) is not set.
Colour colour_of_stdout();

}  // namespace depthgrid
