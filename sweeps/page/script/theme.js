// Colours, dashes, and the theme that the reader chooses.

// As series_dashes(): shifted by one after eight series.
const kDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [16, 4], [5, 5], [10, 3, 2, 3, 2, 3], [1, 5]];

const dashesOf = (series) => kDashes[(series + Math.floor(series / 8)) % 8];

function setTheme(theme) {
  const root = document.documentElement;
  if (theme === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme);
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name, usual) => style.getPropertyValue("--chart-" + name).trim() || usual;
  const out = {series: [], background: named("background", "Canvas")};
  const names = ["text", "muted", "axis", "grid", "zero"];
  for (const name of names) out[name] = named(name, "CanvasText");
  for (let i = 0; i < 8; ++i) out.series.push(named("s" + i, "CanvasText"));
  return out;
}

/** The colours of paper, whatever the theme of the screen. */
function readLightColours(theme) {
  setTheme("light");
  const out = readColours();
  setTheme(theme);
  return out;
}

/** In the element "page-tools", else in the header of the page. */
class ThemeButton {
  constructor(state, changed) {
    this.state = state;
    this.button = button("", () => {
      state.theme = kThemes[(kThemes.indexOf(state.theme) + 1) % kThemes.length];
      this.write();
      changed();
    }, {class: "theme"});
    const place = document.getElementById("page-tools") || document.querySelector("header");
    (place || document.body).append(this.button);
    this.write();
  }

  /** The theme of the state, on the button and on the page. */
  write() {
    setTheme(this.state.theme);
    this.button.textContent = `Theme: ${this.state.theme}`;
  }
}
