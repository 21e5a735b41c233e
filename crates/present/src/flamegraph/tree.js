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

// Each node: levels up from the previous node, frame, samples * 2 (+ 1: and a difference of its value to the mean's).
function decodeTree(head, bytes) {
  const tree = emptyTree(head.nodes + 1);
  const next = numberReader(bytes);
  const path = [ALL];
  let depth = 0;
  for (let node = 1; node < tree.count; node++) {
    depth += 1 - next();
    tree.depth[node] = depth;
    tree.parent[node] = path[depth - 1];
    path[depth] = node;
    tree.frame[node] = next();
    readWeight(tree, node, next, head.mean);
    if (depth > tree.height) tree.height = depth;
  }
  sumUp(tree);
  if (!(tree.total[ALL] > 0)) weighBySamples(tree);
  layOut(tree);
  return tree;
}

// Samples without periods: each counts one.
function weighBySamples(tree) {
  tree.own.set(tree.ownSamples);
  tree.total.set(tree.samples);
}

function readWeight(tree, node, next, mean) {
  const word = next();
  const samples = Math.floor(word / 2);
  let value = samples * mean;
  if (word % 2) {
    const zigzag = next();
    value += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
  }
  tree.ownSamples[node] = tree.samples[node] = samples;
  tree.own[node] = tree.total[node] = value;
}

function sumUp(tree) {
  const { parent, end, total, samples } = tree;
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
