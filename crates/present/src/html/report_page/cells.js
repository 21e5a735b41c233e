// Samples by stretches of time and lanes (a thread on a CPU), and the part of the call tree that some of them make.

// Each stretch: its number of cells. Each cell: lanes on from the cell before, node (in the same lane: nodes on), weight.
function decodeCells(line, mean, bytes) {
  const { cells: count, stretches } = line;
  const cells = {
    count, first: new Uint32Array(stretches + 1), stretch: new Uint16Array(count), lane: new Uint32Array(count),
    node: new Uint32Array(count), samples: new Float64Array(count), value: new Float64Array(count),
  };
  const next = numberReader(bytes);
  const weight = weightReader(next, mean);
  let at = 0;
  for (let stretch = 0; stretch < stretches; stretch++) {
    let lane = 0;
    let node = 0;
    cells.first[stretch] = at;
    for (let left = next(); left > 0 && at < count; left--, at++) {
      const on = next();
      lane += on;
      node = next() + (on ? 0 : node);
      weight.read();
      cells.stretch[at] = stretch;
      cells.lane[at] = lane;
      cells.node[at] = node;
      cells.samples[at] = weight.samples;
      cells.value[at] = weight.value;
    }
  }
  cells.first[stretches] = at;
  return cells;
}

// The numbers of the cells of each lane, by time: those of lane `l` stand from `first[l]` to `first[l + 1]`.
function cellsByLane(cells, lanes) {
  const first = new Uint32Array(lanes + 1);
  for (let cell = 0; cell < cells.count; cell++) first[cells.lane[cell] + 1]++;
  for (let lane = 0; lane < lanes; lane++) first[lane + 1] += first[lane];
  const next = first.slice();
  const list = new Uint32Array(cells.count);
  for (let cell = 0; cell < cells.count; cell++) list[next[cells.lane[cell]]++] = cell;
  return { first, list };
}

// The tree of the samples in the stretches [from, to) whose lanes are on; all lanes are on where `laneOn` is null.
function partOfTree(base, cells, { from, to, laneOn }) {
  const own = new Float64Array(base.count);
  const ownSamples = new Float64Array(base.count);
  for (let cell = cells.first[from]; cell < cells.first[to]; cell++) {
    if (laneOn && !laneOn[cells.lane[cell]]) continue;
    own[cells.node[cell]] += cells.value[cell];
    ownSamples[cells.node[cell]] += cells.samples[cell];
  }
  return pruneTree(base, base.bySamples ? ownSamples : own, ownSamples);
}

// A tree of the nodes with samples, children widest first again. `origin` tells a node's number in the base, `place` the
// number here of a node of the base, -1 when it is not here.
function pruneTree(base, own, ownSamples) {
  const { total, samples } = sums(base, own, ownSamples);
  const { first, next, kept } = keptChildren(base, samples);
  const tree = Object.assign(emptyTree(kept), {
    bySamples: base.bySamples, origin: new Uint32Array(kept), place: new Int32Array(base.count).fill(-1),
  });
  const stack = [ALL];
  const siblings = [];
  for (let at = 0; stack.length; at++) {
    const node = stack.pop();
    tree.origin[at] = node;
    tree.place[node] = at;
    if (node !== ALL) placeNode(tree, at, tree.place[base.parent[node]], base.frame[node]);
    tree.own[at] = own[node];
    tree.ownSamples[at] = ownSamples[node];
    for (let child = first[node]; child >= 0; child = next[child]) siblings.push(child);
    if (siblings.length > 1) siblings.sort((a, b) => total[b] - total[a]);
    while (siblings.length) stack.push(siblings.pop());
  }
  sumUp(tree);
  layOut(tree);
  return tree;
}

function sums(base, own, ownSamples) {
  const total = own.slice();
  const samples = ownSamples.slice();
  for (let node = base.count - 1; node > 0; node--) {
    total[base.parent[node]] += total[node];
    samples[base.parent[node]] += samples[node];
  }
  return { total, samples };
}

function keptChildren(base, samples) {
  const first = new Int32Array(base.count).fill(-1);
  const next = new Int32Array(base.count).fill(-1);
  let kept = 1;
  for (let node = base.count - 1; node > 0; node--) {
    if (samples[node] === 0) continue;
    next[node] = first[base.parent[node]];
    first[base.parent[node]] = node;
    kept++;
  }
  return { first, next, kept };
}
