// Start: bring every block of the page to life, and offer the same to JupyterLab.
function boot(block, model) {
  if (block.dataset.aglabReady) { return; }
  block.dataset.aglabReady = "yes";
  aglab.kinds[block.dataset.aglab](block, model);
}

function bootAll() {
  takeProgress();
  watchTheme();
  for (const block of document.querySelectorAll("[data-aglab]")) { boot(block, null); }
}

// JupyterLab has no Plotly of its own to share: the kernel sends it on request. Every widget asks for itself, because a kernel that
// is restarted never answers what its predecessor was asked.
function plotlyFrom(model) {
  if (globalThis.Plotly) { return; }
  model.on("msg:custom", (message, buffers) => {
    if (message.kind !== "plotly") { return; }
    // JupyterLab's own chart renderer, or another widget, may have brought Plotly in the meantime.
    if (!globalThis.Plotly) { document.head.append(make("script", {}, new TextDecoder().decode(buffers[0]))); }
    redraw();
  });
  model.send({ kind: "plotly" });
}

let watching = false;

// Returns what JupyterLab calls when the output is taken away.
aglab.widget = function (model, element) {
  const holder = make("div", { class: "aglab-lab", html: model.get("html") });
  element.append(holder);
  const block = holder.querySelector("[data-aglab]");
  if (!watching) { watching = true; watchTheme(); }
  if (!["quiz", "living"].includes(block.dataset.aglab)) { plotlyFrom(model); }
  boot(block, model);
  return () => forget(holder);
};

if (!document.querySelector("[data-aglab]") && document.readyState !== "loading") {
  // Inside JupyterLab: blocks come through aglab.widget.
} else if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", bootAll);
} else {
  bootAll();
}
