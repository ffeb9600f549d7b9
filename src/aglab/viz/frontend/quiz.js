// A quiz: every choice explains itself at once; a right answer is remembered for the start page. In JupyterLab the kernel keeps it too:
// a browser that meets JupyterLab on another port tomorrow has forgotten it.
aglab.kinds.quiz = function (block, model) {
  const spec = specOf(block);
  const body = block.querySelector(".aglab-body");
  const stored = `quiz:${spec.slug}`;
  const score = make("p", { class: "aglab-score", role: "status" });
  const solved = new Set((recall(stored) || {}).solved || []);

  function show() {
    score.textContent = `${solved.size} of ${spec.questions.length} solved`;
  }
  function settle(question, right) {
    if (right) { solved.add(question.key); }
    const kept = { solved: [...solved].filter((key) => spec.questions.some((one) => one.key === key)), of: spec.questions.length };
    remember(stored, kept);
    if (model && right) { model.send({ kind: "solved", slug: spec.slug, ...kept }); }
    show();
  }

  body.replaceChildren(...spec.questions.map((question, place) => {
    const verdict = make("div", { class: "aglab-verdict", role: "status" });
    const field = make("fieldset", {}, make("legend", { html: `${place + 1}. ${question.text}` }));
    const ask = question.kind === "number" ? askNumber : question.kind === "many" ? askMany : askOne;
    ask(field, question, (right, html) => {
      verdict.className = `aglab-verdict ${right ? "aglab-right" : "aglab-wrong"}`;
      const more = right && question.why ? ` ${question.why}` : "";
      verdict.innerHTML = `<strong>${right ? "Right." : "Not yet."}</strong> ${html}${more}`;
      settle(question, right);
    });
    field.append(verdict);
    return make("li", {}, field);
  }));
  block.append(score);
  show();
};

function choiceRow(type, name, text) {
  const id = unique("option");
  const input = make("input", { type, name, id });
  return [input, make("div", { class: "aglab-option" }, input, make("label", { for: id, html: text }))];
}

function askOne(field, question, judge) {
  const name = unique("choice");
  question.options.forEach(([text, correct, why]) => {
    const [input, row] = choiceRow("radio", name, text);
    input.addEventListener("change", () => judge(correct, why));
    field.append(row);
  });
}

function askMany(field, question, judge) {
  const boxes = question.options.map(([text]) => {
    const [input, row] = choiceRow("checkbox", unique("many"), text);
    field.append(row);
    return input;
  });
  const button = make("button", { type: "button", class: "aglab-button" }, "Check");
  button.addEventListener("click", () => {
    const wrong = question.options.findIndex(([, correct], place) => boxes[place].checked !== correct);
    judge(wrong < 0, wrong < 0 ? "" : question.options[wrong][2]);
  });
  field.append(button);
}

function askNumber(field, question, judge) {
  const id = unique("number");
  const input = make("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", size: "12" });
  const label = make("label", { for: id }, question.unit ? `Your answer in ${question.unit}` : "Your answer");
  const button = make("button", { type: "button", class: "aglab-button" }, "Check");
  const near = (value, target) => Math.abs(value - target) <= question.tolerance * Math.abs(target) + 1e-12;
  const check = () => {
    const value = Number(input.value.replace(/[\s,]/g, ""));
    if (input.value.trim() === "" || Number.isNaN(value)) { judge(false, "Give a number, such as 12,500 or 0.85."); return; }
    const hint = question.hints.find(([wrong]) => near(value, wrong));
    if (near(value, question.answer)) { judge(true, ""); return; }
    judge(false, hint ? hint[1] : value > question.answer ? "Too high." : "Too low.");
  };
  button.addEventListener("click", check);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") { check(); } });
  field.append(make("div", { class: "aglab-number" }, label, input, button));
}
