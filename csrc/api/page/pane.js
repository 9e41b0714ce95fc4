// A pane of text: only the lines in sight are in the page.

const LINE_HEIGHT = 18;
const LONGEST_LINE = 2000;
const LINES_PRINTED = 3000;

class TextPane {
  constructor(title, language, text, parameters) {
    this.onHover = () => {};
    this.onPick = () => {};
    this.shown = new Map();
    this.marks = null;
    this.lit = {hover: noTwins(), pin: noTwins()};
    this.build(title);
    this.setText(language, text, parameters);
    this.schedule = oncePerFrame(() => this.render());
    this.scroller.addEventListener('scroll', this.schedule, {passive: true});
    new ResizeObserver(this.schedule).observe(this.scroller);
    this.listen();
  }

  build(title) {
    this.count = make('span', {class: 'dim'});
    this.finder = make('input', {type: 'search', placeholder: 'find', 'aria-label': 'Find in ' + title,
        spellcheck: 'false',
      keydown: (event) => this.findKey(event), input: () => this.find(0)});
    this.head = make('div', {class: 'pane-head'}, make('h3', null, title), this.count, make('span', {class: 'gap'}),
        this.finder, make('button', {type: 'button', title: 'Copy the whole text', click: () => this.copy()}, 'copy'));
    this.lines = make('div', {class: 'pane-lines'});
    this.scroller = make('div', {class: 'pane-scroll', tabindex: '0', role: 'region', 'aria-label': 'Text of ' + title},
        this.lines);
    this.ruler = make('div', {class: 'ruler', 'aria-hidden': 'true'});
    this.element = make('section', {class: 'pane'}, this.head,
        make('div', {class: 'pane-body'}, this.scroller, this.ruler));
  }

  listen() {
    const lineAt = (event) => {
      const line = event.target.closest('.line');
      return line ? Number(line.dataset.line) : null;
    };
    let last = null;
    this.scroller.addEventListener('pointerover', (event) => {
      const line = lineAt(event);
      if (line !== last) this.onHover(line);
      last = line;
    });
    this.scroller.addEventListener('pointerleave', () => {
      last = null;
      this.onHover(null);
    });
    this.scroller.addEventListener('click', (event) => {
      const line = lineAt(event);
      if (line !== null && getSelection().isCollapsed) this.onPick(line);
    });
  }

  setText(language, text, parameters) {
    this.text = String(text);
    this.language = language;
    this.parameters = parameters || [];
    this.source = this.text.replace(/\n$/, '').split('\n');
    this.known = null;
    this.marks = null;
    this.found = null;
    this.lit = {hover: noTwins(), pin: noTwins()};
    let longest = 0;
    for (const line of this.source) longest = Math.max(longest, line.length);
    this.lines.style.height = this.source.length * LINE_HEIGHT + 'px';
    this.lines.style.minWidth = Math.min(longest, LONGEST_LINE) + 9 + 'ch';
    this.count.textContent = plural(this.source.length, 'line');
    clear(this.lines);
    this.shown.clear();
    const lengths = Int32Array.from(this.source, (line) => line.length).sort();
    this.element.style.flexGrow = Math.max(44, Math.min(110, lengths[Math.floor(lengths.length * 0.9)]));
    this.scroller.scrollTop = 0;
    this.drawRuler();
  }

  index() {
    if (!this.known) this.known = new TwinIndex(this.source, this.language, this.parameters);
    return this.known;
  }

  // Texts in CUDA begin with helpers: the kernel is shown first.
  showKernel() {
    const line = this.language === 'cuda' ? this.source.findIndex((text) => text.startsWith('extern "C" __global__')) :
        -1;
    if (line > 0) this.scroller.scrollTop = line * LINE_HEIGHT;
  }

  // The range of lines in sight, and some around it.
  range() {
    if (this.prints) return [0, Math.min(this.source.length, LINES_PRINTED)];
    const first = Math.floor(this.scroller.scrollTop / LINE_HEIGHT) - 12;
    const count = Math.ceil(this.scroller.clientHeight / LINE_HEIGHT) + 24;
    return [Math.max(0, first), Math.min(this.source.length, Math.max(0, first) + count)];
  }

  render() {
    if (this.scroller.clientHeight === 0 && !this.prints) return;
    const [first, last] = this.range();
    for (const [line, element] of this.shown) {
      if (line >= first && line < last) continue;
      element.remove();
      this.shown.delete(line);
    }
    const before = [];
    const after = [];
    const kept = this.shown.size > 0 ? Math.min(...this.shown.keys()) : last;
    for (let line = first; line < last; ++line) {
      if (this.shown.has(line)) continue;
      const element = this.lineElement(line);
      this.shown.set(line, element);
      (line < kept ? before : after).push(element);
    }
    this.lines.prepend(...before);
    this.lines.append(...after);
  }

  lineElement(line) {
    const text = this.source[line];
    const shownText = text.length > LONGEST_LINE ? text.slice(0, LONGEST_LINE) + ' ...' : text;
    const element = make('div', {class: 'line', 'data-line': line, 'data-number': line + 1},
        colouredLine(this.language, shownText));
    element.style.top = line * LINE_HEIGHT + 'px';
    this.markLine(line, element);
    return element;
  }

  markLine(line, element) {
    const {hover, pin} = this.lit;
    element.classList.toggle('at', hover.at === line || pin.at === line);
    element.classList.toggle('twin', hover.lines.has(line));
    element.classList.toggle('pinned', pin.lines.has(line) || pin.at === line);
    element.classList.toggle('found', this.found === line);
    const mark = this.marks ? this.marks.get(line) : undefined;
    element.classList.toggle('changed', mark === 'changed');
    element.classList.toggle('only', mark === 'only');
    for (const word of element.getElementsByClassName('word-identifier')) {
      const any = hover.keys.size + pin.keys.size > 0;
      const key = any ? this.index().keyOf(word.textContent, line) : null;
      word.classList.toggle('same', key !== null && (hover.keys.has(key) || pin.keys.has(key)));
    }
  }

  markAll() {
    for (const [line, element] of this.shown) this.markLine(line, element);
  }

  // manner: hover or pin; `at` is the line that the others are twins of, if it is here.
  setTwins(manner, at, lines, keys) {
    this.lit[manner] = {at, lines: new Set(lines), keys};
    this.markAll();
    this.drawRuler();
    return null;
  }

  setMarks(marks) {
    this.marks = marks;
    this.markAll();
    this.drawRuler();
  }

  // Where twins and changes lie in a text that is longer than its pane.
  drawRuler() {
    clear(this.ruler);
    if (this.source.length * LINE_HEIGHT <= this.scroller.clientHeight) return;
    const ticks = new Map();
    const add = (line, kind) => ticks.set(Math.floor(line / this.source.length * 200), kind);
    if (this.marks) this.marks.forEach((kind, line) => add(line, kind));
    for (const line of this.lit.pin.lines) add(line, 'pinned');
    for (const line of this.lit.hover.lines) add(line, 'twin');
    for (const [place, kind] of ticks) {
      const tick = make('span', {class: 'tick-' + kind});
      tick.style.top = place / 2 + '%';
      this.ruler.append(tick);
    }
  }

  scrollTo(line) {
    const goal = line * LINE_HEIGHT;
    const top = this.scroller.scrollTop;
    const height = this.scroller.clientHeight;
    if (goal >= top + LINE_HEIGHT && goal <= top + height - 3 * LINE_HEIGHT) return;
    this.scroller.scrollTo({top: Math.max(0, goal - height / 3), behavior: 'auto'});
    this.schedule();
  }

  findKey(event) {
    if (event.key === 'Enter') this.find(event.shiftKey ? -1 : 1);
    if (event.key === 'Escape') {
      this.finder.value = '';
      this.find(0);
      this.scroller.focus();
    }
    event.stopPropagation();
  }

  // The next line with the sought text, from the last found on.
  find(direction) {
    const sought = this.finder.value.toLowerCase();
    const count = this.source.length;
    let line = this.found === null ? 0 : this.found + direction;
    this.found = null;
    for (let tried = 0; sought !== '' && tried < count; ++tried, line += direction || 1) {
      const place = ((line % count) + count) % count;
      if (!this.source[place].toLowerCase().includes(sought)) continue;
      this.found = place;
      this.scrollTo(place);
      break;
    }
    this.finder.classList.toggle('absent', sought !== '' && this.found === null);
    this.markAll();
  }

  copy() {
    copyText(this.text);
  }

  print(begins) {
    this.prints = begins;
    this.render();
  }
}

function noTwins() {
  return {at: null, lines: new Set(), keys: new Set()};
}
