#pragma once

#include <cstdint>
#include <exception>

namespace depthgrid {

/// What an error says about the device, its driver or the network between ranks.
enum class DeviceFault : std::uint8_t {
  None,    // the error is one of the computation; this process can go on
  Kernel,  // a kernel did what it must not (a bad address, an assertion): the program's fault
  Node,    // a card or a driver of this node has failed: elsewhere it may well succeed
  Link     // a connection between ranks has failed, which the other rank's end does, too
};

/// Whether the same cells may succeed elsewhere.
constexpr bool is_of_machine(DeviceFault fault) {
  return fault == DeviceFault::Node || fault == DeviceFault::Link;
}

/// After any fault every further CUDA call of this process fails, too (CUDA Runtime
/// API, cudaError): it has to end. Shortage of memory is none; see is_out_of_memory().
DeviceFault device_fault_of(const std::exception& e);

}  // namespace depthgrid
