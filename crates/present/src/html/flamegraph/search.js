// Which frames are marked: by a regular expression over names, by objects chosen in the legend, or by both.

// Capitals in the expression make it exact about case.
function compileQuery(text) {
  if (text === "") return { pattern: null };
  const flags = /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i";
  try {
    return { pattern: new RegExp(text, flags) };
  } catch (error) {
    return { pattern: null, error: error.message };
  }
}

function markFrames(table, pattern, dsos) {
  if (!pattern && dsos.size === 0) return null;
  const marked = new Uint8Array(table.count);
  for (let frame = 0; frame < table.count; frame++) {
    const inDso = dsos.size === 0 || dsos.has(table.dso[frame]);
    marked[frame] = inDso && (!pattern || pattern.test(table.label[frame])) ? 1 : 0;
  }
  return marked;
}

// Nodes that are marked or hold a marked one; aggregated boxes and zooming go by it.
function markNodes(tree, marked) {
  const holds = new Uint8Array(tree.count);
  for (let node = tree.count - 1; node > 0; node--) {
    if (marked[tree.frame[node]]) holds[node] = 1;
    if (holds[node]) holds[tree.parent[node]] = 1;
  }
  return holds;
}

// What the marked nodes below `top` weigh together; one called from another counts once.
function matchedBelow(tree, marked, top) {
  const sum = { value: 0, samples: 0, frames: new Set() };
  let covered = top;
  for (let node = top; node < tree.end[top]; node++) {
    const frame = tree.frame[node];
    if (frame < 0 || !marked[frame]) continue;
    sum.frames.add(frame);
    if (node < covered) continue;
    sum.value += tree.total[node];
    sum.samples += tree.samples[node];
    covered = tree.end[node];
  }
  return sum;
}
