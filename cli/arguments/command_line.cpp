#include "cli/arguments/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/parse_number.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

namespace po = boost::program_options;

namespace {

bool is_key(const std::string& name) {
  return find_leaf(name) < schema().size() ||
         std::ranges::find(grid_keys(), name, &GridKey::name) != grid_keys().end();
}

}  // namespace

struct CommandLine::Impl {
  std::string usage, summary, examples;
  bool about_sweep = false;
  struct Rule {
    const char *option, *other, *message;
    bool refused;  // beside the other one, or without it
  };
  std::vector<Rule> rules;
  po::options_description shown{"options", 100};
  po::options_description hidden;
  po::positional_options_description positional;
  po::variables_map values;

  /// What to write in the place of `--seeds 3`; empty unless the option is a key of a sweep file.
  std::string setting_meant(const std::string& option,
                            const std::vector<std::string>& arguments) const {
    const std::string word = option.substr(0, option.find('='));
    const std::string key = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    if (shown.find_nothrow("set", false) == nullptr || !is_key(key)) return "";
    std::string value = "VALUE";
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& given = arguments[i];
      if (given.starts_with("--" + key + "=")) value = given.substr(key.size() + 3);
      const bool next = given == "--" + key && i + 1 < arguments.size();
      if (next && !arguments[i + 1].starts_with("-")) value = arguments[i + 1];
    }
    return fmt::format("; a key of the sweep file is set by --set {}={}", key, value);
  }

  std::string verb() const { return usage.substr(0, usage.find(' ')); }

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(ExitCode::Usage, fmt::format("{}\nusage: depthgrid {}", message, usage));
  }
};

CommandLine::CommandLine(std::string_view usage, std::string_view summary)
    : impl_(std::make_unique<Impl>()) {
  impl_->usage = usage;
  impl_->summary = summary;
  flag("help,h", "show this help");
  text("log-level", "LEVEL", "messages on stderr: debug, info (default), warning or error");
}
CommandLine::~CommandLine() = default;

CommandLine& CommandLine::flag(const char* name, const char* help) {
  impl_->shown.add_options()(name, po::bool_switch(), help);
  return *this;
}

CommandLine& CommandLine::text(const char* name, const char* placeholder, const char* help) {
  impl_->shown.add_options()(name, po::value<std::string>()->value_name(placeholder), help);
  return *this;
}

CommandLine& CommandLine::number(const char* name, std::optional<std::int64_t> fallback,
                                 const char* help) {
  auto* const value = po::value<std::int64_t>()->value_name("N");
  if (fallback) value->default_value(*fallback);
  impl_->shown.add_options()(name, value, help);
  return *this;
}

CommandLine& CommandLine::list(const char* name, const char* placeholder, const char* help) {
  impl_->shown.add_options()(name, po::value<std::vector<std::string>>()->value_name(placeholder),
                             help);
  return *this;
}

CommandLine& CommandLine::argument(const char* name) {
  impl_->hidden.add_options()(name, po::value<std::string>());
  impl_->positional.add(name, 1);
  return *this;
}

CommandLine& CommandLine::arguments(const char* name) {
  impl_->hidden.add_options()(name, po::value<std::vector<std::string>>());
  impl_->positional.add(name, -1);
  return *this;
}

CommandLine& CommandLine::sweep_options() {
  impl_->about_sweep = true;
  list("set", "KEY=VALUE", "of a sweep file: override a key; a comma makes a factor; repeatable");
  return flag("yes", "of a sweep file: allow more than 10,000 cells");
}

bool CommandLine::has_sweep_options() const {
  return impl_->about_sweep;
}

CommandLine& CommandLine::json() {
  return flag("json", "print JSON");
}

CommandLine& CommandLine::needs(const char* option, const char* other) {
  impl_->rules.push_back(
      {option, other, "{0}: --{1} belongs to --{2}, which is missing: add it, or leave --{1} out",
       false});
  return *this;
}

CommandLine& CommandLine::excludes(const char* option, const char* other) {
  impl_->rules.push_back(
      {option, other, "{}: --{} and --{} cannot be joined: leave one out", true});
  return *this;
}

CommandLine& CommandLine::examples(std::initializer_list<const char*> lines) {
  for (const char* line : lines) impl_->examples += fmt::format("  depthgrid {}\n", line);
  return *this;
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments.front() == kListOptions) {
    std::string names;
    for (const auto& option : impl_->shown.options()) {
      names += fmt::format("--{}\n", option->long_name());
    }
    print(names);
    return false;
  }
  po::options_description all;
  all.add(impl_->shown).add(impl_->hidden);
  using Style = po::command_line_style::style_t;
  const int style = Style::allow_long | Style::allow_short | Style::long_allow_next |
                    Style::long_allow_adjacent | Style::short_allow_next |
                    Style::short_allow_adjacent | Style::allow_dash_for_short;
  try {
    po::store(po::command_line_parser(arguments)
                  .options(all)
                  .positional(impl_->positional)
                  .style(style)
                  .run(),
              impl_->values);
    po::notify(impl_->values);
  } catch (const po::too_many_positional_options_error&) {
    impl_->fail("too many arguments");
  } catch (const po::unknown_option& e) {
    impl_->fail(e.what() + impl_->setting_meant(e.get_option_name(), arguments));
  } catch (const po::error& e) {
    impl_->fail(e.what());
  }
  if (has("log-level")) {
    const std::string name = text_of("log-level");
    const auto level = log_level_named(name);
    if (!level) {
      impl_->fail("--log-level is '" + name + "'; expected debug, info, warning or error");
    }
    ::setenv(kLogLevelVariable, name.c_str(), 1);
    configure_log(*level, "");
  }
  if (!has("help")) {
    for (const auto& [option, other, message, refused] : impl_->rules) {
      if (!has(option) || has(other) != refused) continue;
      throw UserError(ExitCode::Usage,
                      fmt::format(fmt::runtime(message), impl_->verb(), option, other));
    }
    return true;
  }
  std::ostringstream text;
  text << "usage: depthgrid " << impl_->usage << "\n\n" << impl_->summary << "\n\n" << impl_->shown;
  if (!impl_->examples.empty()) text << "\nexamples:\n" << impl_->examples;
  print(text.str());
  return false;
}

bool CommandLine::has(const char* name) const {
  const auto& value = impl_->values[name];
  return !value.empty() && !value.defaulted();
}

std::string CommandLine::text_of(const char* name) const {
  return has(name) ? impl_->values[name].as<std::string>() : "";
}

std::int64_t CommandLine::number_of(const char* name, std::int64_t least) const {
  const auto number = impl_->values[name].as<std::int64_t>();
  if (number < least)
    impl_->fail(fmt::format("--{} is {}; it must be at least {}", name, number, least));
  return number;
}

std::vector<std::string> CommandLine::list_of(const char* name) const {
  return has(name) ? impl_->values[name].as<std::vector<std::string>>()
                   : std::vector<std::string>{};
}

std::vector<std::string> CommandLine::words_of(const char* name) const {
  std::vector<std::string> out;
  for (const std::string& list : list_of(name)) {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      if (end > at) out.push_back(list.substr(at, end - at));
      at = end + 1;
    }
  }
  if (out.empty() && has(name)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("{}: --{} names nothing: a word is expected, or several with "
                                "commas between them",
                                impl_->verb(), name));
  }
  return out;
}

double CommandLine::real_of(const char* name, double fallback, double least, double most) const {
  if (!has(name)) return fallback;
  const std::string text = text_of(name);
  const double number = parse_number<double>(text).value_or(kNaN);
  if (std::isfinite(number) && number >= least && number <= most) return number;
  throw UserError(ExitCode::Usage,
                  fmt::format("--{} is {}; expected a number{}{}", name, text,
                              std::isfinite(least) ? fmt::format(" of {} or more", least) : "",
                              std::isfinite(most) ? fmt::format(", {} at most", most) : ""));
}

std::string CommandLine::word_of(const char* name,
                                 std::initializer_list<std::string_view> known) const {
  const std::string word = text_of(name);
  if (!has(name) || std::ranges::find(known, word) != known.end()) return word;
  const std::span<const std::string_view> words(known);
  throw UserError(ExitCode::Usage,
                  fmt::format("--{} {}: {} or {} was expected", name, word,
                              fmt::join(words.first(words.size() - 1), ", "), words.back()));
}

std::string CommandLine::required(const char* name) const {
  const bool option = std::islower(static_cast<unsigned char>(*name)) != 0;  // --cell, but FILE
  if (!has(name)) impl_->fail(fmt::format("{}{} is missing", option ? "--" : "", name));
  return text_of(name);
}

std::string CommandLine::required(const char* name, std::span<const std::string_view> known) const {
  const std::string word = required(name);
  if (std::ranges::find(known, word) != known.end()) return word;
  throw UserError(ExitCode::Usage, fmt::format("{}: '{}' is unknown; there are: {}", impl_->verb(),
                                               word, fmt::join(known, ", ")));
}

void print_json(const nlohmann::ordered_json& json) {
  print(json_text(json, 2) + "\n");
}

Colour colour_of_stdout() {
  const auto value = [](const char* variable) {
    const char* text = std::getenv(variable);
    return std::string_view(text != nullptr ? text : "");
  };
  const bool shows = ::isatty(STDOUT_FILENO) == 1 && !value("TERM").empty() &&
                     value("TERM") != "dumb" && value("NO_COLOR").empty();
  return shows ? Colour::Yes : Colour::No;
}

}  // namespace depthgrid
