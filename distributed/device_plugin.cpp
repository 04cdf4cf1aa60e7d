#include "distributed/device_plugin.hpp"

#include <cctype>
#include <system_error>

#include <dlfcn.h>

#include <ATen/Context.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "distributed/cuda/plugin_abi.hpp"

namespace depthgrid {
namespace {

struct Plugin {
  const PluginAbi* abi = nullptr;
  std::string problem;
};

/// Opens the plug-in beside this program. Opening it again costs a look-up and is harmless.
Plugin open_plugin() {
  const std::string path = program_beside(kPluginFile).string();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return {nullptr, why == nullptr ? "cannot open " + path : std::string(why)};
  }
  using Entry = const PluginAbi*();
  auto* const entry = reinterpret_cast<Entry*>(dlsym(library, kPluginEntry));
  if (entry == nullptr) return {nullptr, path + " is not a GPU plug-in of depthgrid"};
  const PluginAbi* const abi = entry();
  if (abi->version != kPluginVersion) {
    return {nullptr, path + " is of another build of depthgrid: rebuild or reinstall both"};
  }
  return {abi, ""};
}

/// The plug-in, on a machine that has a GPU.
const PluginAbi& usable_plugin(const char* call) {
  const Plugin plugin = open_plugin();
  if (plugin.abi == nullptr) throw BackendError("CUDA", call, 0, plugin.problem);
  std::string problem;
  if (plugin.abi->device_count(problem) == 0) throw BackendError("CUDA", call, 0, problem);
  return *plugin.abi;
}

/// Whether `name` is the device file of a GPU: "nvidia0", not "nvidiactl", which a driver without
/// a card has too; "dxg" is the GPU of a Windows host.
bool is_gpu(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  if (name == "dxg") return true;
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         std::isdigit(static_cast<unsigned char>(name[kPrefix.size()])) != 0;
}

}  // namespace

GpuSearch find_gpus() {
  if (const auto problem = driver_problem()) return {0, shows_gpu(), *problem};
  const Plugin plugin = open_plugin();
  if (plugin.abi == nullptr) return {0, true, plugin.problem};
  GpuSearch found{0, true, ""};
  found.count = plugin.abi->device_count(found.problem);
  return found;
}

std::optional<std::string> plugin_problem() {
  const Plugin plugin = open_plugin();
  if (plugin.abi != nullptr) return std::nullopt;
  return plugin.problem;
}

GpuCard use_device(int device) {
  const GpuCard card = usable_plugin("use_device").use_device(device);
  at::globalContext().lazyInitDevice(at::kCUDA);
  return card;
}

void limit_device_memory(int device, double fraction) {
  usable_plugin("limit_device_memory").limit_memory(device, fraction);
}

std::map<std::string, std::string> device_versions(bool loaded) {
  std::map<std::string, std::string> out;
#ifdef DEPTHGRID_CUDA_VERSION
  out = {{"cuda_toolkit", DEPTHGRID_CUDA_VERSION}, {"nccl", DEPTHGRID_NCCL_VERSION}};
#endif
  const Plugin plugin = loaded ? open_plugin() : Plugin{};
  if (plugin.abi != nullptr) {
    for (const auto& [library, version] : plugin.abi->versions()) out[library] = version;
  }
  return out;
}

std::unique_ptr<Collective> make_nccl_collective(Collective& bootstrap,
                                                 std::chrono::milliseconds timeout) {
  return usable_plugin("make_nccl_collective").connect(bootstrap, timeout);
}

std::unique_ptr<DeviceKernels> make_device_kernels(const SegmentTable& table,
                                                   std::string_view optimizer, ClipScope scope,
                                                   std::int64_t cells) {
  const BlockSpans blocks{table.row_size(), table.blocks(), table.block_order(),
                          table.group_begin()};
  return usable_plugin("make_device_kernels").make_kernels(blocks, optimizer, scope.alone, cells);
}

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
