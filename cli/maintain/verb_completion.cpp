#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/maintain/completion.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShells[] = {"bash", "zsh"};

/// The folder of an environment variable; empty if it is not set.
fs::path folder_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : fs::path();
}

/// Where the shell looks for the user's own completions.
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

int completion_verb(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "words") {  // asked by the scripts
    print_completions(kVerbs, std::span(arguments).subspan(1));
    return 0;
  }
  CommandLine line("completion bash|zsh [--install]",
                   "Prints a script with which the shell completes verbs, options and leaves, or\n"
                   "installs it where the shell looks for it.");
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
