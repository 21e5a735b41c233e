// Objects, maps, JSON, closures and regular expressions.
function tree(depth) {
  return depth === 0 ? null : { left: tree(depth - 1), right: tree(depth - 1), value: depth };
}

function sum(node) {
  return node ? node.value + sum(node.left) + sum(node.right) : 0;
}

function words(count) {
  const counts = new Map();
  for (let i = 0; i < count; i++) {
    const name = `k${(i * 7919) % 1000}`;
    counts.set(name, (counts.get(name) || 0) + i);
  }
  return [...counts.keys()].sort().join(' ').length;
}

function work(rounds) {
  let total = 0;
  for (let i = 0; i < rounds; i++) {
    total += sum(tree(13)) + words(4000);
    const copy = JSON.parse(JSON.stringify([...Array(2000).keys()]));
    total += copy.map((x) => x * 2).filter((x) => x % 3).length;
    total += 'a1b22c333'.repeat(200).replace(/\d+/g, (x) => x + 1).length;
  }
  return total;
}

console.log(work(Number(process.argv[2] || 300)));
