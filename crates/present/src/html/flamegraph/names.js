// What nodes are called, and numbers as text.

function frameTable(head) {
  const { names, dsos, frames } = head;
  const count = frames.name.length;
  const table = { count, name: [], label: [], dso: [], kind: frames.kind };
  for (let frame = 0; frame < count; frame++) {
    const dso = frames.dso[frame] - 1;
    const name = names[frames.name[frame]];
    const unresolved = frames.kind[frame] === KIND.unresolved && dso >= 0;
    table.name.push(name);
    table.dso.push(dso);
    table.label.push(unresolved ? `${name} ${dsos[dso].name}` : name);
  }
  return table;
}

const GROUPED = new Intl.NumberFormat("en-US");
const grouped = (number) => GROUPED.format(number);

function percent(part, whole) {
  if (!(whole > 0)) return "0%";
  const share = (100 * part) / whole;
  if (share === 0 || share >= 99.995) return `${Math.round(share)}%`;
  if (share < 0.001) return "<0.001%";
  return `${share.toFixed(share < 0.1 ? 3 : 2)}%`;
}

const SCALES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function scaled(value, scales, least) {
  const [size, letter] = scales.find(([size]) => value >= size) ?? [1, least];
  const number = value / size;
  const digits = Number.isInteger(number) || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${letter}`;
}

// A value in the event's unit: time for clocks, else a count.
function amount(value, unit) {
  if (unit.time) return scaled(value, TIMES, "ns");
  return `${scaled(value, SCALES, "").trimEnd()} ${unit.name}`;
}

const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
