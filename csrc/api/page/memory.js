// The tab of the memory: what lies where in the arena, step by step.

const MEMORY_LEFT = 78;
const PROFILE_HEIGHT = 84;
const ARENA_HEIGHT = 300;

class MemoryTab {
  constructor(model) {
    this.model = model;
    this.update = oncePerFrame(() => this.drawAll());
  }

  build(panel) {
    this.content = make('div', {class: 'page-scroll', tabindex: '0', role: 'region', 'aria-label': 'Memory'});
    panel.append(this.content);
    if (this.model.memory.length === 0) {
      this.content.append(make('p', {class: 'sentence'},
          'The program keeps nothing between its steps: no arena is needed.'));
      return;
    }
    this.pictures = this.model.memory.map((entry) => new MemoryPicture(this.model, entry));
    this.content.append(...this.pictures.map((picture) => picture.element));
    this.drawAll();
    new ResizeObserver(this.update).observe(this.content);
  }

  drawAll() {
    for (const picture of this.pictures || []) picture.draw();
  }

  show() {}

  key() {
    return false;
  }
}

class MemoryPicture {
  constructor(model, entry) {
    this.model = model;
    this.entry = entry;
    this.buffers = listOf(entry.buffers);
    this.findPeak();
    this.width = 0;
    this.stage = makeShape('svg', {class: 'memory', role: 'img', 'aria-label': 'Buffers of the arena over the steps'});
    const alive = this.buffers.filter((buffer) => this.isAlive(buffer)).sort((a, b) => b.bytes - a.bytes);
    const {counts} = model;
    this.element = make('section', {class: 'memory-entry'}, make('h2', null, 'Ranks ' + entry.ranks),
        make('p', null, 'The arena has ', make('b', null, bytesText(entry.arena_bytes)), '; at most ',
            make('b', null, bytesText(entry.alive_bytes)),
            ' are alive at once ', badge(entry.arena_bytes, entry.alive_bytes),
                '. Inputs have ' + bytesText(entry.input_bytes) + ', outputs ' +
            bytesText(entry.output_bytes) + '.', model.memory.length === 1 && isNumber(counts.arena_least) ?
          ' The least that an arena could have is ' + bytesText(counts.arena_least) + '.' : ''),
        this.buffers.length > 0 ? this.stage : make('p', {class: 'dim'}, 'There are no buffers.'),
            this.peakTable(alive));
    this.stage.addEventListener('pointermove', (event) => this.hover(event));
    this.stage.addEventListener('pointerleave', () => this.hover(null));
  }

  // Bytes alive after each step, and the first step at which they are most.
  findPeak() {
    const last = this.buffers.reduce((most, buffer) => Math.max(most, buffer.last), 0);
    this.steps = Math.max(1, Math.min(this.model.steps.length || last + 1, 1e6), last + 1);
    const changes = new Float64Array(this.steps + 1);
    for (const buffer of this.buffers) {
      changes[Math.max(0, buffer.first)] += buffer.bytes;
      changes[buffer.last + 1] -= buffer.bytes;
    }
    this.alive = new Float64Array(this.steps);
    let sum = 0;
    this.peak = 0;
    for (let step = 0; step < this.steps; ++step) {
      sum += changes[step];
      this.alive[step] = sum;
      if (sum > this.alive[this.peak]) this.peak = step;
    }
    this.most = Math.max(1, this.alive[this.peak]);
    this.arena = this.buffers.reduce((most, buffer) => Math.max(most, buffer.offset + buffer.bytes),
        Math.max(1, this.entry.arena_bytes || 1));
  }

  isAlive(buffer) {
    return buffer.first <= this.peak && this.peak <= buffer.last;
  }

  toX(step) {
    return MEMORY_LEFT + step / this.steps * (this.width - MEMORY_LEFT - 12);
  }

  toY(offset) {
    return PROFILE_HEIGHT + 34 + offset / this.arena * ARENA_HEIGHT;
  }

  draw() {
    const width = this.element.clientWidth;
    if (width === 0 || width === this.width || this.buffers.length === 0) return;
    this.width = width;
    const height = this.toY(this.arena) + 26;
    give(clear(this.stage), {width, height, viewBox: '0 0 ' + width + ' ' + height});
    this.drawProfile();
    this.drawArena();
    const x = (this.toX(this.peak) + this.toX(this.peak + 1)) / 2;
    const nearEnd = x > width - 160;
    const label = textAt(x + (nearEnd ? -6 : 6), 12, 'peak-label',
        'peak: step ' + this.peak + ', ' + bytesText(this.alive[this.peak]), nearEnd);
    this.cursor = makeShape('line', {class: 'cursor', y1: 18, y2: this.toY(this.arena), x1: -9, x2: -9});
    this.stage.append(makeShape('line', {class: 'peak', x1: x, x2: x, y1: 4, y2: this.toY(this.arena)}), label,
        this.cursor);
  }

  drawProfile() {
    const y = (bytes) => 22 + PROFILE_HEIGHT * (1 - bytes / this.most);
    let path = 'M' + this.toX(0).toFixed(1) + ' ' + y(0);
    let last = null;
    for (let step = 0; step < this.steps; ++step) {
      if (this.alive[step] === last) continue;
      last = this.alive[step];
      path += 'H' + this.toX(step).toFixed(1) + 'V' + y(last).toFixed(1);
    }
    path += 'H' + this.toX(this.steps).toFixed(1) + 'V' + y(0) + 'Z';
    this.stage.append(makeShape('path', {class: 'profile', d: path}),
        textAt(MEMORY_LEFT - 8, y(this.most) + 9, 'axis', bytesText(this.most), true),
        textAt(MEMORY_LEFT - 8, y(0), 'axis', '0', true),
            textAt(MEMORY_LEFT - 8, y(this.most / 2) + 4, 'axis', 'alive', true));
  }

  drawArena() {
    const right = this.toX(this.steps);
    this.stage.append(makeShape('rect',
        {class: 'arena', x: MEMORY_LEFT, y: this.toY(0), width: right - MEMORY_LEFT, height: ARENA_HEIGHT}));
    for (const share of [0, 0.5, 1]) {
      this.stage.append(textAt(MEMORY_LEFT - 8, this.toY(share * this.arena) + (share === 0 ? 9 : share === 1 ? 0 : 4),
          'axis',
          bytesText(Math.round(share * this.arena)), true));
    }
    const wanted = Math.max(1, Math.round(this.steps / 10));
    const power = 10 ** Math.floor(Math.log10(wanted));
    const unit = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= wanted);
    for (let step = 0; step < this.steps; step += unit) {
      this.stage.append(textAt((this.toX(step) + this.toX(step + 1)) / 2, this.toY(this.arena) + 17, 'axis middle',
          step === 0 ? 'step 0' : String(step)));
    }
    this.buffers.forEach((buffer, index) => this.drawBuffer(buffer, index));
  }

  drawBuffer(buffer, index) {
    const x = this.toX(buffer.first);
    const y = this.toY(buffer.offset);
    const width = Math.max(1, this.toX(buffer.last + 1) - x - 0.5);
    const height = Math.max(0.75, this.toY(buffer.offset + buffer.bytes) - y - 0.5);
    this.stage.append(makeShape('rect', {class: this.isAlive(buffer) ? 'buffer alive' : 'buffer', x, y, width, height,
      rx: Math.min(2, height / 3), 'data-buffer': index}));
    const letters = Math.floor((width - 8) / LETTER);
    if (height >= 14 && letters >= 4) {
      this.stage.append(textAt(x + 5, y + Math.min(height / 2 + 4, 16), 'buffer-name',
          shorten(String(buffer.name), letters)));
    }
  }

  hover(event) {
    if (!event || !this.cursor) {
      if (this.cursor) give(this.cursor, {x1: -9, x2: -9});
      hideTip();
      return;
    }
    const inside = event.clientX - this.stage.getBoundingClientRect().left;
    const step = Math.floor((inside - MEMORY_LEFT) / (this.width - MEMORY_LEFT - 12) * this.steps);
    if (step < 0 || step >= this.steps) {
      this.hover(null);
      return;
    }
    const x = (this.toX(step) + this.toX(step + 1)) / 2;
    give(this.cursor, {x1: x, x2: x});
    const buffer = this.buffers[Number(event.target.dataset.buffer)];
    const text = this.model.steps[step] ? String(this.model.steps[step].text) : '';
    showTip(event.clientX, event.clientY, buffer ? this.tipOf(buffer) : null, make('div', null, 'step ' + step + ': ' +
        bytesText(this.alive[step]) + ' alive'), make('div', {class: 'code dim'}, shorten(text, 160)));
  }

  tipOf(buffer) {
    return make('div', null, make('span', {class: 'code strong'}, '%' + buffer.name),
        ' ' + bytesText(buffer.bytes) + ' at ' +
        countText(buffer.offset) + ', steps ' + buffer.first + ' to ' + buffer.last);
  }

  peakTable(alive) {
    if (alive.length === 0) return null;
    const step = this.model.steps[this.peak];
    const shown = alive.slice(0, 40);
    return make('section', null, make('h3', null, 'Alive at the peak, step ' + this.peak),
        step ? make('p', {class: 'code wrap'}, colouredLine('plait', String(step.text))) : null,
        make('table', {class: 'plain'},
            make('thead', null, make('tr', null, ['buffer', 'size', 'share', '', 'offset', 'steps'].map((head, index) =>
          make('th', {scope: 'col', class: index > 0 ? 'number' : null}, head)))),
              make('tbody', null, shown.map((buffer) =>
          make('tr', null, make('td', {class: 'code'}, '%' + buffer.name),
              make('td', {class: 'number'}, bytesText(buffer.bytes)),
              make('td', {class: 'number'}, shareText(buffer.bytes / this.most)),
                  make('td', null, shareBar(buffer.bytes / this.most, 'collective')),
              make('td', {class: 'number'}, countText(buffer.offset)),
                  make('td', {class: 'number'}, buffer.first + ' to ' + buffer.last))))),
        alive.length > shown.length ?
            make('p', {class: 'dim'}, 'and ' + (alive.length - shown.length) + ' smaller ones') : null);
  }
}
