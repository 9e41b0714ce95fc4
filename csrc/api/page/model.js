// The document, and who belongs to whom in it.

class Model {
  constructor(source) {
    this.source = source;
    for (const name of ['mesh', 'stages', 'tensors', 'ops', 'segments', 'boundaries', 'kernels', 'steps', 'memory']) {
      this[name] = listOf(source[name]);
    }
    this.counts = source.counts || {};
    this.times = source.times || {};
    this.timeline = source.timeline || null;
    this.spans = this.timeline ? listOf(this.timeline.spans) : [];
    this.ranks = isNumber(source.ranks) ? source.ranks : 1;
    this.segmentsByName = byName(this.segments);
    this.kernelsByName = byName(this.kernels);
    this.tensorsByName = byName(this.tensors);
    this.joinTensors();
    this.joinSegments();
    this.joinSteps();
    this.addTimes();
  }

  joinTensors() {
    this.producerOf = new Array(this.tensors.length).fill(null);
    this.readersOf = this.tensors.map(() => []);
    this.segments.forEach((segment, index) => {
      for (const tensor of listOf(segment.outputs)) this.producerOf[tensor] = index;
      for (const tensor of new Set(listOf(segment.inputs))) {
        if (this.readersOf[tensor]) this.readersOf[tensor].push(index);
      }
    });
  }

  joinSegments() {
    this.boundariesOf = this.segments.map(() => []);
    for (const boundary of this.boundaries) {
      for (const end of new Set([boundary.from, boundary.to])) {
        if (this.boundariesOf[end]) this.boundariesOf[end].push(boundary);
      }
    }
    this.segmentsOfKernel = this.kernels.map(() => []);
    this.segmentsOfLaunch = new Map();
    this.segments.forEach((segment, index) => {
      if (this.segmentsOfKernel[segment.kernel]) this.segmentsOfKernel[segment.kernel].push(index);
      if (!segment.launch) return;
      if (!this.segmentsOfLaunch.has(segment.launch)) this.segmentsOfLaunch.set(segment.launch, []);
      this.segmentsOfLaunch.get(segment.launch).push(index);
    });
  }

  joinSteps() {
    this.stepsOfSegment = this.segments.map(() => []);
    this.stepsOfKernel = this.kernels.map(() => []);
    this.steps.forEach((step, index) => {
      if (this.stepsOfSegment[step.segment]) this.stepsOfSegment[step.segment].push(index);
      if (this.stepsOfKernel[step.kernel]) this.stepsOfKernel[step.kernel].push(index);
    });
  }

  // Microseconds of each step, over all ranks, and how often it ran.
  addTimes() {
    this.timeOfStep = new Float64Array(this.steps.length);
    this.runsOfStep = new Int32Array(this.steps.length);
    this.timeOfAll = 0;
    for (const [, step, begin, end] of this.spans) {
      if (!(step in this.steps)) continue;
      this.timeOfStep[step] += end - begin;
      this.runsOfStep[step] += 1;
      this.timeOfAll += end - begin;
    }
  }

  // The other segments that the launch of a segment computes.
  partnersOf(index) {
    const group = this.segmentsOfLaunch.get(this.segments[index].launch) || [];
    return group.length > 1 ? group : [];
  }

  meanTime(step) {
    return this.runsOfStep[step] > 0 ? this.timeOfStep[step] / this.runsOfStep[step] : null;
  }

  // Sums over the launches of a kernel; null where nothing ran.
  sumsOfKernel(index) {
    const steps = this.stepsOfKernel[index];
    const sums = {launches: 0, time: null, share: null, bytes: null, ratio: null};
    let total = 0;
    for (const step of steps) {
      if (this.steps[step].kind === 'launch') ++sums.launches;
      if (isNumber(this.steps[step].bytes)) sums.bytes = (sums.bytes || 0) + this.steps[step].bytes;
      total += this.timeOfStep[step];
    }
    if (this.timeline) {
      sums.time = total / Math.max(1, this.ranks);
      sums.share = this.timeOfAll > 0 ? total / this.timeOfAll : 0;
    }
    let bytes = 0;
    let least = 0;
    for (const segment of this.segmentsOfKernel[index]) {
      bytes += this.segments[segment].bytes || 0;
      least += this.segments[segment].bytes_least || 0;
    }
    sums.ratio = ratioOf(bytes, least);
    if (sums.bytes === null && bytes > 0) sums.bytes = bytes;
    return sums;
  }
}

function byName(list) {
  const found = new Map();
  list.forEach((item, index) => {
    if (!found.has(item.name)) found.set(item.name, index);
  });
  return found;
}

function shapeText(tensor) {
  return tensor ? tensor.dtype + '[' + listOf(tensor.shape).join(', ') + ']' : '?';
}

function symbolsText(tensor) {
  const layout = tensor.layout ? ' ' + tensor.layout : '';
  return tensor.symbols && tensor.symbols !== shapeText(tensor) ? tensor.symbols + layout : layout.trim();
}

function bytesOfTensor(tensor) {
  const sizes = {bool: 1, f8e4m3: 1, f8e5m2: 1};
  const bits = /(\d+)$/.exec(tensor.dtype);
  const size = sizes[tensor.dtype] || (bits ? Number(bits[1]) / 8 : null);
  return size === null ? null : listOf(tensor.shape).reduce((product, extent) => product * extent, size);
}

// A tensor in a tooltip or a panel: its name, what it is, and who holds which part.
function tensorLine(tensor) {
  const symbols = symbolsText(tensor);
  return [
    make('span', {class: 'code strong'}, '%' + tensor.name),
    make('span', {class: 'code'}, ' ' + shapeText(tensor)),
    symbols ? make('span', {class: 'code dim'}, ' ' + symbols) : null,
  ];
}

function meshText(mesh) {
  return mesh.map((axis) => axis.axis + ' = ' + axis.size).join(', ');
}

function ranksText(model) {
  const ranks = plural(model.ranks, 'rank');
  return model.mesh.length > 0 ? ranks + ' (' + meshText(model.mesh) + ')' : ranks;
}
