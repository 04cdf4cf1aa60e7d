#include "core/depth/step_tape.hpp"

#include <unordered_set>

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

namespace depthgrid {
namespace {

using torch::autograd::Edge;
using torch::autograd::Node;
using torch::autograd::impl::gradient_edge;

at::Tensor cut_off(const at::Tensor& x) {
  return x.detach().requires_grad_();
}

}  // namespace

std::size_t CapturedGradients::index(const Edge& edge) {
  const auto [at, added] = known_.try_emplace({edge.function.get(), edge.input_nr}, edges_.size());
  if (added) {
    edges_.push_back(edge);
    gradients.emplace_back();
  }
  return at->second;
}

StepTape::StepTape(const DepthState& inputs)
    : enabled_(true), begin_(at::sequence_number::peek()), inputs_{cut_off(inputs.x)} {
  for (const at::Tensor& m : inputs.memory) inputs_.memory.push_back(cut_off(m));
}

std::vector<std::size_t> StepTape::captures(const std::vector<at::Tensor>& results,
                                            CapturedGradients& captured) const {
  std::unordered_set<const Node*> own, seen;
  own.insert(gradient_edge(inputs_.x).function.get());
  for (const at::Tensor& m : inputs_.memory) own.insert(gradient_edge(m).function.get());
  std::vector<std::size_t> places;
  std::unordered_set<std::size_t> listed;
  std::vector<Edge> open;
  for (const at::Tensor& y : results) {
    if (y.defined() && y.requires_grad()) open.push_back(gradient_edge(y));
  }
  while (!open.empty()) {
    const Edge edge = open.back();
    open.pop_back();
    Node* const node = edge.function.get();
    if (node == nullptr || own.contains(node)) continue;
    // Nodes are numbered as they are made; those of parameters have the highest number of all.
    const bool parameter = node->next_edges().empty();
    if (parameter || node->sequence_nr() < begin_) {
      const std::size_t place = captured.index(edge);
      if (listed.insert(place).second) places.push_back(place);
      continue;
    }
    if (!seen.insert(node).second) continue;
    for (const Edge& next : node->next_edges()) open.push_back(next);
  }
  return places;
}

StateGradient StepTape::pull_back(const std::vector<at::Tensor>& results,
                                  const std::vector<at::Tensor>& cotangents,
                                  const std::vector<std::size_t>& places,
                                  CapturedGradients& captured) const {
  torch::autograd::edge_list roots, wanted;
  torch::autograd::variable_list seeds;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!cotangents[i].defined() || !results[i].defined() || !results[i].requires_grad()) continue;
    roots.push_back(gradient_edge(results[i]));
    seeds.push_back(cotangents[i]);
  }
  wanted.push_back(gradient_edge(inputs_.x));
  for (const at::Tensor& m : inputs_.memory) wanted.push_back(gradient_edge(m));
  for (const std::size_t place : places) {
    wanted.push_back(captured.edges()[place]);
    at::Tensor& sum = captured.gradients[place];
    if (!sum.defined()) continue;
    roots.push_back(captured.edges()[place]);  // a root's seed arrives before all else
    seeds.push_back(std::move(sum));
  }
  StateGradient out;
  out.memory.resize(inputs_.memory.size());
  if (roots.empty()) return out;
  torch::autograd::variable_list found = torch::autograd::Engine::get_default_engine().execute(
      roots, seeds, /*keep_graph=*/false, /*create_graph=*/false, /*accumulate_grad=*/false,
      wanted);
  out.x = std::move(found[0]);
  for (std::size_t i = 0; i < out.memory.size(); ++i) out.memory[i] = std::move(found[1 + i]);
  const std::size_t first = 1 + out.memory.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    captured.gradients[places[i]] = std::move(found[first + i]);
  }
  return out;
}

}  // namespace depthgrid
