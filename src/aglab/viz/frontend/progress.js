// Progress: a chapter page notes that it was opened; the start page shows, per chapter, what this browser remembers.
aglab.kinds.visit = function (block) {
  remember(`visit:${block.dataset.slug}`, true);
};

// `aglab lab` opens the start page with what the learner did in JupyterLab, whose store no page from disk can read:
// #progress= and base64url of {slug: {predicted, passed, solved, of}}. It is taken over once and leaves the address.
function takeProgress() {
  const packed = /^#progress=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (!packed) { return; }
  try {
    const told = JSON.parse(atob(packed[1].replace(/-/g, "+").replace(/_/g, "/")));
    for (const [slug, done] of Object.entries(told)) {
      const count = (value) => (Number.isInteger(value) && value >= 0 ? value : 0);
      remember(`done:${slug}`, { predicted: done.predicted === true, passed: done.passed === true, solved: count(done.solved), of: count(done.of) });
    }
    history.replaceState(null, "", location.pathname);
  } catch { /* not ours: nothing is taken over */ }
}

aglab.kinds.progress = function (block) {
  drawProgress(block);
  // what another page of the book wrote a moment ago may arrive after this one was drawn
  addEventListener("storage", () => drawProgress(block));
};

function drawProgress(block) {
  const slug = block.dataset.slug;
  const quiz = recall(`quiz:${slug}`) || { solved: [], of: 0 };
  const done = recall(`done:${slug}`) || {};
  const of = Math.max(quiz.of, done.of || 0);
  const solved = Math.max(quiz.solved.length, done.solved || 0);
  const said = [];
  if (done.predicted) { said.push("Predicted"); }
  if (done.passed) { said.push("Exercise passed"); }
  if (solved) { said.push(`Quiz: ${solved} of ${of} solved`); }
  const opened = recall(`visit:${slug}`) || said.length > 0;
  block.textContent = said.length ? said.join(" · ") : opened ? "Opened" : "Not started";
  const all = (done.passed || !done.predicted) && solved > 0 && solved >= of;
  block.dataset.state = all ? "done" : opened ? "started" : "new";
}
