// Twins: lines of several texts that share an identifier.
// An identifier has one key in all texts: n:x for a tensor %x, v:12 for the value 12 of a kernel.

// The names of a kernel's buffers, in order, from the first line of its kernel IR.
function parametersOf(text) {
  const head = /^\s*kernel @[\w.]+\s*\(([^;)]*)/m.exec(text);
  return head ? Array.from(head[1].matchAll(/%(\w+)\s*:/g), (match) => match[1]) : [];
}

class TwinIndex {
  constructor(lines, language, parameters) {
    this.lines = lines;
    this.language = language;
    this.parameters = parameters;
    this.defining = new Map();
    this.mentioning = new Map();
    if (language === 'llvm') this.findScopes();
    for (let line = 0; line < lines.length; ++line) {
      for (const key of this.mentions(line)) addTo(this.mentioning, key, line);
      for (const key of this.defines(line)) addTo(this.defining, key, line);
    }
  }

  // Values of LLVM text belong to their function; pointers to buffers are known by the kernel's parameters, values of
  // kernel IR by the comments behind them.
  findScopes() {
    this.scopes = new Int32Array(this.lines.length);
    this.buffers = new Map();
    this.values = new Map();
    const entries = new Map();
    let scope = 0;
    this.lines.forEach((line, index) => {
      if (line.startsWith('define')) ++scope;
      this.scopes[index] = scope;
      const value = /^\s*(%t\d+) = .*  ; %(\d+)$/.exec(line);
      if (value) this.values.set(scope + value[1], value[2]);
      const entry = /^\s*(%\w+) = getelementptr inbounds ptr, ptr %buffers, i64 (\d+)/.exec(line);
      if (entry) entries.set(scope + entry[1], Number(entry[2]));
      const pointer = /^\s*(%\w+) = load ptr, ptr (%\w+)/.exec(line);
      if (pointer && entries.has(scope + pointer[2])) {
        this.buffers.set(scope + pointer[1], entries.get(scope + pointer[2]));
      }
    });
  }

  // The key of a word of a line, or null where it is no identifier.
  keyOf(word, line) {
    switch (this.language) {
      case 'kir':
        return /^%\d+$/.test(word) ? 'v:' + word.slice(1) : word.startsWith('%') ? 'n:' + word.slice(1) : null;
      case 'cuda':
        if (/^v\d+$/.test(word)) return 'v:' + word.slice(1);
        return /^b\d+$/.test(word) ? this.bufferKey(Number(word.slice(1))) : null;
      case 'llvm': {
        if (/^%variable\d+$/.test(word)) return 'v:' + word.slice('%variable'.length);
        if (!/^%t\d+$/.test(word)) return null;
        const scoped = this.scopes[line] + word;
        if (this.values.has(scoped)) return 'v:' + this.values.get(scoped);
        return this.buffers.has(scoped) ? this.bufferKey(this.buffers.get(scoped)) : 'l:' + scoped;
      }
      case 'ptx':
        return /^%[a-z]+\d+$/.test(word) ? 'p:' + word : null;
      default:
        return word.startsWith('%') ? 'n:' + word.slice(1) : null;
    }
  }

  bufferKey(number) {
    return number < this.parameters.length ? 'n:' + this.parameters[number] : 'b:' + number;
  }

  keysOf(words, line) {
    const keys = new Set();
    for (const word of words) {
      const key = this.keyOf(word, line);
      if (key !== null) keys.add(key);
    }
    return keys;
  }

  mentions(line) {
    const words = this.language === 'cuda' ? /\b[vb]\d+\b/g : /%\w+/g;
    return this.keysOf(this.lines[line].match(words) || [], line);
  }

  defines(line) {
    return this.keysOf(definedWords(this.language, this.lines[line]), line);
  }

  // The lines with any of the keys; a head that names every parameter counts only where nothing else does.
  linesWith(keys) {
    const found = new Set();
    for (const key of keys) {
      for (const line of this.mentioning.get(key) || []) found.add(line);
    }
    const others = [...found].filter((line) => !isHead(this.lines[line]));
    return others.length > 0 ? others.sort((a, b) => a - b) : [...found];
  }

  // The line to show first: one that defines a key, else the first that mentions one.
  firstWith(keys, lines) {
    for (const key of keys) {
      const defining = (this.defining.get(key) || []).find((line) => !isHead(this.lines[line]));
      if (defining !== undefined) return defining;
    }
    return lines.length > 0 ? lines[0] : null;
  }
}

function addTo(map, key, line) {
  const lines = map.get(key);
  if (lines) lines.push(line);
  else map.set(key, [line]);
}

function isHead(line) {
  return /^\s*(?:kernel @|extern "C"|const \w+\* __restrict__|segment @|program @|fusion @|define |# )/.test(line);
}

// The words that a line defines: what stands before = or :, and what a step writes.
function definedWords(language, line) {
  switch (language) {
    case 'kir': {
      const match = /^\s*(?:store |assign |alloc )?(%\w+)(?:\[[^\]]*\])?\s*[:=]/.exec(line);
      return match ? [match[1]] : [];
    }
    case 'cuda': {
      const match = /\b([vb]\d+)(?:\[[^\]]*\])?\s*=(?!=)/.exec(line) ||
          /^\s*(?:[\w<>,: ]+)\s([vb]\d+)(?:\[[^\]]*\])*\s*;/.exec(line) ||
              /\b(?:load|store)_\w+\(([vb]\d+)\b/.exec(line);
      return match ? [match[1]] : [];
    }
    case 'llvm': {
      const match = /^\s*(%\w+)\s*=/.exec(line);
      return match ? [match[1]] : [];
    }
    case 'ptx': {
      const match = /^\s*(?:@!?%\w+\s+)?[\w.:]+\s+\{?(%\w+)/.exec(line);
      return match ? [match[1]] : [];
    }
    default: {
      const match = /^\s*(?:param )?(%\w+)[^=%]*?[:=]/.exec(line);
      if (match) return [match[1]];
      const arrow = line.indexOf('->');
      return arrow < 0 || /^\s*segment/.test(line) ? [] : line.slice(arrow).match(/%\w+/g) || [];
    }
  }
}

// Panes whose lines light each other.
class TwinGroup {
  constructor() {
    this.panes = [];
    this.pinned = null;
  }

  use(panes) {
    this.panes = panes;
    this.pinned = null;
    for (const pane of panes) {
      pane.onHover = (line) => this.light('hover', pane, line);
      pane.onPick = (line) => this.pin(pane, line);
    }
  }

  pin(pane, line) {
    const again = this.pinned && this.pinned.pane === pane && this.pinned.line === line;
    this.pinned = again ? null : {pane, line};
    const firsts = this.light('pin', pane, again ? null : line);
    if (again) return;
    this.panes.forEach((other, index) => {
      if (other !== pane && firsts[index] !== null) other.scrollTo(firsts[index]);
    });
  }

  unpin() {
    if (!this.pinned) return false;
    this.light('pin', this.pinned.pane, null);
    this.pinned = null;
    return true;
  }

  // Lights the twins of a line, and returns the line of each pane to show first.
  light(manner, pane, line) {
    if (line === null) return this.panes.map((other) => other.setTwins(manner, null, [], new Set()));
    const defined = pane.index().defines(line);
    const mentioned = pane.index().mentions(line);
    return this.panes.map((other) => {
      let keys = defined;
      let lines = other.index().linesWith(defined);
      if (other === pane) {
        lines = lines.filter((twin) => twin !== line);
      } else if (lines.length === 0) {
        keys = mentioned;
        lines = other.index().linesWith(mentioned);
      }
      const all = new Set([...defined, ...keys]);
      other.setTwins(manner, other === pane ? line : null, lines, all);
      return other.index().firstWith(keys, lines);
    });
  }
}
