// The text beside the graph: functions, objects, the call path and the hover box.
// All names go in as text nodes, never as markup.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const bdi = (text) => element("bdi", {}, text);

function swatch(colour) {
  const made = element("i", { "aria-hidden": "true" });
  made.style.background = colour;
  return made;
}

// For each frame what it spent itself and with what it called, below `top`; recursion counts once.
function weighFrames(tree, frames, top) {
  const own = new Float64Array(frames);
  const ownSamples = new Float64Array(frames);
  const total = new Float64Array(frames);
  const coveredUntil = new Uint32Array(frames);
  for (let node = Math.max(top, 1); node < tree.end[top]; node++) {
    const frame = tree.frame[node];
    own[frame] += tree.own[node];
    ownSamples[frame] += tree.ownSamples[node];
    if (node < coveredUntil[frame]) continue;
    total[frame] += tree.total[node];
    coveredUntil[frame] = tree.end[node];
  }
  return { own, ownSamples, total };
}

// How the columns of the table order frames, rising.
function frameOrders(weights, table, dsos) {
  const byNumber = (numbers) => (a, b) => numbers[a] - numbers[b];
  const byText = (text) => (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
  return {
    self: byNumber(weights.own), total: byNumber(weights.total), samples: byNumber(weights.ownSamples),
    name: byText((frame) => table.name[frame]), object: byText((frame) => dsos[table.dso[frame]]?.name ?? ""),
  };
}

function rankFrames(weights, table, marked, sort, dsos) {
  const ranked = [];
  for (let frame = 0; frame < table.count; frame++) {
    if ((weights.total[frame] || weights.own[frame]) && table.kind[frame] !== KIND.thread && (!marked || marked[frame])) ranked.push(frame);
  }
  const orders = frameOrders(weights, table, dsos);
  const first = orders[sort.by];
  const second = sort.by === "self" ? orders.total : orders.self;
  const sign = sort.rising ? 1 : -1;
  return ranked.sort((a, b) => sign * first(a, b) || second(b, a));
}

function functionRow(frame, weights, share, most, table, dsos, theme, choose) {
  const dso = dsos[table.dso[frame]];
  const own = element("td", { class: "number share" }, share(weights.own[frame]));
  own.style.setProperty("--share", `${most > 0 ? (100 * Math.abs(weights.own[frame])) / most : 0}%`);
  const name = element("button", { type: "button", title: "Mark in the graph", onclick: () => choose(frame) });
  name.append(bdi(table.name[frame]));
  const object = element("td", { class: "object", title: dso?.path });
  if (dso) object.append(swatch(dsoColour(dso, theme)), bdi(dso.name));
  return element("tr", {},
    own,
    element("td", { class: "number" }, share(weights.total[frame])),
    element("td", { class: "number samples" }, grouped(weights.ownSamples[frame])),
    element("td", { class: "name" }, name),
    object);
}

function weighDsos(tree, table, dsos) {
  const own = new Float64Array(dsos.length);
  for (let node = 1; node < tree.count; node++) {
    const dso = table.dso[tree.frame[node]];
    if (dso >= 0) own[dso] += tree.own[node];
  }
  return own;
}

function legendItem(dso, share, pressed, theme, toggle) {
  const title = `${dso.path}${dso.kernel ? " (kernel)" : ""}: own time; click to mark`;
  return element("li", {},
    element("button", { type: "button", "aria-pressed": String(pressed), title, onclick: toggle },
      swatch(dsoColour(dso, theme)), bdi(dso.name), element("span", {}, share)));
}

// The callers of a node from the outermost on; a long path keeps both ends.
function pathSteps(tree, node) {
  const steps = [];
  for (let at = node; at >= 0; at = tree.parent[at]) steps.unshift(at);
  return steps.length <= 7 ? steps : [...steps.slice(0, 2), -1, ...steps.slice(-4)];
}

function tipTerms(terms) {
  return element("dl", {}, ...terms.flatMap(([term, value, share]) =>
    [element("dt", {}, term), element("dd", {}, value), element("dd", {}, share)]));
}

// Shows the hover box near a point; without content it goes away.
function placeTip(content, x, y) {
  const tip = byId("tip");
  tip.hidden = !content;
  if (!content) return;
  tip.replaceChildren(...content);
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, innerWidth - width - 8));
  const top = y + 18 + height > innerHeight - 4 ? Math.max(4, y - height - 12) : y + 18;
  tip.style.transform = `translate(${left}px, ${top}px)`;
}
