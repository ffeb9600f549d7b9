// The living picture: log on its way from the primary to the secondaries, queues as tanks, a slider and a play button over time.
const SVG_NS = "http://www.w3.org/2000/svg";
const PLAY_S = 12;          // the whole run in this many seconds
const STEPS_STILL = 10;     // with reduced motion: so many single steps instead, one a second

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SVG_NS, tag);
  for (const [name, value] of Object.entries(attributes || {})) { element.setAttribute(name, value); }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const rateText = (value) => (value === undefined ? "n/a" : `${human(value / 1e6)} MB/s`);
const sizeText = (value) => (value >= 1e9 ? `${human(value / 1e9)} GB` : `${human(value / 1e6)} MB`);
const peak = (flows, key) => Math.max(1e6, ...flows.flatMap((flow) => flow.series[key] || [0]));

// How long redo needs for the queue at its present speed, in words.
function drainText(queue, redone) {
  if (queue < 1e5) { return "nothing to redo"; }
  if (!(redone > 1e4)) { return "redo stands still"; }
  const seconds = queue / redone;
  return seconds < 120 ? `${human(seconds)} s to redo` : `${human(seconds / 60)} min to redo`;
}

aglab.kinds.living = function (block) {
  const spec = specOf(block);
  const body = block.querySelector(".aglab-body");
  const frames = spec.time.length;
  const tops = { send_queue: peak(spec.secondaries, "send_queue"), recovery_queue: peak(spec.secondaries, "recovery_queue"),
    rate: peak(spec.secondaries, "received") };
  const stage = make("div", { class: "aglab-stage" });
  const id = unique("time");
  const shown = make("output", { for: id, class: "aglab-value" });
  const slider = make("input", { id, type: "range", min: "0", max: String(frames - 1), step: "1", value: String(frames - 1) });
  const button = make("button", { type: "button", class: "aglab-button" }, "Play");
  const said = make("p", { class: "aglab-note", role: "status", "aria-live": "polite" });
  const track = shape("svg", { class: "aglab-track", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: "0 0 100 30" });
  let parts = null;
  let width = 0;
  let playing = 0;    // handle of the next frame, 0 at rest
  let flowed = 0;     // how far the dashes have moved
  const still = () => Boolean(globalThis.matchMedia && matchMedia("(prefers-reduced-motion: reduce)").matches);

  const at = () => Number(slider.value);
  const value = (flow, key) => (flow.series[key] ? flow.series[key][at()] : undefined);

  function show(speak) {
    const frame = at();
    shown.textContent = `${human(spec.time[frame])} s of ${human(spec.time[frames - 1])} s`;
    slider.setAttribute("aria-valuetext", shown.textContent);
    parts.update(value);
    if (speak) { said.textContent = sentence(spec, value); }
  }

  function rest() {
    if (playing) { cancelAnimationFrame(playing); clearTimeout(playing); }
    playing = 0;
    button.textContent = "Play";
    show(true);
  }

  function play() {
    if (at() >= frames - 1) { slider.value = "0"; }
    button.textContent = "Pause";
    const begun = performance.now();
    const from = at();
    if (still()) {
      const stride = Math.max(1, Math.ceil((frames - 1) / STEPS_STILL));
      const step = () => {
        if (!block.isConnected) { return; }
        slider.value = String(Math.min(frames - 1, at() + stride));
        show(false);
        if (at() >= frames - 1) { rest(); } else { playing = setTimeout(step, 1000); }
      };
      playing = setTimeout(step, 1000);
      return;
    }
    let last = begun;
    const tick = (now) => {
      if (!block.isConnected) { return; }
      const frame = Math.min(frames - 1, from + Math.floor((now - begun) / 1000 / PLAY_S * (frames - 1)));
      flowed += (now - last) / 1000;
      last = now;
      if (frame !== at()) { slider.value = String(frame); show(false); }
      parts.flow(value, flowed);
      if (frame >= frames - 1) { rest(); } else { playing = requestAnimationFrame(tick); }
    };
    playing = requestAnimationFrame(tick);
  }

  button.addEventListener("click", () => (playing ? rest() : play()));
  slider.addEventListener("input", () => { if (playing) { rest(); } else { show(true); } });
  const labelled = make("div", { class: "aglab-control-head" }, make("label", { for: id }, "Time"), shown);
  const controls = make("div", { class: "aglab-time" }, button, make("div", { class: "aglab-control" }, labelled, track, slider));
  body.replaceChildren(stage, controls, said, make("p", { class: "aglab-note" },
    `${fullText(tops)} Line above the slider: recovery queues over time. ${spec.label}.`));
  drawTrack(track, spec, tops);
  const fit = () => {
    const now = stage.clientWidth;
    if (!now || now === width) { return; }
    width = now;
    parts = drawStage(stage, spec, tops, now);
    show(!playing);
  };
  new ResizeObserver(fit).observe(stage);
  fit();
  if (!parts) { width = 640; parts = drawStage(stage, spec, tops, 640); show(true); }
};

// What a full tank holds; a queue that never held a megabyte has no scale.
function fullText(tops) {
  const sizes = [["send_queue", "log send queue"], ["recovery_queue", "recovery queue"]].filter(([key]) => tops[key] > 1e6);
  return sizes.length ? `A full tank: ${sizes.map(([key, name]) => `${sizeText(tops[key])} of ${name}`).join(", ")}.` : "Both queues stay below 1 MB.";
}

// One sentence for each secondary, for the status line and for a screen reader.
function sentence(spec, value) {
  return spec.secondaries.map((one) => {
    const queue = value(one, "recovery_queue");
    return `${one.node}: received ${rateText(value(one, "received"))}, redone ${rateText(value(one, "redone"))}; `
      + `${sizeText(value(one, "send_queue"))} to be sent, ${sizeText(queue)} to be redone (${drainText(queue, value(one, "redone"))}).`;
  }).join(" ");
}

function drawTrack(track, spec, tops) {
  const last = spec.time.length - 1 || 1;
  spec.secondaries.forEach((one, place) => {
    const points = one.series.recovery_queue.map((value, frame) => `${(100 * frame / last).toFixed(2)},${(29 - 27 * value / tops.recovery_queue).toFixed(2)}`);
    track.append(shape("polyline", { points: points.join(" "), class: `aglab-track-line aglab-line-${place % 3}`, "vector-effect": "non-scaling-stroke" }));
  });
}

// A tank with its name and its present size; fills from the bottom.
function tank(x, y, height, kind) {
  const fill = shape("rect", { x: x + 1, y: y + height, width: 28, height: 0, class: `aglab-fill-${kind}` });
  const hatch = kind === "send" ? [0.25, 0.5, 0.75].map((part) => shape("line", { x1: x, x2: x + 6, y1: y + height * part, y2: y + height * part, class: "aglab-mark" })) : [];
  const group = shape("g", {}, shape("rect", { x, y, width: 30, height, rx: 3, class: "aglab-tank" }), fill, ...hatch);
  const set = (share) => {
    const part = Math.max(0, Math.min(1, share)) * (height - 2);
    fill.setAttribute("height", part.toFixed(1));
    fill.setAttribute("y", (y + height - 1 - part).toFixed(1));
  };
  return { group, set };
}

function drawStage(stage, spec, tops, width) {
  const narrow = width < 560;
  const lane = 132;
  const top = narrow ? 74 : 8;
  const height = top + spec.secondaries.length * lane + 4;
  const left = narrow ? 4 : 168;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Log from ${spec.primary.node} to ${spec.secondaries.map((one) => one.node).join(" and ")}` });
  const text = (x, y, words, kind, anchor) => shape("text", { x, y, class: `aglab-say ${kind || ""}`, "text-anchor": anchor || "start" }, words);
  const boxHeight = narrow ? 58 : 108;
  const boxTop = narrow ? 4 : (height - boxHeight) / 2;
  const boxWidth = narrow ? width - 8 : 150;
  const made = text(16, boxTop + (narrow ? 46 : 52), "");
  const sent = text(narrow ? 16 + boxWidth / 2 : 16, boxTop + (narrow ? 46 : 72), "");
  const speed = text(narrow ? 16 + boxWidth / 2 : 16, boxTop + (narrow ? 24 : 92), "", "aglab-soft");
  svg.append(shape("rect", { x: 4, y: boxTop, width: boxWidth, height: boxHeight, rx: 8, class: "aglab-box aglab-first" }),
    text(16, boxTop + 24, spec.primary.node, "aglab-name"), narrow ? null : text(boxWidth - 6, boxTop + 24, "primary", "aglab-soft", "end"), made, sent, speed);
  const lanes = spec.secondaries.map((one, place) => drawLane(svg, text, one, { y: top + place * lane, left, width, narrow, boxTop, boxHeight }));
  stage.replaceChildren(svg);
  const update = (value) => {
    made.textContent = `hardened ${rateText(value(spec.primary, "hardened"))}`;
    sent.textContent = `sent ${rateText(value(spec.primary, "sent"))}`;
    const tps = value(spec.primary, "tps");
    speed.textContent = tps === undefined ? "" : `${human(Math.round(tps))} tx/s`;
    lanes.forEach((one) => one.update(value, tops));
  };
  return { update, flow: (value, seconds) => lanes.forEach((one) => one.flow(value, seconds, tops)) };
}

function drawLane(svg, text, one, place) {
  const { y, left, width, narrow } = place;
  const high = 62;
  const middle = y + 12 + high / 2;
  const send = tank(left, y + 12, high, "send");
  const pipeFrom = left + 34;
  const redoX = width - 34;
  const boxWidth = narrow ? 150 : Math.min(210, width - pipeFrom - 150);
  const boxX = redoX - 10 - boxWidth;
  const pipe = shape("line", { x1: pipeFrom, x2: boxX - 4, y1: middle, y2: middle, class: "aglab-pipe" });
  const moving = shape("line", { x1: pipeFrom, x2: boxX - 4, y1: middle, y2: middle, class: "aglab-moving" });
  const recovery = tank(redoX, y + 12, high, "redo");
  const rows = ["received", "hardened", "redone"].map((_, row) => text(boxX + 10, y + 40 + row * 16, ""));
  const sendSay = text(narrow ? left + 22 : left, y + 98, "");
  const redoSay = text(width - 4, y + 98, "", "", "end");
  const drainSay = text(width - 4, y + 115, "", "aglab-soft", "end");
  const feed = narrow ? shape("line", { x1: left + 15, x2: left + 15, y1: place.boxTop + place.boxHeight, y2: y + 12, class: "aglab-feed" })
    : shape("line", { x1: 154, x2: left, y1: place.boxTop + place.boxHeight / 2, y2: middle, class: "aglab-feed" });
  svg.append(feed, pipe, moving, shape("path", { d: `M${boxX - 2} ${middle} l-9 -5 v10z`, class: "aglab-head" }), send.group,
    shape("rect", { x: boxX, y: y + 4, width: boxWidth, height: high + 16, rx: 8, class: "aglab-box" }),
    text(boxX + 10, y + 21, one.node, "aglab-name"), ...rows, recovery.group, sendSay, redoSay, drainSay);
  const thick = (value, tops) => 1.5 + 6 * Math.min(1, (value(one, "received") || 0) / tops.rate);
  return {
    update: (value, tops) => {
      ["received", "hardened", "redone"].forEach((key, row) => { rows[row].textContent = `${key} ${rateText(value(one, key))}`; });
      send.set(value(one, "send_queue") / tops.send_queue);
      recovery.set(value(one, "recovery_queue") / tops.recovery_queue);
      sendSay.textContent = `${narrow ? "to send" : "log send queue"} ${sizeText(value(one, "send_queue"))}`;
      redoSay.textContent = `${narrow ? "to redo" : "recovery queue"} ${sizeText(value(one, "recovery_queue"))}`;
      drainSay.textContent = drainText(value(one, "recovery_queue"), value(one, "redone"));
      moving.setAttribute("stroke-width", thick(value, tops).toFixed(1));
      moving.style.visibility = value(one, "received") > 1e3 ? "visible" : "hidden";
    },
    flow: (value, seconds, tops) => moving.setAttribute("stroke-dashoffset", (-60 * seconds * Math.min(1, (value(one, "received") || 0) / tops.rate)).toFixed(1)),
  };
}
