// Colours: the hue tells the object, a little lightness tells functions apart, kernel code has hues of its own.
// An object's hue comes from its name, so that one library looks the same in every graph; only where a heavier object
// of this graph has that hue already, it takes the next free one, and when none is free, a paler one.

const KERNEL_HUES = [52, 38, 66];
const USER_HUES = [225, 150, 300, 110, 262, 185, 330];
const PROBE = 3;
const RINGS = [{ chroma: 1, lightness: 0 }, { chroma: 0.5, lightness: -0.05 }];
const MATCH = { light: [0.72, 0.2, 352], dark: [0.62, 0.22, 352] };
const TONES = {
  light: { base: 0.825, step: 0.018, chroma: 0.085, ink: "#16181d", quiet: [0.925, 0.012], quietInk: "#7d8490",
    grey: 0.86, restStep: 0.05, page: "#ffffff", edge: "#16181d", chosen: "#8b93a1" },
  dark: { base: 0.445, step: 0.018, chroma: 0.088, ink: "#f2f4f8", quiet: [0.27, 0.01], quietInk: "#868d99",
    grey: 0.37, restStep: -0.05, page: "#1c1f25", edge: "#ffffff", chosen: "#7a8190" },
};
const SHADES = 5;

function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

// OKLCH to sRGB, for browsers without the CSS function and for canvases.
function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `rgb(${channels.map(gamma).join(",")})`;
}

function gamma(linear) {
  const bounded = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055));
}

// Gives each object its `hue` and `ring`, the heaviest first.
function chooseHues(dsos, weights) {
  const taken = new Set();
  const order = dsos.map((_, dso) => dso).sort((a, b) => weights[b] - weights[a]);
  for (const dso of order) Object.assign(dsos[dso], freeHue(dsos[dso], taken));
}

function freeHue(dso, taken) {
  const hues = dso.kernel ? KERNEL_HUES : USER_HUES;
  const first = dso.name === "[kernel.kallsyms]" ? 0 : hash(dso.name) % hues.length;
  for (const ring of RINGS) {
    for (let i = 0; i < hues.length; i++) {
      const hue = hues[(first + i * (dso.kernel ? 1 : PROBE)) % hues.length];
      const key = `${hue} ${ring.chroma}`;
      if (taken.has(key)) continue;
      taken.add(key);
      return { hue, ring };
    }
  }
  return { hue: hues[first], ring: RINGS[0] };
}

function dsoColour(dso, theme) {
  const tone = TONES[theme];
  return oklch(tone.base + dso.ring.lightness, tone.chroma * dso.ring.chroma * 1.25, dso.hue);
}

// For each frame its fill, its fill when it stands back, and when it matches a search.
function frameColours(table, dsos, theme) {
  const cache = new Map();
  const fill = [];
  const quiet = [];
  for (let frame = 0; frame < table.count; frame++) {
    const dso = table.dso[frame];
    const shade = hash(table.name[frame]) % SHADES;
    const key = `${dso} ${table.kind[frame]} ${shade}`;
    if (!cache.has(key)) cache.set(key, frameTone(dsos[dso], table.kind[frame], shade, TONES[theme]));
    const tone = cache.get(key);
    fill.push(tone.fill);
    quiet.push(tone.quiet);
  }
  const tone = TONES[theme];
  return { fill, quiet, tone, match: oklch(...MATCH[theme]), all: oklch(tone.grey, 0.005, 260),
    rest: oklch(tone.grey + tone.restStep, 0.005, 260) };
}

function frameTone(dso, kind, shade, tone) {
  const step = tone.step * (shade - (SHADES - 1) / 2);
  if (!dso) return { fill: oklch(tone.grey + step * 0.5, 0.006, 260), quiet: oklch(tone.quiet[0], 0.006, 260) };
  const chroma = tone.chroma * dso.ring.chroma * (kind === KIND.unresolved ? 0.5 : 1);
  return {
    fill: oklch(tone.base + dso.ring.lightness + step, chroma, dso.hue),
    quiet: oklch(tone.quiet[0], tone.quiet[1], dso.hue),
  };
}
