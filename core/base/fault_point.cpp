#include "core/base/fault_point.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <new>
#include <sstream>
#include <string_view>
#include <thread>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

struct Action {
  std::string_view name;
  void (*act)();
};

constexpr Action kActions[] = {
    {"abort", [] { std::abort(); }},
    {"segv", [] { raise(SIGSEGV); }},
    {"fpe", [] { raise(SIGFPE); }},
    {"kill", [] { raise(SIGKILL); }},
    {"exit", [] { std::_Exit(3); }},
    {"error", [] { throw Error("an error on request"); }},
    {"oom", [] { throw std::bad_alloc(); }},
    {"device",
     [] { throw BackendError("CUDA", "a fault on request", 214, "uncorrectable ECC error"); }},
    {"sleep",
     [] {
       while (true) std::this_thread::sleep_for(std::chrono::hours(1));
     }},
    {"enospc", nullptr},  // not at a step: disk_full_on_request()
};

struct FaultRequest {
  void (*act)();
  std::int64_t number;
  std::string cell;
};

[[noreturn]] void refuse(const std::string& text) {
  std::string names;
  for (const Action& action : kActions) names += std::string(action.name) + ", ";
  throw UserError(ExitCode::Usage, "DEPTHGRID_FAULT=" + text + ": expected one of " + names +
                                       "then @STEP or @STEP@CELL; several with commas between");
}

std::vector<FaultRequest> fault_requests() {
  const char* const text = std::getenv("DEPTHGRID_FAULT");
  if (text == nullptr || *text == '\0') return {};
  std::vector<FaultRequest> out;
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, ',');) {
    std::istringstream parts(one);
    std::string name, number, cell;
    std::getline(parts, name, '@');
    std::getline(parts, number, '@');
    std::getline(parts, cell, '@');
    const auto* const action = std::ranges::find(kActions, name, &Action::name);
    constexpr std::size_t kMostDigits = 18;
    const bool is_number = !number.empty() && number.size() <= kMostDigits &&
                           number.find_first_not_of("0123456789") == number.npos;
    if (action == std::end(kActions) || !is_number) refuse(text);
    out.push_back({action->act, std::stoll(number), cell});
  }
  return out;
}

}  // namespace

FaultPoint::FaultPoint() {
  for (FaultRequest& request : fault_requests()) {
    if (request.act != nullptr)
      faults_.push_back({request.act, request.number, std::move(request.cell)});
  }
}

void FaultPoint::pass(std::int64_t step, const std::vector<std::string>& cells) const {
  for (const Fault& fault : faults_) {
    const bool here = fault.cell.empty() || std::ranges::find(cells, fault.cell) != cells.end();
    if (step == fault.step && here) fault.act();
  }
}

bool disk_full_on_request() {
  static std::atomic<std::int64_t> published{0};
  for (const FaultRequest& request : fault_requests()) {
    if (request.act == nullptr) return ++published >= request.number;
  }
  return false;
}

}  // namespace depthgrid
