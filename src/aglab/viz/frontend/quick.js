// Quick: while a slider moves, only the values of a chart change. Then its lines and marks are moved in place, which takes a
// millisecond; Plotly draws the same chart in full as soon as the slider rests. What does not fit exactly is left to Plotly at once.
const RESTED_MS = 400;

// Everything about a chart but the values that may move.
function skeleton(spec) {
  const rest = spec.data.map(({ y, x, ...others }) => (others.mode === "markers" ? others : { ...others, x }));
  return JSON.stringify([spec.layout, rest]);
}

function quick(place, spec) {
  clearTimeout(place.aglabRest);
  const shape = skeleton(spec);
  if (place.aglabStale === false && place.aglabShape === shape && moveTraces(place, spec)) {
    place.aglabSpec = spec;
    place.aglabRest = setTimeout(() => draw(place, spec), RESTED_MS);
    place.dispatchEvent(new CustomEvent("aglab-drawn"));
    return;
  }
  place.aglabShape = shape;
  draw(place, spec).then(() => place.dispatchEvent(new CustomEvent("aglab-drawn")));
}

function moveTraces(place, spec) {
  const plots = place._fullLayout && place._fullLayout._plots;
  if (!plots || !place.isConnected || !place.calcdata || place.calcdata.length !== spec.data.length) { return false; }
  const moves = [];
  for (const points of place.calcdata) {
    const trace = points[0] && points[0].trace;
    const wanted = trace && spec.data[trace.index];
    const plot = trace && plots[trace.xaxis + trace.yaxis];
    const node = trace && place.querySelector(`.scatterlayer .trace${trace.uid}`);
    if (!wanted || !plot || !node || points.length !== wanted.y.length) { return false; }
    const across = wanted.x.map((x) => plot.xaxis.c2p(plot.xaxis.d2c(x)));
    const up = wanted.y.map((y) => plot.yaxis.c2p(y));
    const marks = node.querySelectorAll(".points path.point");
    const line = node.querySelector(".lines path.js-line");
    const lines = wanted.mode.includes("lines");
    if (![...across, ...up].every(Number.isFinite) || (lines && !line) || (wanted.mode.includes("markers") && marks.length !== points.length)) { return false; }
    moves.push(() => {
      if (lines) { line.setAttribute("d", `M${across.map((x, at) => `${x.toFixed(2)},${up[at].toFixed(2)}`).join("L")}`); }
      marks.forEach((mark, at) => mark.setAttribute("transform", `translate(${across[at].toFixed(2)},${up[at].toFixed(2)})`));
      points.forEach((point, at) => { point.y = wanted.y[at]; point.x = plot.xaxis.d2c(wanted.x[at]); });
      place.data[trace.index].y = wanted.y;
      place.data[trace.index].x = wanted.x;
    });
  }
  moves.forEach((move) => move());
  return true;
}
