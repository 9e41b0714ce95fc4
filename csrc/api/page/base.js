'use strict';
// Elements, numbers in words, the tooltip, the theme.

const SHAPES = 'http://www.w3.org/2000/svg';
const KINDS = ['kernel', 'library', 'collective', 'copy', 'alias'];

function listOf(value) {
  return Array.isArray(value) ? value : [];
}

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

// Attributes of an element: functions listen, null and false are left out.
function give(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

function make(tag, attributes, ...children) {
  return append(give(document.createElement(tag), attributes), children);
}

function makeShape(tag, attributes, ...children) {
  return append(give(document.createElementNS(SHAPES, tag), attributes), children);
}

function clear(element) {
  element.replaceChildren();
  return element;
}

// One of the names that the style sheet knows.
function kindClass(kind) {
  return 'kind-' + (KINDS.includes(kind) ? kind : 'alias');
}

function kindOfStep(kind) {
  if (kind === 'launch') return 'kernel';
  if (kind === 'fill') return 'copy';
  return KINDS.includes(kind) ? kind : 'alias';
}

function countText(count) {
  return isNumber(count) ? count.toLocaleString('en-US') : '-';
}

function plural(count, word, several) {
  return countText(count) + ' ' + (count === 1 ? word : several || word + 's');
}

function significant(value) {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

function bytesText(count) {
  if (!isNumber(count)) return '-';
  if (count < 1024) return count + ' B';
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = count / 1024;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return significant(value) + ' ' + units[unit];
}

function microsecondsText(time) {
  if (!isNumber(time)) return '-';
  if (time >= 1e6) return significant(time / 1e6) + ' s';
  if (time >= 1000) return significant(time / 1000) + ' ms';
  return significant(time) + ' \u00b5s';
}

function millisecondsText(time) {
  return isNumber(time) ? microsecondsText(1000 * time) : '-';
}

function shareText(share) {
  return isNumber(share) ? (100 * share).toFixed(1) + '%' : '-';
}

function ratioOf(bytes, least) {
  return isNumber(bytes) && isNumber(least) && least > 0 ? bytes / least : null;
}

function ratioText(ratio) {
  return isNumber(ratio) ? ratio.toFixed(2) + 'x' : '-';
}

// How far from the least: near, some or far.
function ratioClass(ratio) {
  if (!isNumber(ratio)) return 'ratio-none';
  if (ratio <= 1.1) return 'ratio-near';
  return ratio <= 2 ? 'ratio-some' : 'ratio-far';
}

function rateText(bytes, time) {
  return isNumber(bytes) && bytes > 0 && time > 0 ? significant(bytes / time / 1000) + ' GB/s' : '-';
}

function shorten(text, length) {
  return text.length <= length ? text : text.slice(0, Math.max(1, length - 1)) + '\u2026';
}

function address(...parts) {
  return '#' + parts.map(encodeURIComponent).join('/');
}

function linkTo(text, ...parts) {
  return make('a', {href: address(...parts)}, text);
}

function badge(bytes, least) {
  const ratio = ratioOf(bytes, least);
  return make('span', {class: 'badge ' + ratioClass(ratio)}, ratioText(ratio));
}

// A bar whose filled part is a share of the whole.
function shareBar(share, kind) {
  const bar = make('span', {class: 'share ' + kindClass(kind), 'aria-hidden': 'true'}, make('span'));
  bar.firstChild.style.width = (100 * Math.min(1, Math.max(0, share || 0))).toFixed(1) + '%';
  return bar;
}

function showTip(x, y, ...children) {
  const tip = append(clear(document.getElementById('tooltip')), children);
  tip.hidden = false;
  const width = tip.offsetWidth;
  const height = tip.offsetHeight;
  const left = x + 14 + width > innerWidth ? x - 10 - width : x + 14;
  const upper = y + 16 + height > innerHeight ? y - 10 - height : y + 16;
  tip.style.left = Math.max(4, left) + 'px';
  tip.style.top = Math.max(4, upper) + 'px';
}

function hideTip() {
  document.getElementById('tooltip').hidden = true;
}

function movesLittle() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

function storedTheme() {
  try {
    return localStorage.getItem('plait theme');
  } catch (error) {
    return null;
  }
}

function applyTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const chosen = storedTheme() || document.documentElement.dataset.chosen;
  document.documentElement.dataset.theme = chosen === 'dark' || (chosen !== 'light' && dark) ? 'dark' : 'light';
}

function switchTheme() {
  const chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.chosen = chosen;
  try {
    localStorage.setItem('plait theme', chosen);
  } catch (error) {
    // The choice then lasts as long as the page.
  }
  applyTheme();
}

// A colour of the theme, for canvases.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

// At most one call of `draw` per frame.
function oncePerFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = make('textarea', {class: 'offscreen'});
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return Promise.resolve();
}

// A table whose heads sort it. A column: {name, title, number, of(row), cell(row)}.
class SortedTable {
  constructor(columns, rows, pick) {
    this.columns = columns;
    this.rows = rows.slice();
    this.pick = pick;
    this.by = 0;
    this.down = false;
    this.lines = new Map();
    this.body = make('tbody');
    this.heads = columns.map((column, index) => make('th', {scope: 'col', class: column.number ? 'number' : null},
        make('button', {type: 'button', title: column.title, click: () => this.sortBy(index)}, column.name)));
    this.element = make('table', {class: 'sorted'}, make('thead', null, make('tr', null, this.heads)), this.body);
    this.fill();
  }

  sortBy(index) {
    this.down = this.by === index ? !this.down : Boolean(this.columns[index].number && index > 0);
    this.by = index;
    this.fill();
  }

  fill() {
    const value = this.columns[this.by].of;
    const sign = this.down ? -1 : 1;
    this.rows.sort((a, b) => compareValues(value(a), value(b), sign));
    this.heads.forEach((head, index) => {
      head.setAttribute('aria-sort', index !== this.by ? 'none' : this.down ? 'descending' : 'ascending');
    });
    this.body.replaceChildren(...this.rows.map((row) => this.lineOf(row)));
  }

  lineOf(row) {
    let line = this.lines.get(row);
    if (!line) {
      line = make('tr', {click: () => this.pick(row)}, this.columns.map((column) =>
        make('td', {class: column.number ? 'number' : null}, column.cell ? column.cell(row) : String(column.of(row)))));
      this.lines.set(row, line);
    }
    return line;
  }

  choose(row) {
    for (const [other, line] of this.lines) {
      line.classList.toggle('chosen', other === row);
      line.setAttribute('aria-current', String(other === row));
    }
    const line = this.lines.get(row);
    if (line) line.scrollIntoView({block: 'nearest'});
  }
}

// What is not known comes last in both directions.
function compareValues(a, b, sign) {
  const unknownA = a === null || a === undefined;
  const unknownB = b === null || b === undefined;
  if (unknownA || unknownB) return unknownA - unknownB;
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * String(a).localeCompare(String(b), 'en', {numeric: true});
}
