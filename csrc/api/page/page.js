// The page: its header, its tabs, its keys; what is shown stands in the address.

const TABS = [['graph', 'Graph', GraphTab], ['kernels', 'Kernels', KernelsTab], ['text', 'Text', TextsTab],
    ['ranks', 'Ranks', RanksTab],
  ['timeline', 'Timeline', TimelineTab], ['memory', 'Memory', MemoryTab]];

const KEYS = [
  ['1 to 6', 'the tabs'], ['/', 'search; Enter jumps to the marked line'], ['d', 'dark or light'], ['?', 'these keys'],
  ['arrows', 'Graph: choose a box; Kernels: choose a kernel; Timeline: move'],
      ['+  -  0', 'Graph, Timeline: closer, further, all in sight'],
  ['wheel, drag', 'Graph, Timeline: zoom and move'],
      ['Enter', 'Graph: to the kernel of the chosen box (a double click does it too)'],
  ['click on a line', 'Kernels, Text: pins its twins; Escape lets go'],
      ['c  n  p', 'Text: mark changes, next, previous'],
  ['Escape', 'Graph: choose nothing'],
];

const page = {tabs: new Map(), current: null, shownHash: null};

// Goes to a tab and what is chosen in it.
function go(...parts) {
  const hash = address(...parts);
  const sameTab = page.current && page.current.name === parts[0];
  if (hash !== location.hash) {
    if (sameTab) history.replaceState(null, '', hash);
    else location.hash = hash;
  }
  showHash();
}

function partsOfHash() {
  return location.hash.slice(1).split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch (error) {
      return part;
    }
  });
}

function showHash() {
  if (location.hash === page.shownHash) return;
  page.shownHash = location.hash;
  const [name, ...parts] = partsOfHash();
  const tab = page.tabs.get(name) || page.tabs.get('graph');
  hideTip();
  if (page.current && page.current !== tab) page.current.memory = page.shownParts;
  for (const other of page.tabs.values()) {
    const here = other === tab;
    other.button.setAttribute('aria-selected', String(here));
    other.button.tabIndex = here ? 0 : -1;
    other.panel.hidden = !here;
  }
  page.current = tab;
  if (!tab.built) {
    tab.built = true;
    tab.view.build(tab.panel);
  }
  page.shownParts = page.tabs.has(name) ? parts : [];
  tab.view.show(page.shownParts);
}

// Back to a tab as it was left.
function openTab(tab) {
  go(tab.name, ...(tab === page.current ? page.shownParts : tab.memory || []));
}

function buildTabs(model) {
  const bar = document.getElementById('tabs');
  TABS.forEach(([name, title, Tab], index) => {
    const button = make('button',
        {type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'panel-' + name, title: 'Key ' + (index + 1),
      click: () => openTab(page.tabs.get(name))}, title);
    const panel = make('div', {role: 'tabpanel', id: 'panel-' + name, class: 'panel', 'aria-labelledby': 'tab-' + name,
        hidden: true});
    page.tabs.set(name, {name, button, panel, view: new Tab(model), built: false, memory: null});
    bar.append(button);
    document.getElementById('panels').append(panel);
  });
  bar.addEventListener('keydown', (event) => {
    const names = TABS.map(([name]) => name);
    const at = names.indexOf(page.current.name);
    const places = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1};
    if (!(event.key in places)) return;
    event.preventDefault();
    event.stopPropagation();
    const tab = page.tabs.get(names[(places[event.key] + names.length) % names.length]);
    openTab(tab);
    tab.button.focus();
  });
}

function buildHeader(model) {
  const {source, counts, times} = model;
  const sizes = Object.entries(source.sizes || {}).map(([name, size]) => name + ' = ' + size).join(', ');
  const fact = (...children) => make('span', {class: 'fact'}, children);
  const number = (count, word, several) => isNumber(count) ?
      fact(make('b', null, countText(count)), ' ' + (count === 1 ? word : several || word + 's')) : null;
  const header = document.getElementById('header');
  append(header, [
    make('div', {class: 'facts'}, make('h1', null, '@' + source.title), fact(make('b', null, String(source.device))),
        fact(ranksText(model)),
        sizes ? make('span', {class: 'fact code', title: sizes}, shorten(sizes, 120)) : null,
            make('span', {class: 'gap'}),
        source.version ? make('span', {class: 'dim'}, 'plait ' + source.version) : null),
    make('div', {class: 'facts'}, number(model.ops.length, 'op'), number(counts.kernels, 'kernel'),
        number(counts.launches, 'launch', 'launches'),
        number(counts.library_calls, 'library call'), number(counts.collectives, 'collective'),
        isNumber(counts.bytes_moved) ? fact(make('b', null, bytesText(counts.bytes_moved)),
            ' moved of least ' + bytesText(counts.bytes_least) + ' ',
            badge(counts.bytes_moved, counts.bytes_least)) : null,
        isNumber(counts.arena_bytes) ? fact('arena ', make('b', null, bytesText(counts.arena_bytes))) : null,
        isNumber(counts.wire_bytes) ? fact('wire ', make('b', null, bytesText(counts.wire_bytes))) : null,
        isNumber(times.compile_ms) ? fact('compiled in ', make('b', null, millisecondsText(times.compile_ms))) : null,
        isNumber(times.run_ms) ? fact('ran in ', make('b', null, millisecondsText(times.run_ms))) : fact('not run')),
  ]);
  document.title = '@' + source.title + ' - plait view';
}

function buildButtons() {
  document.getElementById('buttons').append(
      make('button', {type: 'button', title: 'Dark or light (d)', 'aria-label': 'Dark or light', click: changeTheme},
          '\u25d0'),
      make('button', {type: 'button', title: 'Keys (?)', 'aria-label': 'Keys', click: showKeys}, '?'));
  const dialog = document.getElementById('keys');
  append(dialog, [make('h2', null, 'Keys'),
      make('dl', null, KEYS.map(([key, meaning]) => [make('dt', null, make('kbd', null, key)),
      make('dd', null, meaning)])),
    make('form', {method: 'dialog'}, make('button', {type: 'submit'}, 'Close'))]);
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
}

function showKeys() {
  const dialog = document.getElementById('keys');
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function changeTheme() {
  switchTheme();
  tellTheme();
}

function tellTheme() {
  for (const tab of page.tabs.values()) {
    if (tab.built && tab.view.theme) tab.view.theme();
  }
}

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (/^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox') return;
  if (event.key === '?') showKeys();
  else if (document.getElementById('keys').open) return;
  else if (event.key === '/') page.search.focus();
  else if (event.key === 'd') changeTheme();
  else if (/^[1-6]$/.test(event.key)) openTab(page.tabs.get(TABS[event.key - 1][0]));
  else if (!page.current.view.key(event)) return;
  event.preventDefault();
}

function printing(begins) {
  if (page.current && page.current.view.print) page.current.view.print(begins);
}

function start() {
  applyTheme();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    applyTheme();
    tellTheme();
  });
  const source = JSON.parse(document.getElementById('document').textContent);
  if (source === null || source.format !== 1) {
    const format = source === null ? 'none' : String(source.format);
    document.getElementById('panels').append(make('p', {class: 'sentence'},
        'This page shows documents of format 1, and this one has format ' + format +
            '. A plait of the same version writes both.'));
    document.body.dataset.ready = 'yes';
    return;
  }
  const model = new Model(source);
  buildHeader(model);
  buildTabs(model);
  buildButtons();
  page.search = new Search(model, document.getElementById('search'));
  showHash();
  if (!page.current) openTab(page.tabs.get('graph'));
  window.addEventListener('hashchange', showHash);
  document.addEventListener('keydown', keyPressed);
  window.addEventListener('beforeprint', () => printing(true));
  window.addEventListener('afterprint', () => printing(false));
  document.body.dataset.ready = 'yes';
}

start();
