// Drawing: only boxes of at least a fraction of a pixel are visited. Children stand widest first, so the first that is
// too narrow ends its row, and the rest of the row becomes one box.

const ROW = 20;
const LEAST = 0.7;
const TEXT_FROM = 26;
const REST_TEXT_FROM = 170;
const SLIVERS_FROM = 4;
const SLIVER = 1.5;
const SLIVER_ALPHA = 0.6;
const HELD_LEAST = 0.15;
const FONT = '12px system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif';

// Visits boxes of a view: {from, to} in values, `width` in pixels. box(node, x, w) is a function;
// rest(parent, x, w, from, first) is what is too narrow to be told apart, from the child `first` on.
function visitBoxes(tree, view, width, box, rest) {
  const { start, total, end } = tree;
  const scale = width / (view.to - view.from);
  const stack = [ALL];
  while (stack.length) {
    const node = stack.pop();
    box(node, (start[node] - view.from) * scale, total[node] * scale);
    const last = end[node];
    for (let child = node + 1; child < last; child = end[child]) {
      const left = start[child];
      if (left >= view.to) break;
      if (total[child] * scale < LEAST) {
        visitRest(tree, view, scale, node, child, rest);
        break;
      }
      if (left + total[child] > view.from) stack.push(child);
    }
  }
}

function visitRest(tree, view, scale, parent, child, rest) {
  const from = tree.start[child];
  const to = tree.start[parent] + tree.total[parent] - tree.own[parent];
  const w = (to - from) * scale;
  if (to > view.from && w >= LEAST) rest(parent, (from - view.from) * scale, w, from, child);
}

// Whether one of the children from `child` on is marked or holds a marked one.
function anyHolds(tree, holds, parent, child) {
  for (; child < tree.end[parent]; child = tree.end[child]) if (holds[child]) return true;
  return false;
}

// Tells how many siblings there are from one on.
function narrowBoxes(tree, first) {
  const last = tree.end[tree.parent[first]];
  let count = 0;
  for (let node = first; node < last; node = tree.end[node]) count++;
  return count === 1 ? "1 narrow box" : `${grouped(count)} narrow boxes`;
}

class Painter {
  constructor(canvas, tree, table) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.tree = tree;
    this.table = table;
    this.textWidth = new Float32Array(table.count);
    this.ratio = 1;
  }

  resize(width, height) {
    this.ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  // Top of a row in canvas pixels.
  rowTop(depth, scene) {
    return (scene.icicle ? depth * ROW : (this.tree.height - depth) * ROW) - scene.scroll;
  }

  paint(scene) {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = scene.colours.tone.page;
    context.fillRect(0, 0, this.width, this.height);
    const texts = this.paintBoxes(scene);
    this.paintTexts(scene, texts);
    this.outline(scene, scene.selected, 2);
    if (scene.hover !== scene.selected) this.outline(scene, scene.hover, 1);
  }

  paintBoxes(scene) {
    const { tree, context } = this;
    const texts = [];
    const visible = (y) => y > -ROW && y < this.height;
    const box = (node, x, w) => {
      const y = this.rowTop(tree.depth[node], scene);
      if (!visible(y)) return;
      context.fillStyle = this.fill(scene, node);
      const shown = this.fillBox(x, y, w);
      if (shown.w >= TEXT_FROM) texts.push(node, shown.x, shown.w, y);
    };
    const rest = (parent, x, w, from, child) => {
      const y = this.rowTop(tree.depth[parent] + 1, scene);
      if (!visible(y)) return;
      context.fillStyle = scene.colours.rest;
      const shown = this.fillBox(x, y, w);
      if (shown.w >= SLIVERS_FROM) this.paintSlivers(scene, parent, child, y);
      else if (scene.holds && anyHolds(tree, scene.holds, parent, child)) this.paintHolder(scene, x, y, w);
      if (shown.w >= REST_TEXT_FROM) texts.push(-child, shown.x, shown.w, y);
    };
    visitBoxes(tree, scene.view, this.width, box, rest);
    return texts;
  }

  fill(scene, node) {
    const { colours, marked, match } = scene;
    const frame = this.tree.frame[node];
    if (frame < 0) return colours.all;
    if (!marked) return this.plain(colours, node);
    if (!marked[frame]) return colours.quiet[frame];
    return match ?? this.plain(colours, node);
  }

  // The fill of a box that nothing marks; a page may have colours for each node.
  plain(colours, node) {
    return colours.nodes ? colours.nodes[node] : colours.fill[this.tree.frame[node]];
  }

  // Shows what too narrow boxes are made of: each sliver has the colour of its first box, and over it that of marked
  // ones as strong as their share of it.
  paintSlivers(scene, parent, child, y) {
    const { start, total, end } = this.tree;
    const { view, holds } = scene;
    const scale = this.width / (view.to - view.from);
    const last = end[parent];
    while (child < last && start[child] < view.to) {
      const first = child;
      let to = start[first];
      let held = 0;
      for (; child < last && (to - start[first]) * scale < SLIVER; child = end[child]) {
        to = start[child] + total[child];
        if (holds?.[child]) held += total[child];
      }
      if (to <= view.from) continue;
      const x = (start[first] - view.from) * scale;
      this.paintSliver(scene, first, x, y, (to - start[first]) * scale, held / (to - start[first]));
    }
    this.context.globalAlpha = 1;
  }

  paintSliver(scene, node, x, y, w, held) {
    const { context } = this;
    const left = Math.max(0, x);
    const width = Math.min(this.width, x + w) - left;
    const frame = this.tree.frame[node];
    context.globalAlpha = SLIVER_ALPHA;
    context.fillStyle = scene.marked ? scene.colours.quiet[frame] : this.plain(scene.colours, node);
    context.fillRect(left, y, width, ROW - 1);
    if (held <= 0) return;
    context.globalAlpha = Math.max(HELD_LEAST, held);
    context.fillStyle = this.holderFill(scene);
    context.fillRect(left, y, width, ROW - 1);
  }

  paintHolder(scene, x, y, w) {
    this.context.fillStyle = this.holderFill(scene);
    this.fillBox(x, y, w);
  }

  // Colour of what is not told apart but holds something marked.
  holderFill(scene) {
    return scene.match ?? scene.colours.tone.chosen;
  }

  // Fills the part inside the canvas; a gap of a pixel parts boxes that are wide enough to lose it.
  fillBox(x, y, w) {
    const left = Math.max(0, x);
    const right = Math.min(this.width, x + w);
    const gap = w > 3 ? 1 : w > 1.6 ? 0.5 : 0;
    const width = Math.max(right - left - (right < this.width ? gap : 0), 0.4);
    this.context.fillRect(left, y, width, ROW - 1);
    return { x: left, w: width };
  }

  paintTexts(scene, texts) {
    const { context, tree } = this;
    context.font = FONT;
    context.textBaseline = "middle";
    context.direction = "ltr";
    const { ink, quietInk } = scene.colours.tone;
    for (let i = 0; i < texts.length; i += 4) {
      const [node, x, w, y] = [texts[i], texts[i + 1], texts[i + 2], texts[i + 3]];
      const frame = node < 0 ? -1 : tree.frame[node];
      context.fillStyle = scene.marked && !(frame >= 0 && scene.marked[frame]) ? quietInk : ink;
      const text = node < 0 ? narrowBoxes(tree, -node) : this.fit(frame, w - 10);
      if (text) context.fillText(text, x + 5, y + ROW / 2);
    }
  }

  // The label, cut to a width.
  fit(frame, room) {
    if (frame < 0) return "all";
    const label = this.table.label[frame];
    const full = this.textWidth[frame] || (this.textWidth[frame] = this.context.measureText(label.slice(0, 400)).width);
    if (full <= room && label.length <= 400) return label;
    let keep = Math.min(label.length - 1, Math.floor((Math.min(label.length, 400) * (room - 8)) / full) + 1);
    while (keep > 1 && this.context.measureText(`${label.slice(0, keep)}…`).width > room) keep--;
    return keep > 1 ? `${label.slice(0, keep)}…` : "";
  }

  outline(scene, node, width) {
    if (node < 0) return;
    const { tree, context } = this;
    const scale = this.width / (scene.view.to - scene.view.from);
    const left = Math.max(0, (tree.start[node] - scene.view.from) * scale);
    const right = Math.min(this.width, (tree.start[node] + tree.total[node] - scene.view.from) * scale);
    if (right < 0 || left > this.width) return;
    context.strokeStyle = scene.colours.tone.edge;
    context.lineWidth = width;
    const y = this.rowTop(tree.depth[node], scene);
    context.strokeRect(left + width / 2, y + width / 2, Math.max(1, right - left - 1 - width), ROW - 1 - width);
  }

  // What stands at a point: {node}, {rest: parent, first, from, to} or null.
  hit(scene, x, y) {
    const row = Math.floor((y + scene.scroll) / ROW);
    const depth = scene.icicle ? row : this.tree.height - row;
    if (depth < 0 || depth > this.tree.height) return null;
    const scale = this.width / (scene.view.to - scene.view.from);
    const value = scene.view.from + x / scale;
    const node = nodeAt(this.tree, depth, value);
    if (node < 0) return null;
    if (node === ALL || this.tree.total[node] * scale >= LEAST) return { node };
    return this.hitRest(this.tree.parent[node], scale);
  }

  hitRest(parent, scale) {
    const { tree } = this;
    if (tree.total[parent] * scale < LEAST) return null;
    let first = parent + 1;
    while (tree.total[first] * scale >= LEAST) first = tree.end[first];
    const to = tree.start[parent] + tree.total[parent] - tree.own[parent];
    return { rest: parent, first, from: tree.start[first], to };
  }
}
