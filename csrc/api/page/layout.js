// A layered drawing: nodes {width, height, layer}, edges {from, to} between them, from lower layers to higher ones.
// Gives each node x (its middle) and y (its upper edge), each edge points.

const COLUMN_GAP = 26;
const LAYER_GAP = 46;
const BEND_WIDTH = 10;
const MOST_BENDS = 9000;
const SWEEPS = 8;
const PORT_GAP = 16;
const DEEP = 60;

function layOut(nodes, edges) {
  const cells = makeCells(nodes, edges);
  const layers = makeLayers(cells);
  orderLayers(layers);
  placeColumns(layers);
  placeRows(layers);
  for (const cell of cells) {
    if (!cell.node) continue;
    cell.node.x = cell.x;
    cell.node.y = cell.y;
  }
  routeEdges(nodes, edges);
  return boundsOf(nodes, edges);
}

// A cell per node, and one per layer that edges pass; edges of one tensor share theirs. Very long edges of large
// drawings pass behind the nodes.
function makeCells(nodes, edges) {
  const cells = nodes.map((node) => newCell(node, node.layer, node.width));
  nodes.forEach((node, index) => {
    node.cell = cells[index];
  });
  const trunks = trunksOf(edges);
  const furthest = furthestWithBends(trunks);
  for (const trunk of trunks) {
    const bends = [];
    trunk.sort((a, b) => a.to.layer - b.to.layer);
    for (const edge of trunk) {
      const count = edge.to.layer - edge.from.layer - 1;
      edge.far = count > furthest;
      edge.bends = edge.far ? [] : bends;
      if (edge.far) continue;
      edge.drawnBefore = bends.length;
      while (bends.length < count) {
        const bend = newCell(null, edge.from.layer + 1 + bends.length, BEND_WIDTH);
        bend.chain = bends;
        joinCells(bends.length > 0 ? bends[bends.length - 1] : edge.from.cell, bend);
        bends.push(bend);
        cells.push(bend);
      }
      edge.bends = bends.slice(0, count);
      joinCells(count > 0 ? bends[count - 1] : edge.from.cell, edge.to.cell);
    }
  }
  return cells;
}

// Edges by the node and the tensor that they begin with.
function trunksOf(edges) {
  const trunks = new Map();
  for (const edge of edges) addTo(trunks, edge.from.id + ' ' + edge.tensors[0], edge);
  return [...trunks.values()];
}

// How many layers an edge may pass, so that the shorter ones have all their cells.
function furthestWithBends(trunks) {
  const counts = trunks.map((trunk) => trunk.reduce((most, edge) => Math.max(most, edge.to.layer - edge.from.layer - 1),
      0));
  let bends = 0;
  for (const count of counts.sort((a, b) => a - b)) {
    bends += count;
    if (bends > MOST_BENDS) return Math.max(2, count - 1);
  }
  return Infinity;
}

function newCell(node, layer, width) {
  return {node, layer, width, x: 0, y: 0, place: 0, weigh: 0, above: [], below: []};
}

function joinCells(upper, lower) {
  upper.below.push(lower);
  lower.above.push(upper);
}

function makeLayers(cells) {
  const layers = [];
  for (const cell of cells) {
    while (layers.length <= cell.layer) layers.push([]);
    layers[cell.layer].push(cell);
  }
  const used = layers.filter((layer) => layer.length > 0);
  used.forEach(numberCells);
  return used;
}

function numberCells(layer) {
  layer.forEach((cell, place) => {
    cell.place = place;
  });
}

// Barycenter sweeps down and up; the order with the fewest crossings stays.
function orderLayers(layers) {
  let best = layers.map((layer) => layer.slice());
  let fewest = crossingsOf(layers);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; ++sweep) {
    const down = sweep % 2 === 0;
    for (let step = 1; step < layers.length; ++step) {
      const layer = layers[down ? step : layers.length - 1 - step];
      for (const cell of layer) cell.weigh = barycenter(cell, down ? cell.above : cell.below);
      layer.sort((a, b) => a.weigh - b.weigh || a.place - b.place);
      numberCells(layer);
    }
    const crossings = crossingsOf(layers);
    if (crossings < fewest) {
      fewest = crossings;
      best = layers.map((layer) => layer.slice());
    }
  }
  best.forEach((layer, index) => {
    layers[index] = layer;
    numberCells(layer);
  });
}

function barycenter(cell, neighbours) {
  if (neighbours.length === 0) return cell.place;
  let sum = 0;
  for (const neighbour of neighbours) sum += neighbour.place;
  return sum / neighbours.length;
}

function crossingsOf(layers) {
  let crossings = 0;
  for (let index = 1; index < layers.length; ++index) crossings += crossingsBetween(layers[index - 1],
      layers[index].length);
  return crossings;
}

// Pairs of edges out of order, counted with a tree of prefix sums.
function crossingsBetween(upper, size) {
  const tree = new Int32Array(size + 1);
  let crossings = 0;
  let added = 0;
  for (const cell of upper) {
    const places = cell.below.map((neighbour) => neighbour.place).sort((a, b) => a - b);
    for (const place of places) {
      let before = 0;
      for (let at = place + 1; at > 0; at -= at & -at) before += tree[at];
      crossings += added - before;
    }
    for (const place of places) {
      for (let at = place + 1; at <= size; at += at & -at) ++tree[at];
      ++added;
    }
  }
  return crossings;
}

// Columns: each cell towards the middle of its neighbours, as far as the order of its layer lets it. A pull to the
// middle keeps deep drawings from leaning.
function placeColumns(layers) {
  for (const layer of layers) {
    spread(layer, layer.map(() => 0));
  }
  const pull = layers.length > DEEP ? 0.95 : 1;
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const down = sweep % 2 === 0;
    for (let step = 0; step < layers.length; ++step) {
      const layer = layers[down ? step : layers.length - 1 - step];
      spread(layer, layer.map((cell) => pull * wantedColumn(cell, down, sweep >= SWEEPS - 2)));
    }
  }
  for (let sweep = 0; sweep < SWEEPS; ++sweep) straighten(layers, sweep % 2 === 0);
}

// Long edges get one column, where the order lets them.
function straighten(layers, down) {
  const sums = new Map();
  for (const cell of layers.flat()) {
    if (cell.node) continue;
    const sum = sums.get(cell.chain) || [0, 0];
    sums.set(cell.chain, [sum[0] + cell.x, sum[1] + 1]);
  }
  const middle = (cell) => sums.get(cell.chain)[0] / sums.get(cell.chain)[1];
  for (let step = 0; step < layers.length; ++step) {
    const layer = layers[down ? step : layers.length - 1 - step];
    spread(layer, layer.map((cell) => cell.node ? wantedColumn(cell, down, true) : middle(cell)), 24);
  }
}

function wantedColumn(cell, down, both) {
  const neighbours = both ? cell.above.concat(cell.below) : down ? cell.above : cell.below;
  if (neighbours.length === 0) return cell.x;
  let sum = 0;
  let weights = 0;
  for (const neighbour of neighbours) {
    const weight = neighbour.node ? 1 : 3;
    sum += weight * neighbour.x;
    weights += weight;
  }
  return sum / weights;
}

function spread(layer, wanted, bendWeight) {
  placeApart(layer, wanted, bendWeight || 4, (left, right) => left.node && right.node ? COLUMN_GAP : COLUMN_GAP / 2);
}

// The places nearest to the wanted ones, by squares, that keep order and gaps (pools of violators).
function placeApart(layer, wanted, bendWeight, gapOf) {
  const shift = new Float64Array(layer.length);
  for (let index = 1; index < layer.length; ++index) {
    const [left, right] = [layer[index - 1], layer[index]];
    shift[index] = shift[index - 1] + (left.width + right.width) / 2 + gapOf(left, right);
  }
  const pools = [];
  layer.forEach((cell, index) => {
    const weight = cell.node ? 1 : bendWeight;
    let pool = {sum: weight * (wanted[index] - shift[index]), weight, count: 1};
    while (pools.length > 0 && pools[pools.length - 1].sum / pools[pools.length - 1].weight >= pool.sum / pool.weight) {
      const left = pools.pop();
      pool = {sum: left.sum + pool.sum, weight: left.weight + pool.weight, count: left.count + pool.count};
    }
    pools.push(pool);
  });
  let index = 0;
  for (const pool of pools) {
    for (let member = 0; member < pool.count; ++member, ++index) layer[index].x = pool.sum / pool.weight + shift[index];
  }
}

function placeRows(layers) {
  let y = 0;
  for (const layer of layers) {
    let height = 0;
    for (const cell of layer) height = Math.max(height, cell.node ? cell.node.height : 0);
    for (const cell of layer) {
      cell.y = y;
      cell.height = height;
    }
    y += height + LAYER_GAP;
  }
}

// Where edges leave and meet a node: right below or above their other ends, where there is room.
function routeEdges(nodes, edges) {
  const leaving = new Map();
  const meeting = new Map();
  for (const edge of edges) {
    addTo(leaving, edge.from, edge);
    addTo(meeting, edge.to, edge);
  }
  for (const node of nodes) {
    spreadPorts(node, leaving.get(node) || [], 'begin', (edge) => edge.bends[0]);
    spreadPorts(node, meeting.get(node) || [], 'end', (edge) => edge.bends[edge.bends.length - 1]);
  }
  for (const edge of edges) {
    const {y, height} = edge.from.cell;
    edge.points = [[edge.begin, edge.from.y + edge.from.height], [edge.begin, y + height]];
    for (const bend of edge.bends) edge.points.push([bend.x, bend.y], [bend.x, bend.y + bend.height]);
    edge.points.push([edge.end, edge.to.y]);
  }
}

function spreadPorts(node, edges, name, bendOf) {
  const groups = new Map();
  for (const edge of edges) addTo(groups, bendOf(edge) || edge, edge);
  const inner = Math.max(1, node.width / 2 - 14);
  const gap = groups.size > 1 ? Math.min(PORT_GAP, 2 * inner / (groups.size - 1)) : 0;
  const ports = [...groups.values()].map((group) => {
    const bend = bendOf(group[0]);
    const other = group[0].from === node ? group[0].to : group[0].from;
    const towards = bend ? bend.x : other.x;
    return {group, towards, wanted: bend ? bend.x : sharedColumn(node, other), width: gap, node: null, x: 0};
  });
  ports.sort((a, b) => a.towards - b.towards);
  const wanted = ports.map((port) => Math.max(node.x - inner, Math.min(node.x + inner, port.wanted)));
  placeApart(ports, wanted, 1, () => 0);
  const first = ports.length > 0 ? Math.min(0, node.x + inner - ports[ports.length - 1].x) : 0;
  for (const port of ports) port.x += first;
  const last = ports.length > 0 ? Math.max(0, node.x - inner - ports[0].x) : 0;
  for (const port of ports) {
    for (const edge of port.group) edge[name] = port.x + last;
  }
}

// A column in the middle of what two nodes share, or else between them.
function sharedColumn(one, other) {
  const left = Math.max(one.x - one.width / 2, other.x - other.width / 2);
  const right = Math.min(one.x + one.width / 2, other.x + other.width / 2);
  return left < right ? Math.max(left + 14, Math.min(right - 14, (one.x + other.x) / 2)) : (one.x + other.x) / 2;
}

function boundsOf(nodes, edges) {
  const bounds = {left: Infinity, right: -Infinity, upper: Infinity, lower: -Infinity};
  const include = (x, y) => {
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.upper = Math.min(bounds.upper, y);
    bounds.lower = Math.max(bounds.lower, y);
  };
  for (const node of nodes) {
    include(node.x - node.width / 2, node.y);
    include(node.x + node.width / 2, node.y + node.height);
  }
  for (const edge of edges) {
    for (const bend of edge.bends) include(bend.x, bend.y);
  }
  return nodes.length > 0 ? bounds : {left: 0, right: 1, upper: 0, lower: 1};
}

// The curve of an edge, with its head; `whole` with the part that it shares with shorter edges of its tensor.
function edgePath(edge, whole) {
  const begin = whole || !edge.drawnBefore ? 0 : 2 * edge.drawnBefore + 1;
  const points = edge.points;
  const round = (value) => value.toFixed(1);
  let [x, y] = points[begin];
  let path = 'M' + round(x) + ' ' + round(y);
  let down = y;
  for (let index = begin + 1; index < points.length; ++index) {
    const [nextX, nextY] = points[index];
    if (Math.abs(nextX - x) < 0.75) {
      down = nextY;
      continue;
    }
    if (down !== y) path += 'V' + round(down);
    const middle = (down + nextY) / 2;
    path += 'C' + [x, middle, nextX, middle, nextX, nextY].map(round).join(' ');
    [x, y, down] = [nextX, nextY, nextY];
  }
  if (down !== y) path += 'V' + round(down);
  return path + 'M' + round(x - 4) + ' ' + round(down - 7) + 'L' + round(x) + ' ' + round(down) + 'L' + round(x + 4) +
      ' ' +
      round(down - 7);
}

// Layers by longest path; segments that read no other segment come right above their first reader.
function assignLayers(count, edges, layerOfSource) {
  const layers = new Int32Array(count);
  const readers = Array.from({length: count}, () => []);
  const read = new Uint8Array(count);
  for (const [from, to] of edges) {
    if (from >= to) continue;
    readers[from].push(to);
    read[to] = 1;
  }
  for (let from = 0; from < count; ++from) {
    for (const to of readers[from]) layers[to] = Math.max(layers[to], layers[from] + 1);
  }
  if (!layerOfSource) return layers;
  for (let from = count - 1; from >= 0; --from) {
    if (read[from] || readers[from].length === 0) continue;
    layers[from] = Math.max(0, Math.min(...readers[from].map((to) => layers[to])) - 1);
  }
  return layers;
}
