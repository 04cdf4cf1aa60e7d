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

/// Encodes a chunk for H5Dwrite_chunk like HDF5's filters shuffle, deflate (level 4), Fletcher32.
///
/// HDF5 has one global lock and compresses on the caller's thread; this function may run on any
/// number of threads. Source: HDF5 File Format Specification, filter pipeline messages.
/// @throws BackendError if zlib fails.
std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t item_bytes);

/// A chunk to be written.
struct PendingChunk {
  std::size_t column = 0;      // in the caller's numbering
  std::int64_t first_row = 0;  // of the chunk
  std::size_t item_bytes = 0;
  std::vector<std::byte> bytes;  // raw when submitted, encoded when taken
};

/// Encodes chunks on its own threads while the caller reads the next ones.
class ChunkEncoder {
 public:
  explicit ChunkEncoder(unsigned threads);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  void submit(PendingChunk chunk);

  /// Returns chunks in the order of submission. Blocks if `wait` is set or too many bytes are in
  /// flight. @return nothing if none is ready (or none is left).
  /// @throws the exception of a failed encoding.
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
