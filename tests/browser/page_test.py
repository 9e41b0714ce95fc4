#!/usr/bin/env python3
"""The page of `plait view` in headless Chromium: every tab of documents of several kinds, what keys and clicks do, and what
is drawn. usage: page_test.py PLAIT FOLDER. Exit status 77 where there is no Chromium."""

import html
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import documents

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Page, hash, words that the shown text must have.
CASES = [
    ("mlp", "", ["Graph", "What the compiler made", "segments by bytes"]),
    ("mlp", "graph/s3", ["Why not fewer kernels", "onednn, which has no gelu", "Would have to change"]),
    ("mlp", "graph/%25linear1", ["linear1", "an output"]),
    ("mlp", "graph/s5", ["also computes"]),
    ("mlp", "kernels/tp_mlp_s2", ["computes", "gelu_tanh", "load_vector"]),
    ("mlp", "kernels/absent", ["tp_mlp_s2"]),
    ("mlp", "text/graph/sharded", ["all_reduce"]),
    ("mlp", "ranks", ["each rank of tp holds a quarter"]),
    ("mlp", "timeline", ["Steps that take most", "collectives", "ranks take turns"]),
    ("mlp", "timeline/2", ["Steps that take most"]),
    ("mlp", "memory", ["Alive at the peak, step 6", "linear2_product_reduced"]),
    ("mlp", "no/such/%E0%A4%A/tab", ["What the compiler made"]),
    ("large", "graph/s303", ["b50_projected"]),
    ("large", "kernels/transformer_s1", ["20,002 lines"]),
    ("large", "text/segments/program", ["20,000 lines"]),
    ("large", "timeline", ["Steps that take most"]),
    ("large", "memory", ["Alive at the peak"]),
    ("empty", "graph", ["nothing to compute"]),
    ("empty", "kernels", ["No kernel was made"]),
    ("empty", "text", ["fusion"]),
    ("empty", "ranks", ["There is no mesh"]),
    ("empty", "timeline", ["plait view FILE"]),
    ("empty", "memory", ["no arena is needed"]),
    ("not_run", "ranks", ["There is no mesh"]),
    ("not_run", "timeline", ["plait view FILE"]),
    ("not_run", "kernels", ["tp_mlp_s2"]),
    ("later_format", "", ["this one has format 2"]),
] + [("hostile", name, []) for name in ("graph", "kernels", "text", "ranks", "timeline", "memory")]

# What a reader does, and what must come of it; true where it is as it should be.
ACTIONS = """
const frame = () => new Promise((done) => setTimeout(done, 60));
const press = (key, target) => (target || document.body).dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const lines = (place) => [...document.querySelectorAll('#panel-kernels .pane')[place].querySelectorAll('.line')];
const lit = (place, kind) => lines(place).filter((line) => line.classList.contains(kind)).map((line) => Number(line.dataset.number));
const failed = [];
const check = (what, holds) => holds || failed.push(what);
async function act() {
  press('ArrowDown'); press('ArrowDown'); await frame();
  check('arrows choose', location.hash !== '#graph' && document.querySelector('.box.chosen'));
  press('Escape'); await frame();
  check('escape chooses nothing', location.hash === '#graph' && !document.querySelector('.box.chosen'));
  const box = document.querySelector('[data-node="1"]');
  box.dispatchEvent(new MouseEvent('click', {bubbles: true})); await frame();
  check('a click chooses', location.hash === '#graph/s2');
  check('edges of s2 are lit', document.querySelectorAll('.edge.lit').length === 5);
  const graph = page.tabs.get('graph').view.view;
  const before = graph.scale;
  press('+'); await frame();
  check('plus zooms', graph.scale > before);
  press('Enter'); await frame(); await frame();
  check('enter goes to the kernel', location.hash === '#kernels/tp_mlp_s2');
  lines(1)[5].dispatchEvent(new PointerEvent('pointerover', {bubbles: true})); await frame();
  check('%2 lights v2: ' + lit(2, 'twin'), lit(2, 'twin').includes(29) && lit(2, 'twin').includes(30));
  check('%2 lights its readers: ' + lit(1, 'twin'), String(lit(1, 'twin')) === '7,8');
  check('%2 lights what LLVM says is %2: ' + lit(3, 'twin'), lit(3, 'twin').includes(16));
  lines(0)[2].dispatchEvent(new PointerEvent('pointerover', {bubbles: true})); await frame();
  check('%gelu lights its store: ' + lit(1, 'twin'), lit(1, 'twin').includes(9));
  check('%gelu lights b3: ' + lit(2, 'twin'), lit(2, 'twin').includes(33));
  check('%gelu lights the pointer: ' + lit(3, 'twin'), lit(3, 'twin').includes(8) && lit(3, 'twin').includes(18));
  lines(0)[2].dispatchEvent(new MouseEvent('click', {bubbles: true})); await frame();
  check('a click pins', lit(1, 'pinned').includes(9));
  press('Escape'); await frame();
  check('escape unpins', lit(1, 'pinned').length === 0);
  press('ArrowDown'); await frame();
  check('the next kernel', location.hash === '#kernels/tp_mlp_s5');
  press('3'); await frame(); press('c'); await frame();
  check('changes: ' + document.querySelector('.text-tools .dim').textContent, document.querySelectorAll('#panel-text .line.changed').length > 1);
  press('n'); await frame();
  check('next change', document.querySelector('#panel-text .line.found'));
  press('2'); await frame();
  check('a tab is as it was left', location.hash === '#kernels/tp_mlp_s5');
  press('/'); const field = document.querySelector('#search input');
  field.value = 'gelu'; field.dispatchEvent(new Event('input')); await frame();
  check('found', document.querySelectorAll('#found li').length >= 2);
  press('Enter', field); await frame(); await frame();
  check('search jumps: ' + location.hash, location.hash.startsWith('#graph/'));
  const theme = document.documentElement.dataset.theme;
  press('d'); await frame();
  check('theme', document.documentElement.dataset.theme !== theme);
  press('5'); await frame();
  const canvas = document.querySelector('canvas.timeline');
  const bounds = canvas.getBoundingClientRect();
  const at = {clientX: bounds.left + 300, clientY: bounds.top + 26 + 28 + 14, bubbles: true, pointerId: 1};
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent('pointermove', at)); await frame();
  check('a span says what it is', document.getElementById('tooltip').textContent.includes('GB/s'));
  canvas.dispatchEvent(new PointerEvent('pointerdown', at)); canvas.dispatchEvent(new PointerEvent('pointerup', at)); await frame(); await frame();
  check('a span leads to its segment: ' + location.hash, location.hash === '#graph/s1');
  press('?'); check('keys', document.getElementById('keys').open); press('?');
  for (const tab of ['1', '4', '6', '1']) { press(tab); await frame(); }
  location.hash = '#memory'; await frame(); await frame();
  check('a hash shows its tab', !document.getElementById('panel-memory').hidden);
  document.body.dataset.failed = failed.join(' | ') || 'nothing';
}
act().catch((error) => { document.body.dataset.failed = String(error.stack); });
"""

# What keys cost in a page, and how much of it is there: counts of nodes and attributes that change, not times.
WORK = """
window.requestAnimationFrame = (draw) => setTimeout(draw, 10);  // a window that nobody sees has no frames
const frame = () => new Promise((done) => setTimeout(done, 60));
const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
let changes = 0;
const count = (records) => { for (const record of records) changes += 1 + record.addedNodes.length + record.removedNodes.length; };
const observer = new MutationObserver(count);
observer.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
const long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({type: 'longtask', buffered: true});
async function changed(key, times) {
  const each = [];
  for (let i = 0; i < times; ++i) {
    changes = 0;
    press(key); await frame(); await frame();
    count(observer.takeRecords());
    each.push(changes);
  }
  return Math.max(...each);
}
async function act() {
  const out = {};
  await frame();
  const graph = page.tabs.get('graph').view;
  const stage = graph.stage;
  out.boxes = graph.nodes.length;
  out.inView = graph.nodes.filter((node) => {
    const left = graph.view.x + graph.view.scale * (node.x - node.width / 2), upper = graph.view.y + graph.view.scale * node.y;
    return left < stage.clientWidth + 200 && left + graph.view.scale * node.width > -200 && upper < stage.clientHeight + 200 &&
        upper + graph.view.scale * node.height > -200;
  }).length;
  out.detailed = graph.nodes.filter((node) => node.detail && node.detail.style.display === '').length;
  out.choose = await changed('ArrowDown', 20);
  out.zoom = await changed('-', 1);
  out.move = await changed('+', 3);
  out.chosen = location.hash;
  location.hash = '#text/segments/program'; await frame(); await frame();
  out.lines = document.querySelectorAll('#panel-text .line').length;
  out.text = await changed('n', 5);
  location.hash = '#timeline'; await frame(); await frame();
  out.pan = await changed('ArrowRight', 5);
  out.long = long;
  document.body.dataset.work = JSON.stringify(out);
}
act().catch((error) => { document.body.dataset.work = JSON.stringify({error: String(error.stack)}); });
"""


class Browser:
    def __init__(self, program, profile):
        self.command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                        f"--user-data-dir={profile}", "--window-size=1400,900", "--force-device-scale-factor=1"]

    def run(self, page, place, *more):
        return subprocess.run([*self.command, *more, f"file://{page}#{place}"], capture_output=True, timeout=120, check=True).stdout

    def dump(self, page, place, *more):
        """The document after the script ran."""
        return self.run(page, place, *more, "--dump-dom").decode()

    def colours(self, page, place, *more):
        """How many pixels of the window have each colour."""
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            self.run(page, place, *more, f"--screenshot={file.name}")
            return colours_of(pathlib.Path(file.name).read_bytes())


def unfiltered(kind, line, above, step):
    """A line of a PNG without its filter, by the PNG specification, section 9."""
    for i in range(len(line)):
        left, up = line[i - step] if i >= step else 0, above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            guess = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
        else:
            return line
        line[i] = (line[i] + guess) & 255
    return line


def colours_of(png):
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    step, data, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += size + 12
    raw, above, counts = zlib.decompress(data), bytearray(step * width), {}
    for y in range(height):
        start = y * (step * width + 1)
        above = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + step * width]), above, step)
        for x in range(0, step * width, 4 * step):  # every fourth pixel is enough
            colour = bytes(above[x:x + 3])
            counts[colour] = counts.get(colour, 0) + 1
    return counts


def text_of(dom):
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", " ", dom, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", shown)).lower()


def problem(dom, words):
    """What is wrong with a page that was drawn; empty where nothing is."""
    body = re.search(r"<body[^>]*>", dom)
    if body is None or 'data-ready="yes"' not in body[0] or "data-error" in body[0] or "attacked" in body[0]:
        return f"its body is {body and body[0]}"
    missing = [word for word in words if word.lower() not in text_of(dom)]
    return f"it lacks {missing}" if missing else ""


def check_actions(browser, folder):
    page = folder / "actions.html"
    page.write_text((folder / "mlp.html").read_text().replace("</body>", f"<script>{ACTIONS}</script></body>"))
    done = re.search(r'data-failed="([^"]*)"', browser.dump(page, "graph", "--virtual-time-budget=20000"))
    return "" if done and done[1] == "nothing" else f"actions: {done[1] if done else 'they did not end'}"


def work_in(browser, folder, name):
    page = folder / f"{name}_work.html"
    page.write_text((folder / f"{name}.html").read_text().replace("</body>", f"<script>{WORK}</script></body>"))
    done = re.search(r'data-work="([^"]*)"', browser.dump(page, "graph", "--virtual-time-budget=30000"))
    return json.loads(html.unescape(done[1])) if done else {"error": "they did not end"}


def check_work(browser, folder):
    """Of 2,000 ops as much is drawn, and a key changes as much, as of 200: what is in sight."""
    large, tenth = work_in(browser, folder, "large"), work_in(browser, folder, "tenth")
    print(f"work in 2,000 ops: {large}\nwork in 200 ops: {tenth}")  # `long`: ms of tasks over 50, the layout among them
    for found in (large, tenth):
        if "error" in found:
            return f"work: {found['error']}"
    wrong = []
    if not (large["boxes"] > 5 * tenth["boxes"] and large["chosen"].startswith("#graph/")):
        wrong.append("the graphs are not what they were")
    if not 0 < large["detailed"] <= large["inView"] < large["boxes"] / 5:
        wrong.append(f"{large['detailed']} boxes of {large['boxes']} have details, {large['inView']} are in sight")
    wrong += [f"`{what}` changes {large[what]} nodes of 2,000 ops, {tenth[what]} of 200" for what in ("choose", "move", "text", "pan")
              if not large[what] <= 1.5 * tenth[what] + 40]
    if not 0 < large["lines"] < 400:
        wrong.append(f"{large['lines']} lines of 40,000 are in the page")
    return "; ".join(wrong)


def check_program(browser, plait, folder):
    """A page that the command wrote."""
    page = folder / "block.html"
    subprocess.run([plait, "view", ROOT / "docs/examples/transformer_block.plait", "--ranks", "4", "--device", "reference", "-o", page],
                   check=True, capture_output=True)
    found = problem(browser.dump(page, "timeline"), ["@transformer_block", "4 ranks", "steps that take most", "collectives"])
    return found or problem(browser.dump(page, "ranks"), ["2 collectives"])


def check_colours(browser, folder):
    """Boxes, texts and both themes are drawn: a picture of one colour, or of two, is none."""
    light = browser.colours(folder / "mlp.html", "graph")
    dark = browser.colours(folder / "mlp.html", "graph", "--blink-settings=preferredColorScheme=0")
    for name, counts in (("light", light), ("dark", dark)):
        if len(counts) < 60 or max(counts.values()) > 0.97 * sum(counts.values()):
            return f"{name}: {len(counts)} colours"
    brightness = [sum(max(counts, key=counts.get)) for counts in (light, dark)]
    return "" if brightness[0] > 3 * 200 and brightness[1] < 3 * 80 else f"backgrounds {brightness}"


def main():
    plait, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("skipped: there is no chromium")
        return 77
    documents.write_pages(folder)
    problems = []
    with tempfile.TemporaryDirectory() as profile, tempfile.TemporaryDirectory() as fresh:
        browser = Browser(program, profile)
        for name, place, words in CASES:
            found = problem(browser.dump(folder / f"{name}.html", place), words)
            problems += [f"{name}#{place}: {found}"] if found else []
        problems += [found for found in (check_actions(browser, folder), check_work(browser, folder), check_program(browser, plait, folder),
                                 check_colours(Browser(program, fresh), folder)) if found]
    print("\n".join(problems) or f"{len(CASES)} places are right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
