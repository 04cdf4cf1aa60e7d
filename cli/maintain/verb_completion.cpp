#include "cli/maintain/verb_completion.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

// Each script asks the program itself, by the name under which it was called. bash breaks words at
// "=" and then replaces only what follows, so candidates lose what precedes it.
constexpr const char* kBash = R"sh(_depthgrid() {
  local line=${COMP_LINE:0:COMP_POINT} words current IFS=$' \t\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("$1" completion words "${words[@]:1}" 2>/dev/null)" -- "$current"))
  if [[ $current == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*=}"}"}")
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _depthgrid depthgrid
)sh";

constexpr const char* kZsh = R"sh(#compdef depthgrid
_depthgrid() {
  local -a candidates
  candidates=("${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("${(@)candidates:#}")
  if (( ${#candidates} )); then
    compadd -S '' -- "${(@M)candidates:#*=}"
    compadd -- "${(@)candidates:#*=}"
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_depthgrid" ]; then _depthgrid "$@"; else compdef _depthgrid depthgrid; fi
)sh";

/// "train.lr=" for a beginning of --set, "train.optimizer=adamw" once the leaf is there.
std::string completed_setting(const std::string& word) {
  std::string out;
  const auto equals = word.find('=');
  if (equals == std::string::npos) {
    for (const Leaf& leaf : schema()) out += fmt::format("{}=\n", leaf.path);
    return out + "seeds=\n";
  }
  const std::string path = word.substr(0, equals);
  const std::size_t row = find_leaf(path);
  if (row == schema().size()) return out;
  std::string_view alternatives = schema()[row].words;
  if (schema()[row].kind == ValueKind::Bool) alternatives = "true false";
  for (const std::string& one : text_words(std::string(alternatives))) {
    out += fmt::format("{}={}\n", path, one);
  }
  return out;
}

std::string all_leaves() {
  std::string out;
  for (const Leaf& leaf : schema()) out += fmt::format("{}\n", leaf.path);
  return out;
}

constexpr std::string_view kShells[] = {"bash", "zsh"};

/// The folder of an environment variable; empty if it is not set.
fs::path folder_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : fs::path();
}

/// Where the shell searches for the user's own completions.
fs::path place_of_script(const std::string& shell) {
  fs::path data = folder_of("XDG_DATA_HOME");
  if (data.empty()) data = folder_of("HOME") / ".local" / "share";
  if (shell == "zsh") return data / "zsh" / "site-functions" / "_depthgrid";
  fs::path own = folder_of("BASH_COMPLETION_USER_DIR");
  if (own.empty()) own = data / "bash-completion";
  return own / "completions" / "depthgrid";
}

void install(const std::string& shell) {
  const fs::path file = place_of_script(shell);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file);
  out << completion_script(shell);
  if (!out.flush()) throw StorageError(file, "the completion script cannot be written here");
  print(fmt::format("{}\n", file.string()));
  if (shell == "bash") {
    print("new shells complete depthgrid (bash-completion reads this file)\n");
  } else {
    print(fmt::format("put into ~/.zshrc, before compinit: fpath=({} $fpath)\n",
                      file.parent_path().string()));
  }
}

}  // namespace

void print_completions(std::span<const Verb> verbs, std::span<const std::string> words) {
  if (words.empty()) return;
  const std::string& current = words.back();
  const std::string& first = words.front();
  if (words.size() == 1 || (words.size() == 2 && first == "help")) {
    std::string names = words.size() == 1 ? "help\n" : "";
    for (const Verb& verb : verbs) names += fmt::format("{}\n", verb.name);
    return print(names);
  }
  const auto verb = std::ranges::find_if(verbs, [&](const Verb& v) { return first == v.name; });
  if (verb == verbs.end()) return;
  if (words[words.size() - 2] == "--set") return print(completed_setting(current));
  if (current.starts_with("--set=")) return;
  if (current.starts_with("-")) {
    verb->run({std::string(CommandLine::kListOptions)});
  } else if (first == "schema") {
    print(all_leaves());
  }
}

std::string completion_script(std::string_view shell) {
  return shell == "zsh" ? kZsh : kBash;
}

int completion_verb(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "words") {  // asked by the scripts
    print_completions(kVerbs, std::span(arguments).subspan(1));
    return 0;
  }
  CommandLine line("completion bash|zsh [--install]",
                   "Prints a script with which the shell completes verbs, options and leaves, or\n"
                   "installs it where the shell searches for it.");
  line.examples({"completion bash --install", "completion zsh > ~/.zsh/_depthgrid"});
  line.argument("SHELL").flag("install", "write the script to its place instead");
  if (!line.parse(arguments)) return 0;
  const std::string shell = line.required("SHELL", kShells);
  if (line.has("install")) {
    install(shell);
  } else {
    print(completion_script(shell));
  }
  return 0;
}

}  // namespace depthgrid
