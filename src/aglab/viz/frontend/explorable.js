// An explorable: controls, a read-out, curves over time for one setting, and results along one parameter.
const DASHES = ["solid", "dash", "dot", "dashdot"];

aglab.kinds.explorable = function (block, model) {
  const spec = specOf(block);
  const source = model ? kernelSource(spec, model) : surfaceSource(spec);
  const body = block.querySelector(".aglab-body");
  const defaults = spec.parameters.map((parameter) => parameter.index);
  const state = { at: defaults.slice(), first: null, now: null, curve: null };
  state.tops = { outputs: spec.outputs.map((_, place) => topOf(spec, "outputs", place)), series: spec.series.map((_, place) => topOf(spec, "series", place)) };
  const view = build(body, spec, state, moved);
  let newest = 0;       // counts moves
  let asking = false;   // one question at a time; the newest position is asked for when the answer is here
  let frame = 0;
  let curveTimer = 0;
  let curveKey = "";    // what the second chart shows, or is being asked for

  function moved() {
    newest += 1;
    if (!asking) { ask(); }
  }

  function ask() {
    const at = state.at.slice();
    const mine = newest;
    const slow = setTimeout(() => view.waiting(true), PATIENCE_MS);
    asking = true;
    source([at], true).then((answer) => {
      arrived(at, answer.outputs[0], answer.series[0]);
    }).catch(view.failed).finally(() => {
      clearTimeout(slow);
      view.waiting(false);
      asking = false;
      if (mine !== newest) { ask(); }   // the kernel computes while this page draws
    });
  }

  function arrived(at, outputs, series) {
    state.now = { at, outputs, series };
    state.first = state.first || state.now;
    raise(state.tops.series, series.map((values) => Math.max(...values)));
    if (keyOf(at) !== curveKey) {
      curveKey = keyOf(at);
      clearTimeout(curveTimer);
      if (model) { curveTimer = setTimeout(curve, SETTLED_MS, at, curveKey); } else { curve(at, curveKey); }
    }
    // Several answers within one frame are drawn once.
    frame = frame || requestAnimationFrame(paint);
  }

  function paint() {
    frame = 0;
    view.readout(state);
    view.time(state);
    if (state.curve && state.curve.key === keyOf(state.now.at)) { view.curve(state); }
  }

  // The second chart depends on every parameter but its own: it is asked for again only when another one moves.
  const axis = spec.parameters.findIndex((parameter) => parameter.key === spec.curve.over);
  const keyOf = (at) => at.map((position, place) => (place === axis ? "" : position)).join(",");

  // A kernel gets its points a few at a time, so that a slider that moves meanwhile never waits for all of them.
  function curve(at, key) {
    const count = spec.parameters[axis].values.length;
    const stride = Math.max(1, Math.ceil(count / 16));
    const steps = [...Array(count).keys()].filter((step) => step % stride === 0 || step === count - 1);
    const points = steps.map((step) => at.map((position, place) => (place === axis ? step : position)));
    const outputs = [];
    const next = () => {
      if (key !== curveKey) { return null; }
      if (outputs.length < points.length) {
        return source(points.slice(outputs.length, model ? outputs.length + 1 : undefined), false).then((answer) => {
          outputs.push(...answer.outputs);
          return next();
        });
      }
      state.curve = { key, steps, axis, outputs };
      outputs.forEach((values) => raise(state.tops.outputs, values));
      frame = frame || requestAnimationFrame(paint);
      return null;
    };
    return Promise.resolve(next()).catch(view.failed);
  }

  // The cell that shows this widget has the first answer already: it stands before the kernel is free again.
  if (spec.answer) { arrived(defaults.slice(), spec.answer.outputs, spec.answer.series); } else { moved(); }
};

const PATIENCE_MS = 4000;
const SETTLED_MS = 150;

// Axes keep their height while a slider moves, so that a change looks as large as it is: the surface's maximum, or the largest value seen.
function topOf(spec, kind, place) {
  const packed = spec.surface && spec.surface[kind][place];
  return packed ? packed.low + 65535 * packed.step : 0;
}

// A kernel's values may pass every one before: then the axis takes a whole step, because a new height draws the chart anew and that
// takes longer than all the rest of an answer. A surface has its maximum from the start; rounding alone never moves it.
function raise(tops, values) {
  values.forEach((value, place) => { if (value > tops[place] * 1.0001) { tops[place] = roomy(value); } });
}

const STEPS = [1, 1.5, 2, 3, 4, 6, 8, 10];
function roomy(value) {
  if (!(value > 0)) { return value; }
  const tenth = 10 ** Math.floor(Math.log10(value));
  return tenth * STEPS.find((step) => step * tenth >= value * 0.9999);
}

const span = (top, divisor) => ({ range: [0, top > 0 ? 1.06 * top / divisor : 1] });

function build(body, spec, state, moved) {
  const controls = make("div", { class: "aglab-controls", role: "group", "aria-label": "Parameters" });
  const cards = make("div", { class: "aglab-cards", role: "status", "aria-live": "polite" });
  const timePlot = make("div", { class: "aglab-plot" });
  const curvePlot = make("div", { class: "aglab-plot" });
  const timeAlt = make("p", { class: "aglab-alt" });
  const figures = make("div", { class: "aglab-pair" },
    make("figure", { "aria-label": "Over time, at this setting" }, make("p", { class: "aglab-subtitle" }, "Over time, at this setting"), timeAlt, timePlot),
    make("figure", { "aria-label": "Along one parameter" }, make("p", { class: "aglab-subtitle" }, `Along ${overOf(spec).label}`), curvePlot));
  if (!spec.series.length) { figures.firstChild.hidden = true; }
  const reset = make("button", { type: "button", class: "aglab-button" }, "Back to the start");
  const setters = spec.parameters.map((parameter, axis) => control(controls, parameter, (position) => {
    state.at[axis] = position;
    moved();
  }));
  reset.addEventListener("click", () => {
    spec.parameters.forEach((parameter, axis) => { state.at[axis] = parameter.index; setters[axis](parameter.index); });
    moved();
  });
  controls.append(reset);
  const waiting = make("p", { class: "aglab-note", role: "status", hidden: "" },
    "The kernel has not answered yet: it is busy with another cell, or it was restarted. After a restart, run this cell again.");
  body.replaceChildren(controls, waiting, cards, figures, make("p", { class: "aglab-note" }, noteOf(spec)));
  return {
    readout: (current) => readout(cards, spec, current),
    time: (current) => { timeAlt.textContent = timeText(spec, current); quick(timePlot, timeChart(spec, current)); },
    curve: (current) => quick(curvePlot, curveChart(spec, current)),
    waiting: (yes) => { waiting.hidden = !yes; },
    failed: (error) => { cards.replaceChildren(make("p", { class: "aglab-wrong" }, error.message)); },
  };
}

const overOf = (spec) => spec.parameters.find((parameter) => parameter.key === spec.curve.over);

function noteOf(spec) {
  const origin = spec.live ? "computed by this notebook's kernel" : "computed when the book was built, one engine run for each position of the sliders";
  return `${spec.label}; ${origin}.`;
}

// One slider or choice; returns a function that moves it.
function control(parent, parameter, changed) {
  const id = unique("parameter");
  const shown = make("output", { for: id, class: "aglab-value" });
  const label = make("label", { for: id }, parameter.label);
  const help = parameter.help ? make("p", { class: "aglab-help", id: `${id}-help` }, parameter.help) : null;
  const described = help ? { "aria-describedby": `${id}-help` } : {};
  let input;
  if (parameter.kind === "choice") {
    input = make("select", { id, ...described }, ...parameter.texts.map((text, place) => make("option", { value: String(place) }, text)));
  } else {
    input = make("input", { id, type: "range", min: "0", max: String(parameter.values.length - 1), step: "1", ...described });
  }
  const set = (position) => {
    input.value = String(position);
    shown.textContent = parameter.kind === "choice" ? "" : parameter.texts[position];
    input.setAttribute("aria-valuetext", parameter.texts[position]);
    if (parameter.kind === "choice") { input.removeAttribute("aria-valuetext"); }
  };
  input.addEventListener("input", () => { const position = Number(input.value); set(position); changed(position); });
  set(parameter.index);
  parent.append(make("div", { class: "aglab-control" }, make("div", { class: "aglab-control-head" }, label, shown), input, help));
  return set;
}

function readout(cards, spec, state) {
  const moved = state.now !== state.first && state.now.at.some((position, axis) => position !== state.first.at[axis]);
  if (cards.children.length !== spec.outputs.length || !cards.querySelector(".aglab-card")) {
    cards.replaceChildren(...spec.outputs.map((output) => make("div", { class: "aglab-card", title: output.help || "" },
      make("span", { class: "aglab-card-name" }, output.label),
      make("span", { class: "aglab-card-value" }, "", make("small", {}, ` ${output.unit}`)),
      make("span", { class: "aglab-card-change" }, " "))));
  }
  spec.outputs.forEach((output, place) => {
    const value = state.now.outputs[place] / output.divisor;
    const start = state.first.outputs[place] / output.divisor;
    const share = start !== 0 ? 100 * (value - start) / Math.abs(start) : null;
    const change = moved && share !== null ? `${share >= 0 ? "+" : "−"}${human(Math.abs(share))} % from the start` : moved ? `start: ${human(start)}` : "\u00a0";
    const [, shown, below] = cards.children[place].children;
    shown.firstChild.data = human(value);
    below.textContent = change;
  });
}

function timeText(spec, state) {
  const said = spec.series.map((item, place) => {
    const values = state.now.series[place].map((value) => value / item.divisor);
    return `${item.label} from ${human(Math.min(...values))} to ${human(Math.max(...values))} ${item.unit}`;
  });
  return `${said.join("; ")}. ${spec.label}`;
}

// Panels on one shared horizontal axis, titles above each: the twin of aglab.viz.panels.
function panels(titles, xTitle, label, panelPx) {
  const gap = 44;
  const inner = panelPx * titles.length + gap * (titles.length - 1);
  const axis = { gridcolor: "@grid", linecolor: "@axis", zerolinecolor: "@grid", tickfont: { color: "@muted" }, fixedrange: true };
  const note = { xref: "paper", yref: "paper", x: 0, xanchor: "left", yanchor: "bottom", showarrow: false };
  const layout = {
    height: inner + 58 + 74, margin: { l: 8, r: 12, t: 58, b: 74 }, font: { color: "@ink", size: 12 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x unified", dragmode: false,
    hoverlabel: { bgcolor: "@paper", bordercolor: "@axis", font: { color: "@ink" } },
    legend: { orientation: "h", x: 0, xanchor: "left", y: -50 / inner, yanchor: "top", bgcolor: "rgba(0,0,0,0)" },
    annotations: [], shapes: [],
    title: { text: label, x: 0, xref: "container", xanchor: "left", y: 1, yref: "container", yanchor: "top", pad: { t: 8, l: 2 }, font: { size: 11, color: "@muted" } },
  };
  titles.forEach((title, index) => {
    const top = 1 - index * (panelPx + gap) / inner;
    layout[`yaxis${index ? index + 1 : ""}`] = { ...axis, domain: [Math.max(0, top - panelPx / inner), top], rangemode: "tozero", automargin: true, nticks: 5 };
    layout.annotations.push({ ...note, text: title, y: top, yshift: 4, font: { size: 13, color: "@ink" } });
  });
  layout.xaxis = { ...axis, title: { text: xTitle, standoff: 6 }, anchor: `y${titles.length > 1 ? titles.length : ""}`, showgrid: false };
  return layout;
}

// A counter's name already says "/sec"; only other units are worth their room.
const withUnit = (item) => (/\/sec\b/.test(item.label) || !item.unit ? item.label : `${item.label} (${item.unit})`);
const axisName = (index) => `y${index ? index + 1 : ""}`;

function timeChart(spec, state) {
  const layout = panels(spec.series.map((item) => withUnit(item)), "seconds", spec.label, 120);
  spec.series.forEach((item, place) => Object.assign(layout[`yaxis${place ? place + 1 : ""}`], span(state.tops.series[place], item.divisor)));
  const moved = state.now !== state.first;
  const traces = [];
  spec.series.forEach((item, place) => {
    const line = (values, extra) => ({
      type: "scatter", mode: "lines", x: spec.time, y: values.map((value) => value / item.divisor), yaxis: axisName(place),
      hovertemplate: `%{y:,.3~s} ${item.unit}`, showlegend: place === 0 && moved, ...extra });
    if (moved) {
      traces.push(line(state.first.series[place], { name: "start", legendgroup: "start", line: { color: "@muted", width: 1.2, dash: "dot" } }));
    }
    traces.push(line(state.now.series[place], { name: "this setting", legendgroup: "now", line: { color: `@s${place}`, width: 1.8 } }));
  });
  return { data: traces, layout };
}

function curveChart(spec, state) {
  const over = spec.parameters[state.curve.axis];
  const shown = spec.curve.outputs.map((key) => spec.outputs.findIndex((output) => output.key === key));
  const layout = panels(shown.map((place) => withUnit(spec.outputs[place])), over.label, spec.label, 120);
  shown.forEach((place, index) => Object.assign(layout[`yaxis${index ? index + 1 : ""}`], span(state.tops.outputs[place], spec.outputs[place].divisor)));
  layout.showlegend = false;
  layout.margin.b = 50;
  layout.height -= 24;
  layout.hovermode = "closest";
  const shorter = (step) => (over.unit ? over.texts[step].replace(` ${over.unit}`, "") : over.texts[step]);
  const steps = state.curve.steps;
  const each = Math.ceil(steps.length / 6);
  const ticks = steps.filter((_, place) => (steps.length - 1 - place) % each === 0);
  // Positions of the slider, evenly spaced; the mark has its own exact value and may stand between two points of the line.
  layout.xaxis = { ...layout.xaxis, tickmode: "array", tickvals: ticks, ticktext: ticks.map(shorter), tickangle: 0,
    range: [-0.04 * over.values.length, 1.04 * over.values.length - 1], zeroline: false };
  if (over.unit) { layout.xaxis.title = { text: `${over.label} (${over.unit})`, standoff: 6 }; }
  const current = state.now.at[state.curve.axis];
  const traces = [];
  shown.forEach((place, index) => {
    const output = spec.outputs[place];
    traces.push({
      type: "scatter", mode: "lines+markers", x: steps, text: steps.map(shorter), y: state.curve.outputs.map((values) => values[place] / output.divisor),
      yaxis: axisName(index), line: { color: `@s${index}`, width: 2, dash: DASHES[index % 4] }, marker: { size: 6 },
      hovertemplate: `%{text}: %{y:,.3~s} ${output.unit}<extra></extra>` });
    traces.push({
      type: "scatter", mode: "markers", x: [current], y: [state.now.outputs[place] / output.divisor], yaxis: axisName(index), hoverinfo: "skip",
      marker: { size: 15, color: "rgba(0,0,0,0)", line: { width: 2.5, color: "@ink" } } });
  });
  return { data: traces, layout };
}
