#include "sweeps/report/evaluation_windows.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace depthgrid {
namespace {

/// The number of a leaf; 0 for null, which means all.
double asked_for(const Listing& listing, std::size_t row, const char* leaf) {
  const double number = listing.leaves.number(row, leaf);
  return std::isnan(number) ? 0 : number;
}

double windows_asked(const Listing& listing, std::size_t row, WindowsOf which) {
  if (which == WindowsOf::Final) return asked_for(listing, row, "eval.final_windows");
  const double periodic = asked_for(listing, row, "eval.windows");
  if (which == WindowsOf::Periodic) return periodic;
  const double modes = asked_for(listing, row, "eval.mode_windows");
  return modes == 0 || periodic == 0 ? std::max(modes, periodic) : std::min(modes, periodic);
}

/// What the figures of one name are the mean of: "64 windows", "the whole split", or that cells
/// differ. Cells without such a figure (pending, diverged before it, failed) say nothing, unless
/// none has one.
std::string windows_of_figure(const Listing& listing, const std::vector<std::size_t>& cells,
                              const std::string& name, WindowsOf which) {
  const std::string tokens =
      (which == WindowsOf::Final ? "final_tokens" : "eval_tokens") + name.substr(name.find('.'));
  std::set<double> seen, asked;
  for (const std::size_t row : cells) {
    asked.insert(windows_asked(listing, row, which));
    if (!listing.cells[row].metrics.contains(name)) continue;
    seen.insert(windows_seen(listing, row, which, tokens));
  }
  const std::set<double>& numbers = seen.empty() ? asked : seen;
  if (numbers.size() > 1) return "numbers of windows that differ between cells";
  if (numbers.empty() || *numbers.begin() == 0) return "the whole split";
  return shortest(*numbers.begin()) + (*numbers.begin() == 1 ? " window" : " windows");
}

/// The same of all shown names with this stem: once if it is one text, else split by split.
std::string windows_of_stem(const Listing& listing, const std::vector<std::size_t>& cells,
                            const std::vector<std::string>& names, std::string_view stem,
                            WindowsOf which) {
  std::set<std::string> texts;
  std::string each;
  for (const std::string& name : names) {
    if (!name.starts_with(stem)) continue;
    const std::string text = windows_of_figure(listing, cells, name, which);
    texts.insert(text);
    each += (each.empty() ? "" : ", ") + text + " (" + name.substr(stem.size()) + ")";
  }
  return texts.size() == 1 ? *texts.begin() : each;
}

}  // namespace

double windows_seen(const Listing& listing, std::size_t row, WindowsOf which,
                    const std::string& tokens) {
  const double asked = windows_asked(listing, row, which);
  const auto& metrics = listing.cells[row].metrics;
  const auto counted = metrics.find(tokens);
  if (counted == metrics.end()) return asked;
  const double fresh = listing.leaves.number(row, "eval.stride");  // tokens a window adds, at least
  return counted->second <= (asked - 1) * fresh ? 0 : asked;
}

std::string eval_windows(const Listing& listing, const std::vector<std::size_t>& cells) {
  const auto slides = [&listing](std::size_t row) {
    return listing.leaves.number(row, "eval.stride") < listing.leaves.number(row, "data.seq_len");
  };
  const auto sliding = static_cast<std::size_t>(std::ranges::count_if(cells, slides));
  if (sliding == 0) return "disjoint";
  return sliding == cells.size() ? "sliding" : "mixed";
}

std::string losses_note(const Listing& listing, const std::vector<std::size_t>& cells,
                        const std::vector<std::string>& names) {
  const auto shown = [&names](std::string_view stem) {
    return std::ranges::any_of(names, [stem](const auto& name) { return name.starts_with(stem); });
  };
  if (!shown("eval_loss.") || !shown("final_loss.")) return {};
  return "final_loss: the last weights on " +
         windows_of_stem(listing, cells, names, "final_loss.", WindowsOf::Final) +
         "; eval_loss: the last periodic evaluation, on " +
         windows_of_stem(listing, cells, names, "eval_loss.", WindowsOf::Periodic) + "\n";
}

}  // namespace depthgrid
