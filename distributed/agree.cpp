#include "distributed/agree.hpp"

#include <string>

namespace depthgrid {

void agree(Collective& group, const std::function<void()>& work) {
  std::string problem;
  int code = 0;
  try {
    work();
  } catch (const UserError& e) {
    problem = e.what();
    code = static_cast<int>(e.code());
  }
  const std::int64_t worst = largest(group, code);
  if (worst == 0) return;
  for (const std::string& text : gather_text(group, problem)) {
    if (!text.empty()) throw SharedError(static_cast<ExitCode>(worst), text);
  }
}

void agree_on_first(Collective& group, const std::function<void()>& work) {
  agree(group, [&] {
    if (group.rank() == 0) work();
  });
}

bool on_any(Collective& group, bool ok) {
  return largest(group, ok ? 1 : 0) == 1;
}

}  // namespace depthgrid
