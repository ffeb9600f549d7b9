// Base: theme, drawing and small helpers. Pages opened from disk may load only classic scripts, so this all lives in one function.
if (globalThis.aglab && globalThis.aglab.version) { return; }
const aglab = { version: 1, kinds: {} };
globalThis.aglab = aglab;

const TOKEN = /^@([a-z]+[0-9]?)(?:\/(0?\.[0-9]+|1))?$/;
const CONFIG = { displayModeBar: false, responsive: false, showTips: false, scrollZoom: false };
const drawn = new Set();

function isDark() {
  const theme = document.documentElement.dataset.theme;
  if (theme) { return theme === "dark"; }
  const lab = document.body && document.body.dataset.jpThemeLight;
  if (lab) { return lab === "false"; }
  return Boolean(globalThis.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches);
}

function colour(name, alpha) {
  const hex = PALETTE[isDark() ? "dark" : "light"][name];
  if (!hex || alpha === undefined) { return hex; }
  const part = (start) => parseInt(hex.slice(start, start + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${alpha})`;
}

function themed(value) {
  if (Array.isArray(value)) {
    return value.length && typeof value[0] === "number" ? value : value.map(themed);
  }
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item)]));
  }
  const match = typeof value === "string" && TOKEN.exec(value);
  return (match && colour(match[1], match[2])) || value;
}

// Draw (or redraw) a chart whose colours are tokens; it is redrawn when the theme changes. In JupyterLab Plotly may still be on its
// way, and a cell that is scrolled out of view is taken out of the page: then the chart is drawn when its turn comes.
function draw(place, spec) {
  place.aglabSpec = spec;
  if (!drawn.has(place)) { drawn.add(place); widths.observe(place); }
  if (!globalThis.Plotly || !place.isConnected) { place.aglabStale = true; return Promise.resolve(); }
  place.aglabStale = false;
  place.aglabFont = place.aglabFont || getComputedStyle(place).fontFamily;
  const layout = { ...themed(spec.layout), autosize: true };
  layout.font = { ...layout.font, family: place.aglabFont };
  return Plotly.react(place, themed(spec.data), layout, CONFIG);
}

// A place that comes into view, or whose width a side bar changes, is no resize of the window.
const widths = new ResizeObserver((entries) => requestAnimationFrame(() => {
  for (const { target } of entries) {
    const width = target.clientWidth;
    if (!globalThis.Plotly || !width || !target.aglabSpec) { continue; }
    if (target.aglabStale) { draw(target, target.aglabSpec); } else if (target._fullLayout && target._fullLayout.width !== width) { Plotly.Plots.resize(target); }
  }
}));

function forget(element) {
  for (const place of [...drawn].filter((one) => element.contains(one))) { drawn.delete(place); widths.unobserve(place); }
}

function redraw() {
  for (const place of drawn) { draw(place, place.aglabSpec); }
}

function watchTheme() {
  const observer = new MutationObserver(redraw);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  if (globalThis.matchMedia) { matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw); }
}

// An element with attributes and children; strings become text.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "html") { element.innerHTML = value; } else { element.setAttribute(name, value); }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

let counter = 0;
function unique(stem) {
  counter += 1;
  return `aglab-${stem}-${counter}`;
}

function human(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) { return "n/a"; }
  if (Math.abs(value) >= 1000) { return value.toLocaleString("en-US", { maximumFractionDigits: 0 }); }
  return String(Number(value.toPrecision(3)));
}

// What a reader did, kept in this browser only. Private windows and strict settings may refuse: then nothing is kept.
function recall(key) {
  try { return JSON.parse(localStorage.getItem(`aglab:${key}`)); } catch { return null; }
}
function remember(key, value) {
  try { localStorage.setItem(`aglab:${key}`, JSON.stringify(value)); } catch { /* nothing is kept */ }
}

function specOf(block) {
  const holder = block.querySelector(":scope > script.aglab-spec");
  return holder ? JSON.parse(holder.textContent) : null;
}
