#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>

#include "distributed/collective.hpp"
#include "tests/support/thread_exchange.hpp"

namespace depthgrid::testing {

/// A group of ranks that are threads of this process, for host tensors: the control group and the
/// host path beside NCCL, without MPI.
class ThreadGroup {
 public:
  explicit ThreadGroup(int ranks) : ranks_(ranks), exchange_(ranks) {}

  /// Runs `work` on every rank. @return what each rank threw, "" for nothing.
  std::vector<std::string> run(const std::function<void(Collective& group)>& work) {
    std::vector<std::string> problems(static_cast<std::size_t>(ranks_));
    {
      std::vector<std::jthread> threads;
      for (int r = 0; r < ranks_; ++r) {
        threads.emplace_back([this, r, &work, &problems] {
          Member member(*this, r);
          try {
            work(member);
          } catch (const std::exception& e) {
            problems[static_cast<std::size_t>(r)] = e.what();
          }
        });
      }
    }
    return problems;
  }

 private:
  class Member final : public Collective {
   public:
    Member(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}
    std::string_view name() const noexcept override { return "threads"; }
    int rank() const noexcept override { return rank_; }
    int size() const noexcept override { return group_.ranks_; }
    void all_reduce(at::Tensor& x, ReduceOp op) override {
      const std::vector<at::Tensor> all = group_.exchange_.show(rank_, x);
      at::Tensor out = all[0].clone();
      for (std::size_t r = 1; r < all.size(); ++r) {
        out = op == ReduceOp::Max ? at::maximum(out, all[r]) : out + all[r];
      }
      x.copy_(out);
    }
    void broadcast(at::Tensor& x, int root) override {
      x.copy_(group_.exchange_.show(rank_, x)[static_cast<std::size_t>(root)]);
    }
    void all_gather_into(at::Tensor& all, const at::Tensor& mine) override {
      all.copy_(at::cat(group_.exchange_.show(rank_, mine)).view_as(all));
    }
    void all_to_all(at::Tensor& theirs, const at::Tensor& mine) override {
      const std::int64_t n = mine.size(0) / size();
      std::vector<at::Tensor> slices;
      for (const at::Tensor& of : group_.exchange_.show(rank_, mine)) {
        slices.push_back(of.narrow(0, rank_ * n, n));
      }
      theirs.copy_(at::cat(slices));
    }
    std::unique_ptr<Collective> split(int, int) override { return nullptr; }
    void barrier() override { group_.exchange_.meet(); }
    void wait(std::chrono::milliseconds) override {}

   private:
    ThreadGroup& group_;
    int rank_;
  };

  int ranks_;
  ThreadExchange exchange_;
};

}  // namespace depthgrid::testing
