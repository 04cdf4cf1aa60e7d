#include "distributed/gpu_driver.hpp"

#include <cctype>
#include <string_view>
#include <system_error>

#include <dlfcn.h>

namespace depthgrid {
namespace {

/// Whether `name` is the device file of a GPU: "nvidia0", not "nvidiactl", which a driver without
/// a card has too; "dxg" is the GPU of a Windows host.
bool is_gpu(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  if (name == "dxg") return true;
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         std::isdigit(static_cast<unsigned char>(name[kPrefix.size()])) != 0;
}

}  // namespace

bool shows_gpu(const DriverPlaces& places) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(places.devices, absent)) {
    if (is_gpu(entry.path().filename().string())) return true;
  }
  const std::filesystem::directory_iterator cards(places.kernel, absent);
  return !absent && cards != std::filesystem::directory_iterator();
}

std::optional<std::string> driver_problem(const DriverPlaces& places) {
  if (!shows_gpu(places)) {
    return "this machine has no NVIDIA GPU (there is no " + (places.devices / "nvidia0").string() +
           ")";
  }
  void* const library = dlopen(places.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return "there is a GPU, but its driver cannot be used: " +
           (why == nullptr ? places.library : std::string(why));
  }
  dlclose(library);
  return std::nullopt;
}

}  // namespace depthgrid
