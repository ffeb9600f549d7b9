// Start: bring every block of the page to life, and offer the same to JupyterLab.
function boot(block, model) {
  if (block.dataset.aglabReady) { return; }
  block.dataset.aglabReady = "yes";
  aglab.kinds[block.dataset.aglab](block, model);
}

function bootAll() {
  watchTheme();
  for (const block of document.querySelectorAll("[data-aglab]")) { boot(block, null); }
}

// JupyterLab has no Plotly of its own to share: the kernel sends it once, and every widget of the page uses it.
function plotlyFrom(model) {
  if (globalThis.Plotly) { return Promise.resolve(); }
  if (!aglab.plotly) {
    aglab.plotly = new Promise((resolve) => {
      model.on("msg:custom", (message, buffers) => {
        if (message.kind !== "plotly") { return; }
        // JupyterLab's own chart renderer may have brought Plotly in the meantime.
        if (!globalThis.Plotly) { document.head.append(make("script", {}, new TextDecoder().decode(buffers[0]))); }
        resolve();
      });
      model.send({ kind: "plotly" });
    });
  }
  return aglab.plotly;
}

aglab.widget = function (model, element) {
  const holder = make("div", { class: "aglab-lab", html: model.get("html") });
  element.append(holder);
  const block = holder.querySelector("[data-aglab]");
  watchTheme();
  if (block.dataset.aglab === "quiz") { boot(block, null); } else { plotlyFrom(model).then(() => boot(block, model)); }
};

if (!document.querySelector("[data-aglab]") && document.readyState !== "loading") {
  // Inside JupyterLab: blocks come through aglab.widget.
} else if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", bootAll);
} else {
  bootAll();
}
