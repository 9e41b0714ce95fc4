// The panel beside the graph: what is chosen, in words.

function panelOfSegment(model, index) {
  const segment = model.segments[index];
  const partners = model.partnersOf(index).filter((other) => other !== index);
  return [
    make('h2', null, make('span', {class: 'chip ' + kindClass(segment.kind)}, segment.kind), ' ', segment.name),
    segment.schedule && segment.schedule !== segment.kind ? make('p', {class: 'code wrap'}, segment.schedule) : null,
    partners.length > 0 ? make('p', {class: 'joined-note'}, 'Launch ' + segment.launch + ' also computes ',
        separated(partners.map((other) => segmentLink(model, other))), '.') : null,
    bytesLine(segment),
    kernelLine(model, segment),
    make('h3', null, plural(listOf(segment.ops).length, 'op')),
    opsBlock(model, segment),
    tensorTable(model, 'Reads', listOf(segment.inputs), (tensor) => sourceOf(model, tensor)),
    tensorTable(model, 'Writes', listOf(segment.outputs), (tensor) => readersLine(model, tensor)),
    stepsBlock(model, index),
    boundariesBlock(model, index),
  ];
}

function separated(items) {
  return items.flatMap((item, index) => index === 0 ? [item] : [', ', item]);
}

function segmentLink(model, index) {
  const segment = model.segments[index];
  return segment ? linkTo(segment.name, 'graph', segment.name) : '?';
}

function bytesLine(segment) {
  const ratio = ratioOf(segment.bytes, segment.bytes_least);
  if (!isNumber(segment.bytes)) return null;
  return make('p', null, 'Reads and writes ', make('b', null, bytesText(segment.bytes)), '; the least is ',
      make('b', null, bytesText(segment.bytes_least)), ratio === null ? '. ' : ': ',
      ratio === null ? null : badge(segment.bytes, segment.bytes_least));
}

function kernelLine(model, segment) {
  const kernel = model.kernels[segment.kernel];
  if (!kernel) return null;
  const parts = [isNumber(kernel.instructions) ? plural(kernel.instructions, 'instruction') : null,
    isNumber(kernel.registers) ? plural(kernel.registers, 'register') : null,
    isNumber(kernel.spill_bytes) && kernel.spill_bytes > 0 ? bytesText(kernel.spill_bytes) + ' spilled' : null,
    isNumber(kernel.shared_bytes) && kernel.shared_bytes > 0 ? bytesText(kernel.shared_bytes) + ' shared' : null,
    kernel.from_disk ? 'from disk' : isNumber(kernel.compile_ms) ? 'compiled in ' +
        millisecondsText(kernel.compile_ms) : null];
  return make('p', null, 'Kernel ', linkTo('@' + kernel.name, 'kernels', kernel.name), ' for ' + kernel.arch + ': ' +
      parts.filter(Boolean).join(', ') + '.');
}

function opsBlock(model, segment) {
  const ops = listOf(segment.ops).map((op) => model.ops[op]).filter(Boolean);
  const shown = ops.slice(0, 200);
  const lines = shown.map((op) => shorten(String(op.text), LONGEST_LINE));
  if (ops.length > shown.length) lines.push('# and ' + (ops.length - shown.length) + ' more');
  return lines.length > 0 ? colouredText('plait', lines) : null;
}

function tensorTable(model, title, tensors, other) {
  if (tensors.length === 0) return null;
  return [make('h3', null, title),
    make('ul', {class: 'tensors'}, tensors.slice(0, 200).map((index) => {
      const tensor = model.tensors[index];
      if (!tensor) return null;
      return make('li', null, tensorLine(tensor),
          make('div', {class: 'dim'}, bytesText(bytesOfTensor(tensor)), ', ', other(index)));
    })),
    tensors.length > 200 ? make('p', {class: 'dim'}, 'and ' + (tensors.length - 200) + ' more') : null];
}

function sourceOf(model, tensor) {
  const producer = model.producerOf[tensor];
  if (producer !== null) return ['of ', segmentLink(model, producer)];
  const kind = model.tensors[tensor].kind;
  return [kind === 'param' ? 'a parameter' : kind === 'input' ? 'an input' : 'a value'];
}

function readersLine(model, tensor) {
  const readers = model.readersOf[tensor];
  const output = model.tensors[tensor].kind === 'output';
  if (readers.length === 0) return [output ? 'an output' : 'nobody reads it'];
  const links = separated(readers.slice(0, 12).map((reader) => segmentLink(model, reader)));
  const more = readers.length > 12 ? ' and ' + (readers.length - 12) + ' more' : '';
  return [output ? 'an output, and ' : '', 'for ', links, more];
}

function stepsBlock(model, index) {
  const steps = model.stepsOfSegment[index];
  if (steps.length === 0) return null;
  return [make('h3', null, plural(steps.length, 'step')),
    make('ul', {class: 'steps'}, steps.slice(0, 60).map((step) => {
      const time = model.meanTime(step);
      return make('li', null, colouredLine('plait', String(model.steps[step].text)), make('div', {class: 'dim'},
          [model.steps[step].stream, isNumber(model.steps[step].bytes) ? bytesText(model.steps[step].bytes) : null]
              .filter(Boolean).join(', '),
          time === null ? null : [', ', linkTo(microsecondsText(time), 'timeline', String(step)),
            ' ' + rateText(model.steps[step].bytes, time).replace(/^-$/, '')]));
    }))];
}

// Why the kernels on both sides of each boundary are not one.
function boundariesBlock(model, index) {
  const boundaries = model.boundariesOf[index];
  if (boundaries.length === 0) return null;
  return [make('h3', null, 'Why not fewer kernels'), boundaries.slice(0, 40).map((boundary) => {
    const before = boundary.to === index;
    const other = before ? boundary.from : boundary.to;
    const names = listOf(boundary.tensors).map((tensor) => model.tensors[tensor]).filter(Boolean)
        .map((tensor) => '%' + tensor.name);
    return make('section', {class: 'boundary'},
        make('h4', null, before ? 'After ' : 'Before ', segmentLink(model, other), names.length > 0 ? ' at ' : '',
            make('span', {class: 'code'}, shorten(names.join(', '), 80))),
        refusersList(boundary));
  })];
}

function refusersList(boundary) {
  const refusers = listOf(boundary.refusers);
  if (refusers.length === 0) return make('p', {class: 'dim'}, 'Nobody was asked, or nobody said why.');
  return make('dl', null, refusers.map((refuser) => [
    make('dt', null, refuser.by),
    make('dd', null, refuser.reason,
        refuser.change ? make('div', {class: 'change'}, 'Would have to change: ' + refuser.change) : null),
  ]));
}

function panelOfTensor(model, index) {
  const tensor = model.tensors[index];
  const op = model.ops.find((candidate) => listOf(candidate.outputs).includes(index));
  return [
    make('h2', null, make('span', {class: 'chip'}, tensor.kind === 'param' ? 'parameter' : tensor.kind),
        ' %' + tensor.name),
    make('p', {class: 'code'}, shapeText(tensor)),
    symbolsText(tensor) ? make('p', {class: 'code'}, symbolsText(tensor)) : null,
    make('p', null, bytesText(bytesOfTensor(tensor)), tensor.layout ? ' on rank 0, ' : ', ', sourceOf(model, index),
        '; ',
        readersLine(model, index), '.'),
    op ? [make('h3', null, 'Made by'), colouredText('plait', [String(op.text)]),
      model.segments[op.segment] ? make('p', null, 'in ', segmentLink(model, op.segment)) : null] : null,
  ];
}

// Nothing is chosen: what is worth a look.
function panelOfAll(model) {
  const ranked = model.segments.map((segment, index) => index).filter((index) => isNumber(model.segments[index].bytes));
  ranked.sort((a, b) => model.segments[b].bytes - model.segments[a].bytes);
  const most = ranked.length > 0 ? Math.max(1, model.segments[ranked[0]].bytes) : 1;
  return [
    make('h2', null, 'What the compiler made'),
    make('p', {class: 'dim'}, 'Choose a box, or walk with the arrow keys. ', make('kbd', null, '?'),
        ' shows all keys.'),
    ranked.length > 0 ? [make('h3', null, 'Segments by bytes'), make('table', {class: 'plain'}, make('tbody', null,
        ranked.slice(0, 10).map((index) => {
          const segment = model.segments[index];
          return make('tr', null, make('td', null, segmentLink(model, index)),
              make('td', null, shareBar(segment.bytes / most, segment.kind)),
              make('td', {class: 'number'}, bytesText(segment.bytes)),
              make('td', {class: 'number'}, badge(segment.bytes, segment.bytes_least)));
        })))] : null,
    reasonsBlock(model),
    looseOps(model),
  ];
}

function reasonsBlock(model) {
  const reasons = new Map();
  for (const boundary of model.boundaries) {
    for (const refuser of listOf(boundary.refusers)) addTo(reasons, refuser.by + ': ' + refuser.reason, boundary);
  }
  if (reasons.size === 0) return null;
  const sorted = [...reasons].sort((a, b) => b[1].length - a[1].length);
  return [make('h3', null, 'Why not fewer kernels'),
      make('ul', {class: 'reasons'}, sorted.slice(0, 12).map(([reason, boundaries]) =>
    make('li', null, reason, make('div', {class: 'dim'}, plural(boundaries.length, 'boundary', 'boundaries') + ': ',
        separated(boundaries.slice(0, 6).map((boundary) => segmentLink(model, boundary.to))),
        boundaries.length > 6 ? ', ...' : ''))))];
}

function looseOps(model) {
  const loose = model.ops.filter((op) => op.segment === null || op.segment === undefined);
  if (loose.length === 0) return null;
  return [make('h3', null, plural(loose.length, 'op') + ' in no segment'),
    colouredText('plait', loose.slice(0, 30).map((op) => String(op.text)))];
}
