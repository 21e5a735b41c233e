// The rows of the time line: a thread or a CPU each, with its samples in bins as wide as a pixel or more.

const WAYS = {
  threads: {
    key: (line, lane) => line.lanes.thread[lane],
    label: ({ threads }, thread) => `${threads.name[thread] || "?"} ${threads.tid[thread]}`,
    title: ({ threads }, thread) => `${threads.name[thread] || "?"}, thread ${threads.tid[thread]} of process ${threads.pid[thread]}`,
    order: (rows) => rows.sort((a, b) => b.value - a.value),
  },
  cpus: {
    key: (line, lane) => line.lanes.cpu[lane],
    label: (_, cpu) => (cpu < 0 ? "CPU unknown" : `CPU ${cpu}`),
    title: (_, cpu) => (cpu < 0 ? "no CPU told" : `CPU ${cpu}`),
    order: (rows) => rows.sort((a, b) => a.key - b.key),
  },
};

class Rows {
  constructor(line, cells, by, bySamples) {
    this.line = line;
    this.cells = cells;
    this.weight = bySamples ? cells.samples : cells.value;
    this.byLane = cellsByLane(cells, line.lanes.thread.length);
    this.way = WAYS[by];
    this.list = this.collect();
    this.bins = 0;
  }

  collect() {
    const { line, byLane, weight, way } = this;
    const rows = new Map();
    for (let lane = 0; lane < line.lanes.thread.length; lane++) {
      const key = way.key(line, lane);
      if (!rows.has(key)) rows.set(key, { key, lanes: [], value: 0, label: way.label(line, key) });
      const row = rows.get(key);
      row.lanes.push(lane);
      for (let i = byLane.first[lane]; i < byLane.first[lane + 1]; i++) row.value += weight[byLane.list[i]];
    }
    return way.order([...rows.values()]);
  }

  // Takes bins of as many stretches as a pixel of `width` needs.
  resize(width) {
    const { stretches } = this.line;
    const per = Math.max(1, Math.ceil(stretches / Math.max(1, width)));
    if (per === this.per) return;
    this.per = per;
    this.bins = Math.ceil(stretches / per);
    this.most = this.heaviestBin();
    for (const row of this.list) row.heights = null;
  }

  // The most that a row has in one bin.
  heaviestBin() {
    const { cells, line, weight } = this;
    const rowOf = new Uint32Array(line.lanes.thread.length);
    this.list.forEach((row, index) => row.lanes.forEach((lane) => { rowOf[lane] = index; }));
    const sum = new Float64Array(this.list.length);
    let most = 0;
    for (let bin = 0; bin < this.bins; bin++) {
      const from = cells.first[bin * this.per];
      const to = cells.first[Math.min(line.stretches, (bin + 1) * this.per)];
      for (let cell = from; cell < to; cell++) {
        const row = rowOf[cells.lane[cell]];
        sum[row] += weight[cell];
        if (sum[row] > most) most = sum[row];
      }
      for (let cell = from; cell < to; cell++) sum[rowOf[cells.lane[cell]]] = 0;
    }
    return most;
  }

  // What a row has in each bin; reckoned when it is first shown.
  heights(row) {
    if (row.heights) return row.heights;
    row.heights = new Float32Array(this.bins);
    const { first, list } = this.byLane;
    for (const lane of row.lanes) {
      for (let i = first[lane]; i < first[lane + 1]; i++) {
        row.heights[Math.floor(this.cells.stretch[list[i]] / this.per)] += this.weight[list[i]];
      }
    }
    return row.heights;
  }

  // What all lanes that are on have in each bin.
  sum(laneOn) {
    const heights = new Float32Array(this.bins);
    const { cells, weight } = this;
    for (let cell = 0; cell < cells.count; cell++) {
      if (!laneOn || laneOn[cells.lane[cell]]) heights[Math.floor(cells.stretch[cell] / this.per)] += weight[cell];
    }
    return heights;
  }
}
