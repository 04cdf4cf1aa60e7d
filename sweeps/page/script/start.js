// The start, once the page is read.

/** The data of the page, or null if there is none, or nothing that can be used. */
function pageModel() {
  const data = document.getElementById("curves-data");
  if (data === null || document.getElementById("curves-live") === null) return null;
  try {
    const model = readModel(data.textContent);
    return model.curves.length > 0 ? model : null;
  } catch (error) {
    console.error("curves-data:", error);  // the static picture stays
    return null;
  }
}

function start() {
  const model = pageModel() || {metrics: [""], arms: [], curves: [], groups: []};
  const address = new Address(model), state = address.read() || freshState(model.groups);
  const picture = model.curves.length > 0 ? new Picture() : null;
  if (picture !== null && picture.works) {
    const view = new View(model, state, address, picture);
    view.show(document.getElementById("curves-live"), document.getElementById("curves-static"));
  } else {
    new ThemeButton(state, () => address.write(state));
  }
}

start();
