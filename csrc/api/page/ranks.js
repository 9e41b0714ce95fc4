// The tab of the ranks: who holds what, and what moves.

const PICTURE_ELEMENTS = new Set(('svg g rect circle ellipse line path polyline polygon text tspan title desc style defs ' +
    'pattern marker clipPath linearGradient stop').split(' '));

class RanksTab {
  constructor(model) {
    this.model = model;
  }

  build(panel) {
    const {layouts_svg: picture, layouts_text: text} = this.model.source;
    const content = make('div', {class: 'page-scroll', tabindex: '0', role: 'region', 'aria-label': 'Ranks'});
    panel.append(content);
    if (this.model.mesh.length === 0) {
      content.append(make('p', {class: 'sentence'},
          'There is no mesh: one rank holds every tensor whole, and nothing moves between ranks.'));
    } else {
      content.append(make('p', {class: 'sentence'}, ranksText(this.model) + ' hold the tensors of this program:'));
    }
    if (picture) {
      this.host = make('div', {class: 'picture'});
      content.append(this.host);
      this.inner = this.host.attachShadow({mode: 'open'});
      this.theme();
    }
    if (text) content.append(make('h2', null, 'In words'),
        colouredText('plait', String(text).split('\n').slice(0, 5000)));
  }

  show() {}

  key() {
    return false;
  }

  // The picture follows the page's theme, whatever the system prefers.
  theme() {
    if (!this.inner) return;
    const read = new DOMParser().parseFromString(String(this.model.source.layouts_svg), 'image/svg+xml');
    const root = read.documentElement;
    if (root.localName !== 'svg' || read.querySelector('parsererror')) {
      clear(this.inner).append('The picture cannot be read.');
      return;
    }
    const dark = document.documentElement.dataset.theme === 'dark';
    clear(this.inner).append(copyPicture(root, dark));
  }
}

// A copy of known elements only, without handlers and links.
function copyPicture(element, dark) {
  const copy = document.createElementNS(SHAPES, element.localName);
  for (const {name, value} of element.attributes) {
    if (/^(?:on|xmlns|href|xlink:|style$)/i.test(name)) continue;
    copy.setAttribute(name, value);
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE || child.nodeType === Node.CDATA_SECTION_NODE) {
      copy.append(element.localName === 'style' ? themedStyle(child.data, dark) : child.data);
    } else if (child.nodeType === Node.ELEMENT_NODE && PICTURE_ELEMENTS.has(child.localName)) {
      copy.append(copyPicture(child, dark));
    }
  }
  return copy;
}

function themedStyle(text, dark) {
  return text.replace(/@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)/g, dark ? '@media all' : '@media not all')
      .replace(/@media\s*\(\s*prefers-color-scheme\s*:\s*light\s*\)/g, dark ? '@media not all' : '@media all');
}
