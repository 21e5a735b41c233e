// What changed: where the page compares two recordings, a box is as wide as the mean of its old and its new share, so
// that what is gone is seen, too. Colours tell whether it grew (red) or shrank (blue), with all that it called.

const CHANGE_STEPS = 16;
const CHANGE_HUES = { grew: 27, shrank: 255 };
const CHANGE_TONES = {
  light: { from: [0.93, 0.008], to: [0.7, 0.17] },
  dark: { from: [0.33, 0.008], to: [0.52, 0.16] },
};

// The old recording's part of each node's weights.
function readChange(tree, bytes) {
  const next = numberReader(bytes);
  const own = new Float64Array(tree.count);
  for (let node = 1; node < tree.count; node++) own[node] = next();
  const total = Float64Array.from(own);
  for (let node = tree.count - 1; node > 0; node--) total[tree.parent[node]] += total[node];
  const change = { own, total, most: 0 };
  for (let node = 1; node < tree.count; node++) change.most = Math.max(change.most, Math.abs(grown(tree, change, node)));
  return change;
}

// What a node weighs more than before.
const grown = (tree, change, node) => tree.total[node] - 2 * change.total[node];
const grownItself = (tree, change, node) => tree.own[node] - 2 * change.own[node];

function signedPercent(part, whole) {
  return part === 0 ? "0%" : `${part < 0 ? "−" : "+"}${percent(Math.abs(part), whole)}`;
}

// The shades from shrunk most to grown most.
function changeShades(theme) {
  const { from, to } = CHANGE_TONES[theme];
  const shades = [];
  for (let step = -CHANGE_STEPS; step <= CHANGE_STEPS; step++) {
    const strength = Math.abs(step) / CHANGE_STEPS;
    const hue = step < 0 ? CHANGE_HUES.shrank : CHANGE_HUES.grew;
    shades.push(oklch(mix(from[0], to[0], strength), mix(from[1], to[1], strength), hue));
  }
  return shades;
}

// For each node its fill.
function changeColours(tree, change, theme) {
  const shades = changeShades(theme);
  const fills = new Array(tree.count).fill(shades[CHANGE_STEPS]);
  for (let node = 1; node < tree.count; node++) {
    const part = change.most > 0 ? grown(tree, change, node) / change.most : 0;
    fills[node] = shades[CHANGE_STEPS + Math.round(Math.sign(part) * Math.sqrt(Math.abs(part)) * CHANGE_STEPS)];
  }
  return fills;
}

// For each frame how much it grew itself and with what it called, below `top`; recursion counts once.
function weighChange(tree, change, frames, top) {
  const own = new Float64Array(frames);
  const total = new Float64Array(frames);
  const ownSamples = new Float64Array(frames);
  const coveredUntil = new Uint32Array(frames);
  for (let node = Math.max(top, 1); node < tree.end[top]; node++) {
    const frame = tree.frame[node];
    own[frame] += grownItself(tree, change, node);
    ownSamples[frame] += tree.ownSamples[node];
    if (node < coveredUntil[frame]) continue;
    total[frame] += grown(tree, change, node);
    coveredUntil[frame] = tree.end[node];
  }
  return { own, ownSamples, total };
}

class ChangePage extends Page {
  constructor(head, nodes, before) {
    super(head, nodes);
    this.change = readChange(this.tree, before);
    // Half of the whole is all of one recording.
    this.one = this.whole / 2;
  }

  applyTheme() {
    super.applyTheme();
    this.colours.nodes = changeColours(this.tree, this.change, this.state.theme);
  }

  weigh() {
    return weighChange(this.tree, this.change, this.table.count, this.focus);
  }

  share(part) {
    return signedPercent(part, this.one);
  }

  showLegend() {
    super.showLegend();
    const shades = changeShades(this.state.theme);
    const most = percent(this.change.most, this.one);
    const steps = [0, CHANGE_STEPS / 2, CHANGE_STEPS, (3 * CHANGE_STEPS) / 2, 2 * CHANGE_STEPS];
    byId("legend").prepend(element("li", { class: "scale" }, `shrank by ${most}`,
      ...steps.map((step) => swatch(shades[step])), `grew by ${most}`));
  }

  describe(node) {
    return `${super.describe(node)}; ${signedPercent(grown(this.tree, this.change, node), this.one)} since before`;
  }

  terms(node) {
    const { tree, change, one } = this;
    const terms = [
      ["Before", percent(change.total[node], one), ""],
      ["After", percent(tree.total[node] - change.total[node], one), ""],
      ["Change", signedPercent(grown(tree, change, node), one), ""],
    ];
    const frame = tree.frame[node];
    if (frame >= 0 && this.table.kind[frame] !== KIND.thread) {
      const own = [change.own[node], tree.own[node] - change.own[node]].map((part) => percent(part, one));
      terms.push(["Self", `${own[0]} → ${own[1]}`, signedPercent(grownItself(tree, change, node), one)]);
    }
    return terms;
  }
}
