// The call tree: decoded from the page into flat arrays, one element a node, parents before children.
// Node 0 is the whole profile. A node's subtree is the run of nodes from it to `end`.

const KIND = { thread: 0, function: 1, unresolved: 2, folded: 3 };
const ALL = 0;

function bytesOfBase64(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// Numbers of 7 bits a byte, lowest first; exact up to 2^53.
function numberReader(bytes) {
  let at = 0;
  return () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128 || byte === undefined) return value;
      scale *= 128;
    }
  };
}

function emptyTree(count) {
  return {
    count,
    parent: new Int32Array(count).fill(-1), frame: new Int32Array(count).fill(-1), depth: new Uint32Array(count),
    end: new Uint32Array(count), own: new Float64Array(count), total: new Float64Array(count),
    ownSamples: new Float64Array(count), samples: new Float64Array(count), start: new Float64Array(count), height: 0,
  };
}

// Reads weights: after each `read` the reader has its samples and value. A weight is samples * 2 (+ 1: and a difference of
// its value to that of as many mean samples).
function weightReader(next, mean) {
  return {
    samples: 0,
    value: 0,
    read() {
      const word = next();
      this.samples = Math.floor(word / 2);
      this.value = this.samples * mean;
      if (word % 2 === 0) return;
      const zigzag = next();
      this.value += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
    },
  };
}

// Each node: levels up from the previous node, frame, weight.
function decodeTree(head, bytes) {
  const tree = emptyTree(head.nodes + 1);
  const next = numberReader(bytes);
  const weight = weightReader(next, head.mean);
  const path = [ALL];
  let depth = 0;
  for (let node = 1; node < tree.count; node++) {
    depth += 1 - next();
    path[depth] = node;
    placeNode(tree, node, path[depth - 1], next());
    weight.read();
    tree.own[node] = weight.value;
    tree.ownSamples[node] = weight.samples;
  }
  sumUp(tree);
  tree.bySamples = !(tree.total[ALL] > 0);
  if (tree.bySamples) weighBySamples(tree);
  layOut(tree);
  return tree;
}

function placeNode(tree, node, parent, frame) {
  tree.parent[node] = parent;
  tree.frame[node] = frame;
  tree.depth[node] = tree.depth[parent] + 1;
  if (tree.depth[node] > tree.height) tree.height = tree.depth[node];
}

// Samples without periods: each counts one.
function weighBySamples(tree) {
  tree.own.set(tree.ownSamples);
  tree.total.set(tree.samples);
}

// Totals from what nodes have themselves; parents stand before children.
function sumUp(tree) {
  const { parent, end, total, samples } = tree;
  total.set(tree.own);
  samples.set(tree.ownSamples);
  for (let node = tree.count - 1; node >= 0; node--) {
    if (end[node] === 0) end[node] = node + 1;
    const up = parent[node];
    if (up < 0) continue;
    total[up] += total[node];
    samples[up] += samples[node];
    if (end[up] < end[node]) end[up] = end[node];
  }
}

// Children stand side by side from their parent's left edge, widest first.
function layOut(tree) {
  const { parent, start, total } = tree;
  const cursor = new Float64Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const up = parent[node];
    start[node] = cursor[node] = cursor[up];
    cursor[up] += total[node];
  }
}

// The innermost node of the row `depth` that holds `value`; -1 when there is none.
function nodeAt(tree, depth, value) {
  let node = ALL;
  while (tree.depth[node] < depth) {
    node = childAt(tree, node, value);
    if (node < 0) return -1;
  }
  return node;
}

function childAt(tree, node, value) {
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (value < tree.start[child] + tree.total[child]) return child;
  }
  return -1;
}

function contains(tree, node, from, to) {
  return tree.start[node] <= from && to <= tree.start[node] + tree.total[node];
}

// The deepest node whose width covers a range.
function nodeAround(tree, from, to) {
  let node = ALL;
  for (;;) {
    const child = childAt(tree, node, from);
    if (child < 0 || !contains(tree, child, from, to)) return node;
    node = child;
  }
}

function threadOf(tree, node) {
  while (tree.depth[node] > 1) node = tree.parent[node];
  return node;
}
