#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace depthgrid {

/// What HDF5's own filters shuffle, deflate (level 4) and Fletcher32 would make of a chunk, so that
/// the bytes can be handed to H5Dwrite_chunk.
///
/// HDF5 has one lock for everything and compresses on the caller's thread; this function may run on
/// any number of threads. Source: HDF5 File Format Specification, filter pipeline messages.
std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t item_bytes);

/// A chunk on its way to the file.
struct PendingChunk {
  std::size_t column = 0;      // as the caller numbers them
  std::int64_t first_row = 0;  // of the chunk
  std::size_t item_bytes = 0;
  std::vector<std::byte> bytes;  // raw when submitted, encoded when taken
};

/// Encodes chunks on threads of its own, while the caller reads the next ones.
class ChunkEncoder {
 public:
  explicit ChunkEncoder(unsigned threads);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  void submit(PendingChunk chunk);

  /// Chunks come back in the order of submission. Blocks when `wait` is set or when so much is in
  /// flight that memory matters. @return nothing if none is ready (or none is left).
  /// @throws what encoding threw.
  std::optional<PendingChunk> take(bool wait);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<std::pair<std::uint64_t, PendingChunk>> waiting_;
  std::map<std::uint64_t, PendingChunk> encoded_;  // by order of submission
  std::uint64_t submitted_ = 0, taken_ = 0;
  std::size_t bytes_in_flight_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace depthgrid
