#include "storage/hdf5/chunk_codec.hpp"

#include <algorithm>
#include <system_error>

#include <zlib.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr int kCodecLevel = 4;
constexpr std::size_t kMostInFlight = std::size_t{256} << 20;

std::vector<std::byte> shuffled(std::span<const std::byte> raw, std::size_t item_bytes) {
  const std::size_t items = raw.size() / item_bytes;
  std::vector<std::byte> out(raw.size());
  for (std::size_t b = 0; b < item_bytes; ++b) {
    std::byte* to = out.data() + b * items;
    const std::byte* from = raw.data() + b;
    for (std::size_t i = 0; i < items; ++i) to[i] = from[i * item_bytes];
  }
  return out;
}

std::uint32_t folded(std::uint32_t sum) {
  return (sum & 0xffffU) + (sum >> 16U);
}

/// HDF5's variant: 16-bit words are big-endian on every machine.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t kWordsBeforeOverflow = 360;
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const auto at = [&bytes](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  const std::size_t words = bytes.size() / 2;
  for (std::size_t word = 0; word < words;) {
    const std::size_t end = std::min(words, word + kWordsBeforeOverflow);
    for (; word < end; ++word) {
      sum1 += (at(2 * word) << 8U) | at(2 * word + 1);
      sum2 += sum1;
    }
    sum1 = folded(sum1);
    sum2 = folded(sum2);
  }
  if (bytes.size() % 2 != 0) {
    sum1 = folded(sum1 + (at(bytes.size() - 1) << 8U));
    sum2 = folded(sum2 + sum1);
  }
  return (folded(sum2) << 16U) | folded(sum1);
}

}  // namespace

std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t item_bytes) {
  const std::vector<std::byte> bytes = shuffled(raw, item_bytes);
  uLongf size = compressBound(bytes.size());
  std::vector<std::byte> out(size + sizeof(std::uint32_t));
  const int code =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kCodecLevel);
  if (code != Z_OK) throw BackendError("zlib", "compress2", code, "");
  const std::uint32_t sum = fletcher32({out.data(), size});
  for (unsigned i = 0; i < sizeof(sum); ++i) {
    out[size + i] = static_cast<std::byte>((sum >> (8U * i)) & 0xffU);
  }
  out.resize(size + sizeof(sum));
  return out;
}

ChunkEncoder::ChunkEncoder(unsigned threads) {
  threads_.reserve(std::max(1U, threads));
  try {
    while (threads_.size() < std::max(1U, threads)) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {  // the user's limit: fewer suffice, one is required
    if (threads_.empty()) throw;
  }
}

ChunkEncoder::~ChunkEncoder() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ChunkEncoder::submit(PendingChunk chunk) {
  {
    const std::lock_guard lock(mutex_);
    bytes_in_flight_ += chunk.bytes.size();
    waiting_.emplace_back(submitted_++, std::move(chunk));
  }
  work_.notify_one();
}

std::optional<PendingChunk> ChunkEncoder::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (taken_ == submitted_) return std::nullopt;
  const auto ready = [this] { return error_ != nullptr || encoded_.contains(taken_); };
  if (!ready()) {
    if (!wait && bytes_in_flight_ < kMostInFlight) return std::nullopt;
    done_.wait(lock, ready);
  }
  if (error_ != nullptr) std::rethrow_exception(error_);
  PendingChunk out = std::move(encoded_.extract(taken_).mapped());
  ++taken_;
  bytes_in_flight_ -= out.bytes.size();
  return out;
}

void ChunkEncoder::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    auto [number, chunk] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const std::size_t raw_bytes = chunk.bytes.size();
    std::exception_ptr error;
    try {
      chunk.bytes = encode_chunk(chunk.bytes, chunk.item_bytes);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error != nullptr) error_ = error;
    bytes_in_flight_ -= raw_bytes;
    bytes_in_flight_ += chunk.bytes.size();
    encoded_.emplace(number, std::move(chunk));
    done_.notify_all();
  }
}

}  // namespace depthgrid
