#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/exit_code.hpp"

namespace depthgrid {

/// The arguments of a verb, after its name.
using Arguments = std::vector<std::string>;

// One file each: cli/verb_<name>.cpp. All throw UserError for what the user can put right.
int audit_verb(const Arguments& arguments);
int bench_verb(const Arguments& arguments);
int check_verb(const Arguments& arguments);
int eval_verb(const Arguments& arguments);
int export_verb(const Arguments& arguments);
int generate_verb(const Arguments& arguments);
int logs_verb(const Arguments& arguments);
int pack_verb(const Arguments& arguments);
int plan_verb(const Arguments& arguments);
int results_verb(const Arguments& arguments);
int run_verb(const Arguments& arguments);
int schema_verb(const Arguments& arguments);
int status_verb(const Arguments& arguments);
int validate_verb(const Arguments& arguments);

/// The exit code as a number.
constexpr int number_of(ExitCode code) {
  return static_cast<int>(code);
}

}  // namespace depthgrid
