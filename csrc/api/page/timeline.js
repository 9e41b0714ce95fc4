// The tab of the timeline: a lane per rank and stream.

const LANE = 28;
const AXIS = 26;
const GUTTER = 118;
const LEAST_SPAN = 0.02;

class TimelineTab {
  constructor(model) {
    this.model = model;
    this.selected = null;
    this.update = oncePerFrame(() => this.paint());
  }

  build(panel) {
    this.content = make('div', {class: 'page-scroll', tabindex: '0', role: 'region', 'aria-label': 'Timeline'});
    panel.append(this.content);
    if (!this.model.timeline) {
      this.content.append(make('p', {class: 'sentence'},
          'Nothing ran, so there is no timeline. This command runs the program too: ',
          make('code', null, 'plait view FILE')));
      return;
    }
    this.makeLanes();
    this.canvas = make('canvas', {class: 'timeline', tabindex: '0', role: 'img',
      'aria-label': 'Timeline of the steps of one run; the table below says the same in numbers'});
    this.content.append(make('div', {class: 'timeline-head'}, this.legend(), make('span', {class: 'gap'}),
        make('span', {class: 'dim hint'}, 'Wheel zooms, drag moves, 0 shows all, a click goes to the segment.')),
            this.canvas);
    if (this.model.timeline.note) this.content.append(make('p', {class: 'note'}, this.model.timeline.note));
    this.content.append(make('div', {class: 'columns'}, this.mostTable(), this.kindsTable()));
    this.listen();
    this.fit();
    new ResizeObserver(this.update).observe(this.canvas.parentNode);
  }

  makeLanes() {
    const lanes = new Map();
    this.end = 0;
    for (const span of this.model.spans) {
      const [rank, step, begin, end] = span;
      const stream = (this.model.steps[step] && this.model.steps[step].stream) || 'host';
      const name = rank + ' ' + stream;
      if (!lanes.has(name)) lanes.set(name, {rank, stream, spans: []});
      lanes.get(name).spans.push({rank, step, begin, end});
      this.end = Math.max(this.end, end);
    }
    this.end = Math.max(this.end, 1e-3);
    this.lanes = [...lanes.values()];
    const streams = [...new Set(this.lanes.map((lane) => lane.stream))].sort();
    this.lanes.sort((a, b) => a.rank - b.rank || streams.indexOf(a.stream) - streams.indexOf(b.stream));
    for (const lane of this.lanes) lane.spans.sort((a, b) => a.begin - b.begin);
  }

  kindOf(step) {
    return this.model.steps[step] ? kindOfStep(this.model.steps[step].kind) : 'alias';
  }

  legend() {
    const times = new Map();
    this.model.steps.forEach((step, index) => {
      const kind = this.kindOf(index);
      times.set(kind, (times.get(kind) || 0) + this.model.timeOfStep[index]);
    });
    return make('ul', {class: 'legend'}, KINDS.filter((kind) => times.get(kind) > 0).map((kind) =>
      make('li', {class: kindClass(kind)}, make('span', {class: 'swatch'}), kind === 'alias' ? 'other' : kind, ' ',
          make('b', null, shareText(times.get(kind) / this.model.timeOfAll)))));
  }

  fit() {
    this.begin = 0;
    this.span = this.end * 1.02;
    this.update();
  }

  width() {
    return Math.max(50, this.canvas.clientWidth - GUTTER - 8);
  }

  toX(time) {
    return GUTTER + (time - this.begin) / this.span * this.width();
  }

  toTime(x) {
    return this.begin + (x - GUTTER) / this.width() * this.span;
  }

  paint() {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const height = AXIS + this.lanes.length * LANE + 6;
    const density = window.devicePixelRatio || 1;
    this.canvas.style.height = height + 'px';
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    const pen = this.canvas.getContext('2d');
    pen.scale(density, density);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.colours = {};
    const names = [...KINDS, 'text', 'dim', 'line', 'lane', 'on-strong', 'focus'];
    for (const name of names) this.colours[name] = colour(name);
    this.paintAxis(pen, width, height);
    this.lanes.forEach((lane, index) => this.paintLane(pen, lane, AXIS + index * LANE));
  }

  paintAxis(pen, width, height) {
    const wanted = this.span * 90 / this.width();
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= wanted);
    pen.textAlign = 'center';
    pen.lineWidth = 1;
    for (let tick = Math.ceil(Math.max(0, this.begin) / step); this.toX(tick * step) < width; ++tick) {
      const x = Math.round(this.toX(tick * step)) + 0.5;
      if (x < GUTTER) continue;
      pen.strokeStyle = this.colours.line;
      pen.beginPath();
      pen.moveTo(x, AXIS - 6);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = this.colours.dim;
      pen.fillText(tickText(tick * step, step), x, AXIS - 14);
    }
  }

  paintLane(pen, lane, y) {
    pen.fillStyle = this.colours.text;
    pen.textAlign = 'left';
    pen.fillText('rank ' + lane.rank, 6, y + LANE / 2);
    pen.fillStyle = this.colours.dim;
    pen.fillText(shorten(lane.stream, 10), 58, y + LANE / 2);
    pen.fillStyle = this.colours.lane;
    pen.globalAlpha = 0.5;
    pen.fillRect(GUTTER, y + 2, this.width(), LANE - 4);
    pen.globalAlpha = 1;
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, 0, this.width(), y + LANE);
    pen.clip();
    let last = -Infinity;
    for (let index = Math.max(0, firstAfter(lane.spans, this.begin) - 4); index < lane.spans.length; ++index) {
      const span = lane.spans[index];
      const x = this.toX(span.begin);
      if (x > GUTTER + this.width()) break;
      const end = Math.max(x + 1, this.toX(span.end));
      if (end - last < 0.7 && span.step !== this.selected) continue;
      last = end;
      this.paintSpan(pen, span, x, end, y);
    }
    pen.restore();
  }

  paintSpan(pen, span, x, end, y) {
    const wide = end - x;
    pen.fillStyle = this.colours[this.kindOf(span.step)];
    pen.fillRect(x, y + 4, wide > 3 ? wide - 0.6 : wide, LANE - 8);
    if (span.step === this.selected) {
      pen.strokeStyle = this.colours.focus;
      pen.lineWidth = 2;
      pen.strokeRect(x - 1, y + 2, wide + 2, LANE - 4);
    }
    const letters = Math.floor((Math.min(end, GUTTER + this.width()) - Math.max(x, GUTTER) - 8) / 6.4);
    if (letters < 3) return;
    pen.fillStyle = this.colours['on-strong'];
    pen.textAlign = 'left';
    pen.fillText(shorten(this.nameOf(span.step), letters), Math.max(x, GUTTER) + 5, y + LANE / 2 + 0.5);
  }

  nameOf(step) {
    const {kernel, text} = this.model.steps[step] || {text: '?'};
    return this.model.kernels[kernel] ? this.model.kernels[kernel].name : String(text);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener('wheel', (event) => {
      if (event.ctrlKey || !event.shiftKey) {
        event.preventDefault();
        this.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * (event.deltaMode === 1 ? 18 : 1))) / 300),
            event.offsetX);
      } else {
        event.preventDefault();
        this.move((event.deltaX || event.deltaY) / this.width() * this.span);
      }
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      this.grabbed = {x: event.clientX, begin: this.begin, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => this.pointerMoves(event));
    canvas.addEventListener('pointerup', (event) => {
      const clicked = this.grabbed && !this.grabbed.moved;
      this.grabbed = null;
      const span = clicked ? this.spanAt(event) : null;
      if (span) this.follow(span.step);
    });
    canvas.addEventListener('pointerleave', hideTip);
  }

  pointerMoves(event) {
    if (this.grabbed) {
      if (Math.abs(event.clientX - this.grabbed.x) > 3) this.grabbed.moved = true;
      this.begin = this.grabbed.begin;
      this.move(-(event.clientX - this.grabbed.x) / this.width() * this.span);
      hideTip();
      return;
    }
    const span = this.spanAt(event);
    this.canvas.style.cursor = span ? 'pointer' : 'grab';
    if (span) showTip(event.clientX, event.clientY, this.tipOf(span));
    else hideTip();
  }

  // The span under the pointer, with two pixels of grace.
  spanAt(event) {
    const lane = this.lanes[Math.floor((event.offsetY - AXIS) / LANE)];
    if (!lane || event.offsetX < GUTTER) return null;
    const time = this.toTime(event.offsetX);
    const grace = 2 * this.span / this.width();
    let best = null;
    const least = Math.max(0, firstAfter(lane.spans, time) - 40);
    for (let index = firstAfter(lane.spans, time + grace) - 1; index >= least; --index) {
      const span = lane.spans[index];
      const away = Math.max(span.begin - time, time - span.end, 0);
      if (away <= grace && (best === null || away < best.away)) best = {span, away};
    }
    return best ? best.span : null;
  }

  tipOf(span) {
    const step = this.model.steps[span.step];
    if (!step) return ['step ' + span.step];
    const time = span.end - span.begin;
    const facts = ['rank ' + span.rank, microsecondsText(time), 'from ' + microsecondsText(span.begin)];
    if (isNumber(step.bytes) && step.bytes > 0) facts.push(bytesText(step.bytes), rateText(step.bytes, time));
    return [make('div', {class: 'code'}, colouredLine('plait', shorten(String(step.text), 300))),
        make('div', null, facts.join(', ')),
      this.model.kernels[step.kernel] ? make('div', {class: 'dim'}, 'kernel @' + this.model.kernels[step.kernel].name) :
          null];
  }

  follow(step) {
    const segment = this.model.segments[this.model.steps[step] ? this.model.steps[step].segment : -1];
    if (segment) go('graph', segment.name);
    else go('timeline', String(step));
  }

  zoom(factor, x) {
    const at = x === undefined ? GUTTER + this.width() / 2 : Math.max(GUTTER, x);
    const time = this.toTime(at);
    const span = Math.min(this.end * 1.02, Math.max(LEAST_SPAN, this.span * factor));
    this.begin = time - (at - GUTTER) / this.width() * span;
    this.span = span;
    this.move(0);
  }

  move(time) {
    this.begin = Math.max(-0.02 * this.span, Math.min(this.end * 1.02 - this.span, this.begin + time));
    if (this.span >= this.end) this.begin = 0;
    this.update();
  }

  mostTable() {
    const {steps, timeOfStep, timeOfAll} = this.model;
    const order = steps.map((step, index) => index).filter((index) => timeOfStep[index] > 0);
    order.sort((a, b) => timeOfStep[b] - timeOfStep[a]);
    const heads = ['step', 'all ranks', 'share', '', 'mean', 'GB/s'];
    return make('section', null, make('h2', null, 'Steps that take most'), make('table', {class: 'plain'},
        make('thead', null, make('tr', null,
            heads.map((head, index) => make('th', {scope: 'col', class: index > 0 ? 'number' : null}, head)))),
        make('tbody', null, order.slice(0, 10).map((step) => {
          const mean = this.model.meanTime(step);
          return make('tr', null, make('td', {class: 'code step'},
              linkTo(shorten(String(steps[step].text), 90), 'timeline', String(step))),
              make('td', {class: 'number'}, microsecondsText(timeOfStep[step])),
                  make('td', {class: 'number'}, shareText(timeOfStep[step] / timeOfAll)),
              make('td', null, shareBar(timeOfStep[step] / timeOfStep[order[0]], this.kindOf(step))),
              make('td', {class: 'number'}, microsecondsText(mean)),
                  make('td', {class: 'number'}, rateText(steps[step].bytes, mean).replace(' GB/s', '')));
        }))));
  }

  kindsTable() {
    const sums = new Map();
    this.model.steps.forEach((step, index) => {
      if (this.model.runsOfStep[index] === 0) return;
      const kind = this.kindOf(index);
      const sum = sums.get(kind) || {count: 0, time: 0, bytes: 0};
      sums.set(kind, {count: sum.count + 1, time: sum.time + this.model.timeOfStep[index],
          bytes: sum.bytes + (step.bytes || 0)});
    });
    if (!sums.has('collective')) sums.set('collective', {count: 0, time: 0, bytes: 0});
    const {wire_bytes: wire, wire_bytes_min: least} = this.model.counts;
    const names = {kernel: 'kernels', library: 'library calls', collective: 'collectives', copy: 'copies',
        alias: 'other'};
    const heads = ['steps', 'count', 'all ranks', 'share', 'bytes'];
    return make('section', null, make('h2', null, 'By kind'), make('table', {class: 'plain'},
        make('thead', null, make('tr', null,
            heads.map((head, index) => make('th', {scope: 'col', class: index > 0 ? 'number' : null}, head)))),
        make('tbody', null, KINDS.filter((kind) => sums.has(kind)).map((kind) => {
          const {count, time, bytes} = sums.get(kind);
          return make('tr', null, make('td', {class: kindClass(kind)}, make('span', {class: 'swatch'}), names[kind]),
              make('td', {class: 'number'}, countText(count)), make('td', {class: 'number'}, microsecondsText(time)),
              make('td', {class: 'number'}, shareText(time / this.model.timeOfAll)),
                  make('td', {class: 'number'}, bytesText(bytes)));
        }))), isNumber(wire) ? make('p', null, 'On the wire: ', make('b', null, bytesText(wire)), '; the least is ',
            make('b', null, bytesText(least)),
        '. ', badge(wire, least)) : null);
  }

  // parts: the position of a step, which is marked and brought into sight.
  show(parts) {
    if (!this.model.timeline) return;
    const step = parts[0] === undefined || parts[0] === '' ? -1 : Number(parts[0]);
    this.selected = step in this.model.steps ? step : null;
    const span = this.model.spans.find((candidate) => candidate[1] === this.selected);
    if (span && (span[2] < this.begin || span[3] > this.begin + this.span ||
        (span[3] - span[2]) / this.span * this.width() < 12)) {
      this.span = Math.min(this.end * 1.02, Math.max(LEAST_SPAN, (span[3] - span[2]) * 12));
      this.begin = (span[2] + span[3]) / 2 - this.span / 2;
      this.move(0);
    }
    this.paint();
  }

  key(event) {
    if (!this.model.timeline || !(event.target === document.body || event.target === this.canvas)) return false;
    if (event.key === '+' || event.key === '=') this.zoom(0.8);
    else if (event.key === '-') this.zoom(1.25);
    else if (event.key === '0') this.fit();
    else if (event.key === 'ArrowLeft') this.move(-0.15 * this.span);
    else if (event.key === 'ArrowRight') this.move(0.15 * this.span);
    else return false;
    return true;
  }

  theme() {
    if (this.model.timeline) this.update();
  }
}

// The first span that begins after a time.
function firstAfter(spans, time) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].begin > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Ticks of one axis have one unit and the digits that tell them apart.
function tickText(time, step) {
  const [factor, unit] = step >= 1e5 ? [1e6, ' s'] : step >= 100 ? [1e3, ' ms'] : [1, ' \u00b5s'];
  return (time / factor).toFixed(Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9))) + unit;
}
