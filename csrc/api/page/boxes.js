// The boxes of the graph: sizes first, so that the layout needs no page, then their shapes.

const OPS_SHOWN = 12;
const ROW = 16;
const LETTER = 6.75;
const WIDEST_BOX = 360;
const MANY_NODES = 80;

// Nodes and edges of the drawing of a model.
function graphOf(model) {
  const nodes = model.segments.map((segment, index) => segmentNode(model, segment, index));
  const edges = new Map();
  const pairs = [];
  const many = nodes.length + model.tensors.filter((tensor) => tensor.kind !== 'value').length > MANY_NODES;
  model.tensors.forEach((tensor, index) => {
    const from = model.producerOf[index];
    if (from === null) return;
    for (const to of model.readersOf[index]) {
      if (to === from) continue;
      pairs.push([from, to]);
      addEdge(edges, nodes[from], nodes[to], index);
    }
  });
  const layers = assignLayers(nodes.length, pairs, many);
  nodes.forEach((node, index) => {
    node.layer = 2 * layers[index] + 1;
  });
  const last = nodes.reduce((most, node) => Math.max(most, node.layer), 0) + 1;
  addPorts(model, nodes, edges, many, last);
  closeLayers(nodes);
  const list = [...edges.values()].filter((edge) => edge.from.layer < edge.to.layer);
  list.forEach((edge, index) => {
    edge.index = index;
    edge.whole = false;
    edge.from.leaving.push(edge);
    edge.to.meeting.push(edge);
  });
  return {nodes, edges: list};
}

// Layers without nodes go.
function closeLayers(nodes) {
  const used = [...new Set(nodes.map((node) => node.layer))].sort((a, b) => a - b);
  const places = new Map(used.map((layer, place) => [layer, place]));
  for (const node of nodes) node.layer = places.get(node.layer);
}

function addEdge(edges, from, to, tensor) {
  const name = from.id + ' ' + to.id;
  if (!edges.has(name)) edges.set(name, {from, to, tensors: []});
  edges.get(name).tensors.push(tensor);
}

// Boxes of inputs, parameters and outputs. In large drawings they stand beside those who read or make them.
function addPorts(model, nodes, edges, many, last) {
  const segments = nodes.slice();
  model.tensors.forEach((tensor, index) => {
    const producer = model.producerOf[index];
    const readers = model.readersOf[index].map((reader) => segments[reader]);
    let source = producer === null ? null : segments[producer];
    if (tensor.kind === 'input' || tensor.kind === 'param') {
      const first = readers.reduce((least, reader) => Math.min(least, reader.layer), Infinity);
      source = portNode(tensor, index, tensor.kind);
      source.layer = many && Number.isFinite(first) ? first - 1 : 0;
      nodes.push(source);
      for (const reader of readers) addEdge(edges, source, reader, index);
    }
    if (tensor.kind !== 'output') return;
    const output = portNode(tensor, index, 'output');
    output.layer = many && source ? source.layer + 1 : last;
    nodes.push(output);
    if (source) addEdge(edges, source, output, index);
  });
}

function newNode(id, width, height) {
  return {id, width, height, layer: 0, x: 0, y: 0, leaving: [], meeting: [], element: null, detail: null};
}

function portNode(tensor, index, kind) {
  const lines = [shorten('%' + tensor.name, 34), shorten(shapeText(tensor), 34)];
  if (tensor.layout) lines.push(shorten(tensor.layout, 34));
  const longest = Math.max(...lines.map((line) => line.length));
  const node = newNode(kind + index, Math.max(64, longest * LETTER * 0.95 + 22), 12 + 15 * lines.length);
  return Object.assign(node, {kind, tensor: index, segment: null, lines});
}

function segmentNode(model, segment, index) {
  const ops = listOf(segment.ops).map((op) => model.ops[op]).filter(Boolean);
  const rows = ops.slice(0, OPS_SHOWN).map((op) => {
    const result = model.tensors[listOf(op.outputs)[0]];
    return [shorten(String(op.name), 26), result ? shorten(shapeText(result), 30) : ''];
  });
  const more = ops.length - rows.length;
  const partners = model.partnersOf(index).length;
  const schedule = segment.schedule && segment.schedule !== segment.kind ? shorten(segment.schedule, 52) : '';
  const launch = partners > 1 ? shorten('launch ' + segment.launch + ', shared by ' + partners, 52) : '';
  const bytes = bytesText(segment.bytes) + ' of least ' + bytesText(segment.bytes_least);
  let letters = String(segment.name).length + String(segment.kind).length + 4;
  letters = Math.max(letters, schedule.length * 0.92, launch.length, bytes.length + 8);
  for (const [name, shape] of rows) letters = Math.max(letters, name.length + shape.length + 3);
  const extra = (schedule ? 1 : 0) + (launch ? 1 : 0);
  const height = 30 + extra * ROW + 8 + (rows.length + (more > 0 ? 1 : 0)) * ROW + 10 + 20;
  const node = newNode('s' + index, Math.min(WIDEST_BOX, Math.max(170, letters * LETTER + 28)), height);
  return Object.assign(node, {kind: segment.kind, segment: index, tensor: null, rows, more, schedule, launch, bytes});
}

function textAt(x, y, kind, text, end) {
  return makeShape('text', {x, y, class: kind, 'text-anchor': end ? 'end' : null}, text);
}

// The shape of a node without its details, which are made where they can be read.
function nodeShape(model, node) {
  const left = node.x - node.width / 2;
  const place = 'translate(' + left.toFixed(1) + ' ' + node.y.toFixed(1) + ')';
  if (node.segment === null) return portShape(node, place);
  const segment = model.segments[node.segment];
  const name = shorten(String(segment.name), 40);
  const size = Math.max(13, Math.min(56, node.height * 0.5, (node.width - 20) / name.length / 0.6));
  const farName = makeShape('text', {class: 'far-name', x: node.width / 2, y: node.height / 2 + size * 0.35,
    'text-anchor': 'middle'}, name);
  farName.style.fontSize = size.toFixed(0) + 'px';
  node.element = makeShape('g', {class: 'box ' + kindClass(node.kind), transform: place, 'data-node': node.index},
      makeShape('rect', {class: 'body', width: node.width, height: node.height, rx: 7}),
      makeShape('rect', {class: 'stripe', width: 5, height: node.height, rx: 2.5}),
      node.launch ? makeShape('path', {class: 'joined', d: 'M' + (node.width - 14) + ' 0h14v14z'}) : null,
      farName);
  return node.element;
}

function portShape(node, place) {
  node.element = makeShape('g', {class: 'port ' + node.kind, transform: place, 'data-node': node.index},
      makeShape('rect', {class: 'body', width: node.width, height: node.height, rx: Math.min(15, node.height / 2)}));
  return node.element;
}

function addDetail(model, node) {
  node.detail = makeShape('g', {class: 'detail'});
  if (node.segment === null) {
    node.lines.forEach((line, index) => {
      const text = textAt(node.width / 2, 17 + 15 * index, index === 0 ? 'port-name' : 'small', line);
      text.setAttribute('text-anchor', 'middle');
      node.detail.append(text);
    });
  } else {
    addSegmentDetail(model, node);
  }
  node.element.append(node.detail);
}

function addSegmentDetail(model, node) {
  const segment = model.segments[node.segment];
  const detail = node.detail;
  const inner = node.width - 14;
  const letters = Math.floor((node.width - 26) / LETTER);
  let y = 20;
  detail.append(textAt(14, y, 'name', shorten(String(segment.name), Math.max(6, letters - segment.kind.length - 2))),
      textAt(inner, y, 'kind', segment.kind, true));
  for (const line of [node.schedule, node.launch]) {
    if (!line) continue;
    y += ROW;
    detail.append(textAt(14, y, line === node.launch ? 'small launch' : 'small',
        shorten(line, Math.floor(letters * 1.08))));
  }
  y += 8;
  detail.append(makeShape('line', {class: 'rule', x1: 14, x2: inner, y1: y, y2: y}));
  for (const [name, shape] of node.rows) {
    y += ROW;
    detail.append(textAt(14, y, 'op', name), textAt(inner, y, 'shape', shape, true));
  }
  if (node.more > 0) {
    y += ROW;
    detail.append(textAt(14, y, 'small', '+ ' + node.more + ' more'));
  }
  const ratio = ratioOf(segment.bytes, segment.bytes_least);
  const lower = node.height - 22;
  detail.append(textAt(14, lower + 12, 'small', node.bytes));
  if (ratio === null) return;
  detail.append(makeShape('rect',
      {class: 'badge-back ' + ratioClass(ratio), x: inner - 46, y: lower, width: 46, height: 17, rx: 8}),
      textAt(inner - 7, lower + 12.5, 'badge-text ' + ratioClass(ratio), ratioText(ratio), true));
}

function edgeShape(edge) {
  const path = edgePath(edge, false);
  edge.element = makeShape('g', {class: edge.far ? 'edge distant' : 'edge', 'data-edge': edge.index},
      makeShape('path', {class: 'reach', d: path}), makeShape('path', {class: 'stroke', d: path}));
  return edge.element;
}
