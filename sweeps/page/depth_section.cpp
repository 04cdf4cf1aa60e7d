#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "storage/columns/variables.hpp"
#include "sweeps/page/depth_pictures.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/band_plot.hpp"

namespace depthgrid {
namespace {

constexpr std::array kPictures = {
    DepthPicture{{"trajectory_norm_mean", "depth_edge"}, "Norm of the state", "state along depth"},
    DepthPicture{{"trajectory_relative_velocity", "depth"},
                 "Length of a step, relative to the state",
                 "step of depth"},
    DepthPicture{{"trajectory_cosine_step", "depth"},
                 "Direction of a step beside the one before it",
                 "step of depth"},
    DepthPicture{{"trajectory_effective_rank", "depth_edge"},
                 "Effective rank of the states",
                 "state along depth"},
    DepthPicture{
        {"logit_lens_loss", "depth_edge"}, "Loss if depth ended here", "state along depth"},
    DepthPicture{{"gradient_norm_depth", "depth"}, "Gradient behind each step", "step of depth"},
    DepthPicture{{"gate_mean", "depth"}, "Mean of the gates", "step of depth"},
    DepthPicture{{"gate_std", "depth"}, "Spread of the gates", "step of depth"},
    DepthPicture{{"lyapunov_exponent", "exponent"},
                 "Lyapunov exponents of the depth",
                 "exponent, from the largest down"},
    DepthPicture{
        {"lyapunov_local_stretch", "depth"}, "Largest stretch of a step (ln)", "step of depth"},
    DepthPicture{{"attention_entropy", "layer"}, "Entropy of attention", "layer"},
    DepthPicture{{"routing_rate", "layer"}, "Share of tokens that are executed", "layer"},
};

Table profile_table(const std::vector<BandCurve>& curves, std::string_view variable) {
  Table out{{{"arm"}, {"place"}, {std::string(variable)}, {"lowest"}, {"highest"}}, {}};
  for (const BandCurve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      out.rows.push_back({curve.label, shortest(curve.x[i]), shortest(curve.mean[i]),
                          shortest(curve.low[i]), shortest(curve.high[i])});
    }
  }
  return out;
}

}  // namespace

std::span<const DepthPicture> depth_pictures() {
  return kPictures;
}

PageBlocks depth_section(const PageData& data) {
  PageBlocks out;
  for (std::size_t i = 0; i < data.profiles.size(); ++i) {
    BandPlotData plot;
    for (const BandCurve& curve : data.profiles[i]) {
      if (curve.x.empty()) continue;
      plot.curves.push_back(curve);
      plot.curves.back().label = without_folders(curve.label);
    }
    if (plot.curves.empty()) continue;
    const DepthPicture& picture = kPictures.at(i);
    const Variable* const variable = find_variable(picture.of.variable);
    const bool unit = variable != nullptr && variable->units != "1";
    ChartText text;
    text.id = fmt::format("depth-{}", i);
    text.title = picture.title;
    text.description = fmt::format(
        "{}, at the last look of the probe: the mean of each arm's seeds, and their range.",
        picture.of.variable);
    text.x_label = picture.x_label;
    text.y_label =
        fmt::format("{}{}", picture.of.variable, unit ? fmt::format(" ({})", variable->units) : "");
    out.emplace_back(PageText{PageText::Kind::Heading, text.title});
    out.emplace_back(PageChart{text.id, text.title, text.description, band_plot(plot, text),
                               profile_table(plot.curves, picture.of.variable)});
  }
  return out;
}

}  // namespace depthgrid
