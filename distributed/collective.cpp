#include "distributed/collective.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

class SelfCollective final : public Collective {
 public:
  std::string_view name() const noexcept override { return "self"; }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  void all_reduce(at::Tensor&, ReduceOp) override {}
  void broadcast(at::Tensor&, int) override {}
  void all_gather_into(at::Tensor& all, const at::Tensor& mine) override { all.copy_(mine); }
  void all_to_all(at::Tensor& theirs, const at::Tensor& mine) override { theirs.copy_(mine); }
  std::unique_ptr<Collective> split(int, int) override { return make_self_collective(); }
  void barrier() override {}
  void wait(std::chrono::milliseconds) override {}
};

std::int64_t reduce(Collective& group, std::int64_t value, ReduceOp op) {
  at::Tensor x = at::empty({1}, at::TensorOptions().dtype(at::kLong));
  *x.mutable_data_ptr<std::int64_t>() = value;
  group.all_reduce(x, op);
  return *x.const_data_ptr<std::int64_t>();
}

at::Tensor bytes(std::int64_t count) {
  return at::zeros({count}, at::TensorOptions().dtype(at::kByte));
}

at::Tensor bytes_of(const std::string& text, std::int64_t count) {
  at::Tensor all = bytes(count);
  std::memcpy(all.mutable_data_ptr(), text.data(), text.size());
  return all;
}

}  // namespace

std::unique_ptr<Collective> make_self_collective() {
  return std::make_unique<SelfCollective>();
}

at::Tensor all_gather(Collective& group, const at::Tensor& mine) {
  if (mine.dim() == 0) throw ShapeError("all_gather: expected (n, ...), got a single number");
  std::vector<std::int64_t> sizes = mine.sizes().vec();
  sizes[0] *= group.size();
  at::Tensor all = at::empty(sizes, mine.options());
  group.all_gather_into(all, mine);
  return all;
}

std::int64_t largest(Collective& group, std::int64_t value) {
  return reduce(group, value, ReduceOp::Max);
}

std::int64_t total(Collective& group, std::int64_t value) {
  return reduce(group, value, ReduceOp::Sum);
}

std::string broadcast_text(Collective& group, const std::string& text, int root) {
  const bool from_here = group.rank() == root;
  const std::int64_t length =
      largest(group, from_here ? static_cast<std::int64_t>(text.size()) : 0);
  at::Tensor buffer = from_here ? bytes_of(text, length) : bytes(length);
  group.broadcast(buffer, root);
  return {static_cast<const char*>(buffer.const_data_ptr()), static_cast<std::size_t>(length)};
}

std::vector<std::string> gather_text(Collective& group, const std::string& text) {
  at::Tensor mine = at::empty({1}, at::TensorOptions().dtype(at::kLong));
  *mine.mutable_data_ptr<std::int64_t>() = static_cast<std::int64_t>(text.size());
  const at::Tensor lengths = all_gather(group, mine);
  const std::int64_t* const length = lengths.const_data_ptr<std::int64_t>();
  const std::int64_t longest = *std::max_element(length, length + group.size());
  const at::Tensor all = all_gather(group, bytes_of(text, longest));
  const auto* const data = static_cast<const char*>(all.const_data_ptr());
  std::vector<std::string> texts;
  for (int r = 0; r < group.size(); ++r) {
    texts.emplace_back(data + r * longest, static_cast<std::size_t>(length[r]));
  }
  return texts;
}

}  // namespace depthgrid
