// The tab of the kernels: a table, and the texts of the chosen one side by side.

class KernelsTab {
  constructor(model) {
    this.model = model;
    this.twins = new TwinGroup();
    this.hiddenPanes = new Set();
    this.shown = null;
  }

  build(panel) {
    if (this.model.kernels.length === 0) {
      panel.append(make('p', {class: 'sentence'},
          'No kernel was made: libraries and collectives compute everything, or nothing is computed.'));
      return;
    }
    this.rows = this.model.kernels.map((kernel, index) => ({kernel, index, sums: this.model.sumsOfKernel(index)}));
    this.table = new SortedTable(kernelColumns(), this.rows, (row) => go('kernels', row.kernel.name));
    this.head = make('div', {class: 'kernel-head'});
    this.panes = make('div', {class: 'panes'});
    panel.append(make('div', {class: 'stack'},
        make('div', {class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Kernels'},
        this.table.element), this.head, this.panes));
  }

  show(parts) {
    if (!this.rows) return;
    const found = this.model.kernelsByName.get(parts[0]);
    const index = found !== undefined ? found : this.shown === null ? 0 : this.shown;
    this.table.choose(this.rows[index]);
    if (index === this.shown) return;
    this.shown = index;
    this.showTexts(index);
  }

  showTexts(index) {
    const kernel = this.model.kernels[index];
    const stages = listOf(kernel.stages);
    const first = stages.find((stage) => languageOf(stage.name) === 'kir');
    const parameters = first ? parametersOf(String(first.text)) : [];
    const panes = [new TextPane('ops', 'plait', this.opsText(index), [])];
    for (const stage of stages) panes.push(new TextPane(String(stage.name), languageOf(stage.name), stage.text,
        parameters));
    this.twins.use(panes);
    clear(this.panes).append(...panes.map((pane) => pane.element));
    const toggles = panes.map((pane, place) => {
      const name = place === 0 ? 'ops' : String(stages[place - 1].name);
      const change = (shown) => {
        pane.element.hidden = !shown;
        if (shown) this.hiddenPanes.delete(name);
        else this.hiddenPanes.add(name);
      };
      const toggle = make('input', {type: 'checkbox', change: (event) => change(event.target.checked)});
      toggle.checked = !this.hiddenPanes.has(name);
      pane.element.hidden = !toggle.checked;
      return make('label', null, toggle, ' ' + name);
    });
    append(clear(this.head), [make('h2', {class: 'code'}, '@' + kernel.name), this.factsOf(index),
      make('span', {class: 'gap'}), make('span', {class: 'toggles'}, toggles),
      make('span', {class: 'dim hint'}, 'Hover lights twins, a click pins them.')]);
    for (const pane of panes) {
      pane.showKernel();
      pane.render();
    }
  }

  factsOf(index) {
    const kernel = this.model.kernels[index];
    const segments = this.model.segmentsOfKernel[index];
    const facts = [kernel.arch, isNumber(kernel.shared_bytes) && kernel.shared_bytes > 0 ?
        bytesText(kernel.shared_bytes) + ' shared' : null,
      isNumber(kernel.spill_bytes) && kernel.spill_bytes > 0 ? bytesText(kernel.spill_bytes) + ' spilled' : null];
    return make('span', null, segments.length > 0 ?
        ['computes ', separated(segments.slice(0, 8).map((segment) => segmentLink(this.model, segment))),
      segments.length > 8 ? ', ...' : '', '; '] : null, facts.filter(Boolean).join(', '));
  }

  opsText(index) {
    const lines = [];
    for (const number of this.model.segmentsOfKernel[index]) {
      const segment = this.model.segments[number];
      lines.push('# segment ' + segment.name + (segment.schedule ? ', ' + segment.schedule : ''));
      for (const op of listOf(segment.ops)) {
        if (this.model.ops[op]) lines.push(String(this.model.ops[op].text));
      }
    }
    return lines.length > 0 ? lines.join('\n') : '# no segment names this kernel';
  }

  key(event) {
    if (event.key === 'Escape') return this.twins.unpin();
    const here = event.target === document.body || event.target.closest('.table-scroll');
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!here || step === 0 || !this.rows) return false;
    const order = this.table.rows;
    const next = order[order.findIndex((row) => row.index === this.shown) + step];
    if (next) go('kernels', next.kernel.name);
    return true;
  }

  print(begins) {
    for (const pane of this.twins.panes) pane.print(begins);
  }
}

function kernelColumns() {
  const number = (value) => isNumber(value) ? value : null;
  return [
    {name: '#', title: 'The order in which kernels were made', number: true, of: (row) => row.index,
        cell: (row) => String(row.index + 1)},
    {name: 'kernel', title: 'Its name', of: (row) => row.kernel.name,
        cell: (row) => linkTo('@' + row.kernel.name, 'kernels', row.kernel.name)},
    {name: 'schedule', title: 'How it is made', of: (row) => row.kernel.schedule || '',
      cell: (row) => make('span', {class: 'code schedule', title: row.kernel.schedule}, row.kernel.schedule || '')},
    {name: 'launches', title: 'Steps of a run that launch it', number: true, of: (row) => row.sums.launches},
    {name: 'time', title: 'Of the last run, mean over ranks', number: true, of: (row) => row.sums.time,
        cell: (row) => microsecondsText(row.sums.time)},
    {name: 'share', title: 'Of the time of all steps', number: true, of: (row) => row.sums.share,
        cell: (row) => shareText(row.sums.share)},
    {name: 'bytes', title: 'Read and written by its launches', number: true, of: (row) => row.sums.bytes,
        cell: (row) => bytesText(row.sums.bytes)},
    {name: 'of least', title: 'Bytes against the least that its segments need', number: true,
        of: (row) => row.sums.ratio,
      cell: (row) => make('span', {class: 'badge ' + ratioClass(row.sums.ratio)}, ratioText(row.sums.ratio))},
    {name: 'instructions', title: 'Of its machine code', number: true, of: (row) => number(row.kernel.instructions),
      cell: (row) => countText(row.kernel.instructions)},
    {name: 'registers', title: 'Per thread; spilled bytes in parentheses', number: true,
        of: (row) => number(row.kernel.registers),
      cell: (row) => countText(row.kernel.registers) +
          (row.kernel.spill_bytes > 0 ? ' (' + row.kernel.spill_bytes + ')' : '')},
    {name: 'compile', title: 'Time of its compilation', number: true, of: (row) => number(row.kernel.compile_ms),
      cell: (row) => millisecondsText(row.kernel.compile_ms)},
    {name: 'from disk', title: 'Whether its machine code was kept on disk', of: (row) => row.kernel.from_disk ? 'yes' :
        'no'},
  ];
}
