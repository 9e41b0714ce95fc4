// The tab of the texts: two stages of the whole program side by side.

class TextsTab {
  constructor(model) {
    this.model = model;
    this.twins = new TwinGroup();
    this.marking = false;
    this.names = [];
  }

  build(panel) {
    const stages = this.model.stages;
    if (stages.length === 0) {
      panel.append(make('p', {class: 'sentence'}, 'The document has no texts of stages.'));
      return;
    }
    this.stageByName = new Map(stages.map((stage) => [String(stage.name), stage]));
    this.panes = [0, 1].map((side) => new TextPane(side === 0 ? 'left' : 'right', 'plait', '', []));
    this.choices = this.panes.map((pane, side) => this.choiceFor(pane, side));
    this.toggle = make('input', {type: 'checkbox', change: () => this.mark(this.toggle.checked)});
    this.summary = make('span', {class: 'dim', 'aria-live': 'polite'});
    const tools = make('div', {class: 'text-tools'}, make('label', null, this.toggle, ' changes'),
        make('button', {type: 'button', title: 'Previous change (p)', click: () => this.nextChange(-1)}, '\u2191'),
        make('button', {type: 'button', title: 'Next change (n)', click: () => this.nextChange(1)}, '\u2193'),
            this.summary,
        make('span', {class: 'gap'}),
            make('span', {class: 'dim hint'}, 'Hover lights lines that share a tensor, a click pins them.'));
    panel.append(make('div', {class: 'stack'}, tools,
        make('div', {class: 'panes two'}, this.panes.map((pane) => pane.element))));
    this.twins.use(this.panes);
  }

  choiceFor(pane, side) {
    const choice = make('select', {'aria-label': 'Stage of the ' + (side === 0 ? 'left' : 'right') + ' pane'},
        this.model.stages.map((stage) => make('option', {value: stage.name}, stage.name)));
    choice.addEventListener('change', () => go('text', ...this.choices.map((other) => other.value)));
    pane.head.firstChild.replaceWith(choice);
    return choice;
  }

  show(parts) {
    if (!this.panes) return;
    const known = this.model.stages.map((stage) => String(stage.name));
    const first = known.includes(parts[0]) ? parts[0] : this.names[0] || known[0];
    const usual = known[Math.min(known.indexOf(first) + 1, known.length - 1)];
    const second = known.includes(parts[1]) ? parts[1] : this.names[1] || usual;
    [first, second].forEach((name, side) => {
      if (this.names[side] === name) return;
      this.names[side] = name;
      this.choices[side].value = name;
      this.panes[side].setText('plait', this.stageByName.get(name).text, []);
      this.panes[side].render();
    });
    this.twins.pinned = null;
    this.mark(this.marking);
  }

  mark(marking) {
    this.marking = marking;
    this.toggle.checked = marking;
    this.panes.forEach((pane, side) => pane.setMarks(marking ? changesOf(pane, this.panes[1 - side]) : null));
    if (!marking) {
      this.summary.textContent = '';
      return;
    }
    const counts = this.panes.map((pane) => [...pane.marks.values()].filter((mark) => mark === 'only').length);
    const changed = this.panes[1].marks.size - counts[1];
    this.summary.textContent = plural(changed, 'line') + ' changed, ' + counts[0] + ' only on the left, ' + counts[1] +
        ' only on the right';
  }

  nextChange(direction) {
    if (!this.marking) this.mark(true);
    const pane = this.panes[1].marks.size > 0 ? this.panes[1] : this.panes[0];
    const lines = [...pane.marks.keys()].sort((a, b) => a - b);
    if (lines.length === 0) return;
    const from = pane.found === null ? -1 : pane.found;
    const next = direction > 0 ? lines.find((line) => line > from) : lines.filter((line) => line < from).pop();
    pane.found = next !== undefined ? next : direction > 0 ? lines[0] : lines[lines.length - 1];
    pane.scrollTo(pane.found);
    pane.markAll();
    const other = this.panes.find((candidate) => candidate !== pane);
    const keys = pane.index().defines(pane.found);
    const twin = other.index().firstWith(keys, other.index().linesWith(keys));
    if (twin !== null) other.scrollTo(twin);
    this.twins.light('hover', pane, pane.found);
  }

  key(event) {
    if (!this.panes) return false;
    if (event.key === 'Escape') return this.twins.unpin();
    if (event.key === 'n') this.nextChange(1);
    else if (event.key === 'p') this.nextChange(-1);
    else if (event.key === 'c') this.mark(!this.marking);
    else return false;
    return true;
  }

  print(begins) {
    for (const pane of this.panes || []) pane.print(begins);
  }
}

// Lines of a pane that the other has not: 'changed' where the other defines the same tensor, else 'only'.
function changesOf(pane, other) {
  const left = new Map();
  for (const line of other.source) {
    const text = line.trim();
    left.set(text, (left.get(text) || 0) + 1);
  }
  const marks = new Map();
  pane.source.forEach((line, index) => {
    const text = line.trim();
    const count = left.get(text) || 0;
    if (text === '' || text === '}') return;
    if (count > 0) {
      left.set(text, count - 1);
      return;
    }
    const defined = [...pane.index().defines(index)];
    marks.set(index, defined.some((key) => other.index().defining.has(key)) ? 'changed' : 'only');
  });
  return marks;
}
