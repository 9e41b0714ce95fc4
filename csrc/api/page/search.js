// The search field: segments, kernels, tensors and ops by part of their names.

const MOST_FOUND = 40;

class Search {
  constructor(model, holder) {
    this.items = searchItems(model);
    this.found = [];
    this.at = 0;
    this.field = make('input', {type: 'search', placeholder: 'Search  /',
        'aria-label': 'Search tensors, ops, segments and kernels',
      role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found', 'aria-autocomplete': 'list',
          autocomplete: 'off',
      spellcheck: 'false', input: () => this.look(), keydown: (event) => this.key(event), blur: () => this.close(),
      focus: () => this.look()});
    this.list = make('ul', {id: 'found', role: 'listbox', 'aria-label': 'Found', hidden: true});
    holder.append(this.field, this.list);
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  look() {
    const sought = this.field.value.trim().toLowerCase();
    this.found = sought === '' ? [] : findItems(this.items, sought);
    this.at = 0;
    const nothing = sought !== '' && this.found.length === 0;
    const lines = this.found.map((item, index) => {
      const choose = (event) => {
        event.preventDefault();
        this.jump(item);
      };
      return make('li', {role: 'option', id: 'found' + index, pointerdown: choose},
          make('span', {class: 'found-kind'}, item.kind),
          make('span', {class: 'code'}, item.name), make('span', {class: 'dim code'}, ' ' + item.detail));
    });
    append(clear(this.list), nothing ? [make('li', {class: 'dim'}, 'Nothing has this in its name.')] : lines);
    this.list.hidden = !nothing && lines.length === 0;
    this.field.setAttribute('aria-expanded', String(!this.list.hidden));
    this.mark();
  }

  mark() {
    [...this.list.children].forEach((line, index) =>
        line.setAttribute('aria-selected', String(index === this.at && this.found.length > 0)));
    const line = this.found.length > 0 ? this.list.children[this.at] : null;
    if (line) line.scrollIntoView({block: 'nearest'});
    if (line) this.field.setAttribute('aria-activedescendant', line.id);
    else this.field.removeAttribute('aria-activedescendant');
  }

  close() {
    this.list.hidden = true;
    this.field.setAttribute('aria-expanded', 'false');
  }

  jump(item) {
    this.close();
    this.field.blur();
    go(...item.goal);
  }

  key(event) {
    event.stopPropagation();
    const count = this.found.length;
    if (event.key === 'Escape') {
      this.field.value = '';
      this.field.blur();
    } else if (event.key === 'Enter' && count > 0) {
      this.jump(this.found[this.at]);
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && count > 0) {
      event.preventDefault();
      this.at = (this.at + (event.key === 'ArrowDown' ? 1 : count - 1)) % count;
      this.mark();
    }
  }
}

function searchItems(model) {
  const items = [];
  const add = (kind, name, detail, ...goal) =>
      items.push({kind, name, detail, goal, words: (name + ' ' + detail).toLowerCase()});
  model.segments.forEach((segment) =>
      add('segment', String(segment.name), segment.kind + ' ' + (segment.schedule || ''), 'graph', segment.name));
  model.kernels.forEach((kernel) => add('kernel', '@' + kernel.name, kernel.schedule || '', 'kernels', kernel.name));
  model.tensors.forEach((tensor) => add('tensor', '%' + tensor.name, shapeText(tensor), 'graph', '%' + tensor.name));
  model.ops.forEach((op) => {
    const segment = model.segments[op.segment];
    const result = model.tensors[listOf(op.outputs)[0]];
    const goal = segment ? ['graph', segment.name] : result ? ['graph', '%' + result.name] : ['graph'];
    add('op', String(op.name), String(op.text), ...goal);
  });
  for (const item of items) item.plain = item.name.replace(/^[%@]/, '').toLowerCase();
  return items;
}

// Whole names first, then beginnings of names, then parts of names, then parts of what else is said.
function findItems(items, sought) {
  const ranked = [[], [], [], []];
  for (const item of items) {
    const lower = item.name.toLowerCase();
    if (item.plain === sought || lower === sought) ranked[0].push(item);
    else if (item.plain.startsWith(sought) || lower.startsWith(sought)) ranked[1].push(item);
    else if (lower.includes(sought)) ranked[2].push(item);
    else if (item.words.includes(sought)) ranked[3].push(item);
  }
  return ranked.flat().slice(0, MOST_FOUND);
}
