#pragma once

#include <functional>
#include <thread>
#include <vector>

#include <ATen/TensorOperators.h>

#include "core/train/gradient_sync.hpp"
#include "tests/support/thread_exchange.hpp"

namespace depthgrid::testing {

/// A team of R ranks that are threads of this process. Sums in rank order, as BucketSync does.
class ThreadTeam {
 public:
  explicit ThreadTeam(int ranks) : ranks_(ranks), exchange_(ranks) {}

  /// Runs `rank_work` on every rank. It must not throw.
  void run(const std::function<void(GradientSync&)>& rank_work) {
    std::vector<std::jthread> threads;
    for (int r = 0; r < ranks_; ++r) {
      threads.emplace_back([this, r, &rank_work] {
        Member member(*this, r);
        rank_work(member);
      });
    }
  }

 private:
  class Member final : public GradientSync {
   public:
    Member(ThreadTeam& team, int rank) : team_(team), rank_(rank) {}
    int rank() const noexcept override { return rank_; }
    int ranks() const noexcept override { return team_.ranks_; }
    void sum(at::Tensor& x) override {
      const std::vector<at::Tensor> all = team_.exchange_.show(rank_, x);
      x.copy_(all[0]);
      for (std::size_t r = 1; r < all.size(); ++r) x.add_(all[r]);
    }
    void begin_sum(const at::Tensor& x) override {
      at::Tensor same = x;
      sum(same);
    }
    void finish_sums() override {}
    void broadcast(at::Tensor& x, int root) override {
      x.copy_(team_.exchange_.show(rank_, x)[static_cast<std::size_t>(root)]);
    }
    std::int64_t largest(std::int64_t value) override { return value; }

   private:
    ThreadTeam& team_;
    int rank_;
  };

  int ranks_;
  ThreadExchange exchange_;
};

}  // namespace depthgrid::testing
