// A response surface: 16-bit steps per quantity, last parameter fastest (see aglab.viz.surface).
function unpack(packed) {
  const text = atob(packed.data);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const values = new Float64Array(bytes.length / 2);
  for (let place = 0; place < values.length; place += 1) {
    values[place] = packed.low + packed.step * view.getUint16(2 * place, true);
  }
  return values;
}

// A source of answers. Both kinds give a promise of {outputs: [[...]], series: [[[...]]]} for a list of positions.
function surfaceSource(spec) {
  const shape = spec.surface.shape;
  const outputs = spec.surface.outputs.map(unpack);
  const series = spec.surface.series.map(unpack);
  const length = spec.time.length;
  const flat = (positions) => positions.reduce((sum, position, axis) => sum * shape[axis] + position, 0);
  return function (points) {
    const at = points.map(flat);
    return Promise.resolve({
      outputs: at.map((point) => outputs.map((values) => values[point])),
      series: at.map((point) => series.map((values) => Array.from(values.subarray(point * length, (point + 1) * length)))),
    });
  };
}

// In JupyterLab the kernel answers; messages carry an id so that a late answer is not taken for the newest. The engine gives the same
// answer for the same position, so a position that was asked for once is not asked for again.
const KEPT_MAX = 500;
function kernelSource(spec, model) {
  const kept = new Map();
  const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (message) => {
    if (message.kind !== "answer" || !waiting.has(message.id)) { return; }
    const [resolve, reject] = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) { reject(new Error(message.error)); } else { resolve(message); }
  });
  return function (points, withSeries) {
    const known = points.map((positions) => kept.get(positions.join()));
    if (known.every((one) => one && (one.series || !withSeries))) {
      return Promise.resolve({ outputs: known.map((one) => one.outputs), series: known.map((one) => one.series) });
    }
    last += 1;
    const id = last;
    const keep = (message) => points.forEach((positions, place) => {
      if (kept.size >= KEPT_MAX) { kept.delete(kept.keys().next().value); }
      kept.set(positions.join(), { outputs: message.outputs[place], series: message.series && message.series[place] });
    });
    const named = points.map((positions) =>
      Object.fromEntries(spec.parameters.map((parameter, axis) => [parameter.key, parameter.values[positions[axis]]])));
    model.send({ kind: "ask", id, points: named, series: withSeries });
    return new Promise((resolve, reject) => {
      waiting.set(id, [(message) => { keep(message); resolve(message); }, reject]);
    });
  };
}
