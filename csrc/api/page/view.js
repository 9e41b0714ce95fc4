// Moving and zooming of a drawing: world = (screen - shift) / scale.

const LEAST_SCALE = 0.01;
const MOST_SCALE = 4;

class View {
  constructor(element, changed) {
    this.element = element;
    this.changed = changed;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.least = LEAST_SCALE;
    this.inset = 50;
    this.dragged = false;
    this.moving = 0;
    element.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    element.addEventListener('pointerdown', (event) => this.grab(event));
  }

  wheel(event) {
    event.preventDefault();
    const amount = event.deltaMode === 1 ? 18 * event.deltaY : event.deltaMode === 2 ? 300 * event.deltaY :
        event.deltaY;
    const bounds = this.element.getBoundingClientRect();
    this.zoom(Math.exp(-Math.max(-240, Math.min(240, amount)) / 400), event.clientX - bounds.left,
        event.clientY - bounds.top);
  }

  grab(event) {
    if (event.button !== 0 && event.button !== 1) return;
    cancelAnimationFrame(this.moving);
    const begin = [event.clientX - this.x, event.clientY - this.y];
    const from = [event.clientX, event.clientY];
    this.dragged = false;
    const move = (next) => {
      if (Math.hypot(next.clientX - from[0], next.clientY - from[1]) > 4 && !this.dragged) {
        this.dragged = true;
        this.element.setPointerCapture(event.pointerId);
        this.element.classList.add('dragged');
      }
      if (!this.dragged) return;
      this.x = next.clientX - begin[0];
      this.y = next.clientY - begin[1];
      this.changed();
    };
    const end = () => {
      this.element.removeEventListener('pointermove', move);
      this.element.removeEventListener('pointerup', end);
      this.element.removeEventListener('pointercancel', end);
      this.element.classList.remove('dragged');
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', end);
    this.element.addEventListener('pointercancel', end);
  }

  zoom(factor, x, y) {
    cancelAnimationFrame(this.moving);
    const scale = Math.min(MOST_SCALE, Math.max(this.least, this.scale * factor));
    const at = [x === undefined ? this.element.clientWidth / 2 : x, y === undefined ? this.element.clientHeight / 2 :
        y];
    this.x = at[0] - (at[0] - this.x) * scale / this.scale;
    this.y = at[1] - (at[1] - this.y) * scale / this.scale;
    this.scale = scale;
    this.changed();
  }

  // The scale at which all of the bounds are in sight.
  fittingScale(bounds) {
    const width = this.element.clientWidth - 40;
    const height = this.element.clientHeight - 40 - this.inset;
    const scale = Math.min(width / (bounds.right - bounds.left), height / (bounds.lower - bounds.upper));
    return Math.max(LEAST_SCALE, Math.min(1.15, scale));
  }

  fit(bounds) {
    cancelAnimationFrame(this.moving);
    this.scale = this.fittingScale(bounds);
    this.x = this.element.clientWidth / 2 - this.scale * (bounds.left + bounds.right) / 2;
    this.y = (this.inset + this.element.clientHeight) / 2 - this.scale * (bounds.upper + bounds.lower) / 2;
    this.changed();
  }

  // The upper part of a drawing that is too large to be read when all of it is in sight.
  showUpper(bounds, scale, middle) {
    const room = this.element.clientWidth - 40;
    this.scale = Math.max(scale, Math.min(1, room / (bounds.right - bounds.left)));
    this.x = this.element.clientWidth / 2 - this.scale * middle;
    this.y = this.inset + 16 - this.scale * bounds.upper;
    this.changed();
  }

  // Brings a place of the world to the middle, unless it is well in sight.
  centre(x, y, width, height, least, glides) {
    const scale = Math.max(this.scale, least);
    const left = this.x + scale * (x - width / 2);
    const upper = this.y + scale * (y - height / 2);
    const inside = left > 10 && upper > this.inset && left + scale * width < this.element.clientWidth - 10 &&
        upper + scale * height < this.element.clientHeight - 10;
    if (inside && scale === this.scale) return;
    this.glide(this.element.clientWidth / 2 - scale * x, this.element.clientHeight / 2 - scale * y, scale, glides);
  }

  glide(x, y, scale, glides) {
    cancelAnimationFrame(this.moving);
    const begin = [this.x, this.y, this.scale];
    const started = performance.now();
    const frame = (now) => {
      const share = !glides || movesLittle() || document.hidden ? 1 : Math.min(1, (now - started) / 180);
      const eased = 1 - (1 - share) ** 3;
      this.x = begin[0] + (x - begin[0]) * eased;
      this.y = begin[1] + (y - begin[1]) * eased;
      this.scale = begin[2] + (scale - begin[2]) * eased;
      this.changed();
      if (share < 1) this.moving = requestAnimationFrame(frame);
    };
    frame(started);
  }

  key(event, bounds) {
    if (event.key === '+' || event.key === '=') this.zoom(1.25);
    else if (event.key === '-') this.zoom(0.8);
    else if (event.key === '0') this.fit(bounds);
    else return false;
    return true;
  }
}
