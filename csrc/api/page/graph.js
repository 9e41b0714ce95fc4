// The tab of the graph.

const NEAR = 0.42;

class GraphTab {
  constructor(model) {
    this.model = model;
    this.chosen = null;
    this.hovered = null;
    this.shownBefore = false;
    this.drawMap = oncePerFrame(() => this.paintMap());
    this.update = oncePerFrame(() => this.place());
  }

  build(panel) {
    this.stage = makeShape('svg', {class: 'stage', tabindex: '0', role: 'application',
      'aria-label': 'Graph of segments. Arrow keys choose a box, plus and minus zoom, 0 shows all.'});
    this.world = makeShape('g', {class: 'world'});
    this.stage.append(this.world);
    this.map = make('canvas', {class: 'map', 'aria-hidden': 'true', pointerdown: (event) => this.mapMove(event),
      pointermove: (event) => event.buttons === 1 && this.mapMove(event)});
    this.side = make('aside', {class: 'side', 'aria-label': 'What is chosen', tabindex: '0'});
    this.spoken = make('div', {class: 'offscreen', 'aria-live': 'polite'});
    const tools = make('div', {class: 'tools'}, this.toolButton('+', 'Closer (+)', () => this.view.zoom(1.25)),
        this.toolButton('\u2212', 'Further (-)', () => this.view.zoom(0.8)),
        this.toolButton('fit', 'All in sight (0)', () => this.view.fit(this.bounds)), this.legend());
    panel.append(make('div', {class: 'split'},
        make('div', {class: 'drawing'}, this.stage, tools, this.map, this.spoken), this.side));
    this.draw();
    this.listen();
    new ResizeObserver(this.update).observe(this.stage);
  }

  toolButton(text, title, click) {
    return make('button', {type: 'button', title, click}, text);
  }

  legend() {
    const used = KINDS.filter((kind) =>
        this.model.segments.some((segment) => kindClass(segment.kind) === 'kind-' + kind));
    const shared = this.model.segments.some((segment, index) => this.model.partnersOf(index).length > 1);
    return make('ul', {class: 'legend'}, used.map((kind) =>
      make('li', {class: kindClass(kind)}, make('span', {class: 'swatch'}), kind === 'alias' ? 'alias, other' : kind)),
    shared ? make('li', null, make('span', {class: 'swatch corner'}), 'shares a launch') : null);
  }

  draw() {
    const {nodes, edges} = graphOf(this.model);
    Object.assign(this, {nodes, edges});
    nodes.forEach((node, index) => {
      node.index = index;
    });
    this.bounds = layOut(nodes, edges);
    this.nodeOfTensor = new Map();
    for (const node of nodes) {
      if (node.tensor !== null) this.nodeOfTensor.set(node.tensor, node);
    }
    this.labels = makeShape('g', {class: 'labels'});
    this.world.append(makeShape('g', null, edges.map(edgeShape)),
        makeShape('g', null, nodes.map((node) => nodeShape(this.model, node))), this.labels);
    if (nodes.length === 0) {
      this.stage.append(textAt(24, 70, 'empty', 'This fusion has no segments: there is nothing to compute.'));
    }
    this.view = new View(this.stage, this.update);
    this.view.least = Math.min(0.1, this.view.fittingScale(this.bounds));
    if (this.view.fittingScale(this.bounds) >= NEAR) this.view.fit(this.bounds);
    else this.view.showUpper(this.bounds, 0.75, this.upperMiddle());
    this.place();
  }

  // The middle of the first layers.
  upperMiddle() {
    const upper = this.nodes.filter((node) => node.layer < 8);
    return upper.reduce((sum, node) => sum + node.x, 0) / Math.max(1, upper.length);
  }

  listen() {
    this.stage.addEventListener('click', (event) => {
      if (this.view.dragged) return;
      const node = this.nodeAt(event.target);
      if (node) this.choose(node);
      else if (!event.target.closest('[data-edge]')) go('graph');
    });
    this.stage.addEventListener('dblclick', (event) => {
      const node = this.nodeAt(event.target);
      const kernel = node && node.segment !== null && this.model.kernels[this.model.segments[node.segment].kernel];
      if (kernel) go('kernels', kernel.name);
    });
    this.stage.addEventListener('pointermove', (event) => this.hover(event));
    this.stage.addEventListener('pointerleave', () => this.hover(null));
  }

  nodeAt(target) {
    const element = target.closest('[data-node]');
    return element ? this.nodes[Number(element.dataset.node)] : null;
  }

  hover(event) {
    const element = event && event.buttons === 0 ? event.target.closest('[data-edge]') : null;
    const edge = element ? this.edges[Number(element.dataset.edge)] : null;
    this.hoverEdge(edge);
    const node = event && !edge && event.buttons === 0 && this.view.scale < NEAR ? this.nodeAt(event.target) : null;
    if (node) showTip(event.clientX, event.clientY, this.tipOfNode(node));
    else if (!edge) hideTip();
    if (!edge) return;
    showTip(event.clientX, event.clientY, this.tipOf(edge));
  }

  hoverEdge(edge) {
    const last = this.hovered;
    if (last === edge) return;
    this.hovered = edge;
    for (const changed of [last, edge]) {
      if (!changed) continue;
      changed.element.classList.toggle('hovered', changed === edge);
      this.drawEdge(changed);
    }
  }

  // Alone, an edge is drawn whole, with what it shares with others.
  drawEdge(edge) {
    edge.element.lastChild.setAttribute('d', edgePath(edge, edge.whole || edge === this.hovered));
  }

  tipOf(edge) {
    const lines = edge.tensors.slice(0, 12).map((tensor) => make('div', null, tensorLine(this.model.tensors[tensor]),
        make('span', {class: 'dim'}, ' ' + bytesText(bytesOfTensor(this.model.tensors[tensor])))));
    if (edge.tensors.length > lines.length) lines.push(make('div', {class: 'dim'},
        'and ' + (edge.tensors.length - lines.length) + ' more'));
    return [make('div', {class: 'dim'}, this.nameOf(edge.from) + ' \u2192 ' + this.nameOf(edge.to)), lines];
  }

  // Of a box too far away to be read.
  tipOfNode(node) {
    if (node.segment === null) return tensorLine(this.model.tensors[node.tensor]);
    const segment = this.model.segments[node.segment];
    return [make('b', null, segment.name), ' ' + segment.kind + ' ', badge(segment.bytes, segment.bytes_least),
      make('div', {class: 'code dim'}, shorten(segment.schedule || '', 160)),
      make('div', null, plural(listOf(segment.ops).length, 'op') + ', ' + node.bytes)];
  }

  nameOf(node) {
    return node.segment !== null ? this.model.segments[node.segment].name : node.kind;
  }

  // Moves the drawing, and makes the details of boxes that can now be read.
  place() {
    const {x, y, scale} = this.view;
    this.world.setAttribute('transform', 'translate(' + x.toFixed(2) + ' ' + y.toFixed(2) + ') scale(' +
        scale.toFixed(4) + ')');
    const far = scale < NEAR;
    this.stage.classList.toggle('far', far);
    if (!far) {
      const width = this.stage.clientWidth;
      const height = this.stage.clientHeight;
      for (const node of this.nodes) {
        const left = x + scale * (node.x - node.width / 2);
        const upper = y + scale * node.y;
        const seen = left < width + 200 && left + scale * node.width > -200 && upper < height + 200 &&
            upper + scale * node.height > -200;
        if (seen && !node.detail) addDetail(this.model, node);
        if (node.detail) node.detail.style.display = seen ? '' : 'none';
      }
    }
    this.drawMap();
  }

  // The small picture of all boxes, where not all are in sight.
  paintMap() {
    const {left, right, upper, lower} = this.bounds;
    const shown = [this.stage.clientWidth / this.view.scale, this.stage.clientHeight / this.view.scale];
    this.map.hidden = shown[0] >= right - left && shown[1] >= lower - upper;
    if (this.map.hidden) return;
    const most = Math.min(150 / (right - left), 260 / (lower - upper));
    const width = Math.max(44, most * (right - left));
    const height = Math.max(44, most * (lower - upper));
    const density = window.devicePixelRatio || 1;
    this.map.width = width * density;
    this.map.height = height * density;
    this.map.style.width = width + 'px';
    this.map.style.height = height + 'px';
    this.mapScale = [width / (right - left), height / (lower - upper)];
    const pen = this.map.getContext('2d');
    pen.scale(density, density);
    for (const node of this.nodes) {
      pen.fillStyle = node.segment === null ? colour('line') : colour(kindClass(node.kind).slice(5));
      pen.fillRect((node.x - node.width / 2 - left) * this.mapScale[0], (node.y - upper) * this.mapScale[1],
          Math.max(1.5, node.width * this.mapScale[0]), Math.max(1, node.height * this.mapScale[1]));
    }
    pen.strokeStyle = colour('focus');
    pen.lineWidth = 1.5;
    pen.strokeRect((-this.view.x / this.view.scale - left) * this.mapScale[0],
        (-this.view.y / this.view.scale - upper) * this.mapScale[1], shown[0] * this.mapScale[0],
            shown[1] * this.mapScale[1]);
  }

  mapMove(event) {
    const place = this.map.getBoundingClientRect();
    const x = (event.clientX - place.left) / this.mapScale[0] + this.bounds.left;
    const y = (event.clientY - place.top) / this.mapScale[1] + this.bounds.upper;
    this.view.x = this.stage.clientWidth / 2 - this.view.scale * x;
    this.view.y = this.stage.clientHeight / 2 - this.view.scale * y;
    this.update();
  }

  choose(node) {
    if (node.segment !== null) go('graph', this.model.segments[node.segment].name);
    else go('graph', '%' + this.model.tensors[node.tensor].name);
  }

  // parts: the name of a segment, or of a tensor with its %.
  show(parts) {
    const name = parts[0] || '';
    const segment = this.model.segmentsByName.get(name);
    const tensor = name.startsWith('%') ? this.model.tensorsByName.get(name.slice(1)) : undefined;
    let content = panelOfAll(this.model);
    this.chosen = null;
    let carried = null;
    if (segment !== undefined) {
      this.chosen = this.nodes[segment];
      content = panelOfSegment(this.model, segment);
    } else if (tensor !== undefined) {
      const producer = this.model.producerOf[tensor];
      const outer = this.nodeOfTensor.get(tensor);
      this.chosen = outer || (producer === null ? null : this.nodes[producer]);
      content = panelOfTensor(this.model, tensor);
      carried = tensor;
    }
    append(clear(this.side), content);
    this.spoken.textContent = this.chosen ? this.side.querySelector('h2').textContent : '';
    this.side.scrollTop = 0;
    this.light(carried);
    if (this.chosen) {
      const {x, y, width, height} = this.chosen;
      this.view.centre(x, y + height / 2, width, height, this.view.scale < NEAR ? 0.75 : 0, this.shownBefore);
    }
    this.shownBefore = true;
  }

  // Marks the chosen box, its edges with their tensors, and those who share its launch.
  light(carried) {
    const chosen = this.chosen;
    const group = chosen && chosen.segment !== null ? this.model.partnersOf(chosen.segment) : [];
    const near = new Set();
    const taken = [];
    clear(this.labels);
    for (const edge of this.edges) {
      const lit = carried === null ? chosen !== null && (edge.from === chosen || edge.to === chosen)
        : edge.tensors.includes(carried);
      const whole = lit && carried === null && edge.to === chosen;
      edge.element.classList.toggle('lit', lit);
      if (whole !== edge.whole) {
        edge.whole = whole;
        this.drawEdge(edge);
      }
      if (!lit) continue;
      near.add(edge.from).add(edge.to);
      edge.element.parentNode.append(edge.element);
      if (taken.length < 24) this.addLabel(edge, carried, taken);
    }
    this.stage.classList.toggle('choosing', near.size > 0);
    for (const node of this.nodes) {
      node.element.classList.toggle('chosen', node === chosen);
      node.element.classList.toggle('near', near.has(node));
      node.element.classList.toggle('partner', group.includes(node.segment) && node !== chosen);
    }
  }

  // The name of the tensor, at the end of the edge that is not at the chosen box.
  addLabel(edge, carried, taken) {
    const count = edge.points.length;
    const tensor = this.model.tensors[carried === null ? edge.tensors[0] : carried];
    const more = carried === null && edge.tensors.length > 1 ? ' + ' + (edge.tensors.length - 1) : '';
    const [from, to] = edge.to === this.chosen ? [edge.points[count - 2], edge.points[count - 1]] :
        [edge.points[1], edge.points[2]];
    if (edge.from.tensor !== null || (edge.to.tensor !== null && edge.to.kind === 'output')) return;
    const text = '%' + shorten(tensor.name, 28) + more;
    const x = (from[0] + to[0]) / 2;
    const half = text.length * LETTER / 2 + 3;
    const rows = [4, -10, 18].map((shift) => (from[1] + to[1]) / 2 + shift);
    const y = rows.find((row) => !taken.some((other) => Math.abs(other.x - x) < other.half + half &&
        Math.abs(other.y - row) < 13));
    if (y === undefined) return;
    taken.push({x, y, half});
    const label = textAt(x, y, 'edge-label', text);
    label.setAttribute('text-anchor', 'middle');
    this.labels.append(label);
  }

  key(event) {
    const here = event.target === document.body || event.target === this.stage;
    if (!here) return false;
    if (this.view.key(event, this.bounds)) return true;
    if (event.key === 'Escape' && this.chosen) {
      go('graph');
      return true;
    }
    if (event.key === 'Enter' && this.chosen && this.chosen.segment !== null) {
      const kernel = this.model.kernels[this.model.segments[this.chosen.segment].kernel];
      if (kernel) go('kernels', kernel.name);
      return true;
    }
    if (!event.key.startsWith('Arrow') || this.nodes.length === 0) return false;
    const next = this.chosen ? this.neighbour(event.key) : this.nodes[0];
    if (next) this.choose(next);
    return true;
  }

  // Up and down along edges, left and right within a layer.
  neighbour(key) {
    const here = this.chosen;
    const distance = (node) => Math.abs(node.x - here.x);
    let candidates;
    if (key === 'ArrowUp') candidates = here.meeting.map((edge) => edge.from);
    else if (key === 'ArrowDown') candidates = here.leaving.map((edge) => edge.to);
    else {
      const sign = key === 'ArrowLeft' ? -1 : 1;
      candidates = this.nodes.filter((node) => node.layer === here.layer && sign * (node.x - here.x) > 0);
    }
    const boxes = candidates.filter((node) => node.segment !== null);
    const pool = boxes.length > 0 && key !== 'ArrowLeft' && key !== 'ArrowRight' ? boxes : candidates;
    return pool.reduce((best, node) => best === null || distance(node) < distance(best) ? node : best, null);
  }

  theme() {
    this.drawMap();
  }
}
