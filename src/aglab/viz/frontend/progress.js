// Progress: a chapter page notes that it was opened; the start page shows, per chapter, what this browser remembers.
aglab.kinds.visit = function (block) {
  remember(`visit:${block.dataset.slug}`, true);
};

aglab.kinds.progress = function (block) {
  const quiz = recall(`quiz:${block.dataset.slug}`);
  const opened = recall(`visit:${block.dataset.slug}`);
  if (quiz && quiz.solved.length) {
    block.textContent = `Quiz: ${quiz.solved.length} of ${quiz.of} solved`;
    block.dataset.state = quiz.solved.length >= quiz.of ? "done" : "started";
  } else {
    block.textContent = opened ? "Opened" : "Not started";
    block.dataset.state = opened ? "started" : "new";
  }
};
