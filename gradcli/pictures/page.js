"use strict";
// The page of a graph: what is shown follows from `state`, and `render` alone shows it.

const STEP = 1.25;
const LIMITS = [0.02, 6];
const LEGIBLE = [0.75, 1];  // Below the first a text is too small, the second is not.
const WHOLE = 0.4;  // A page opens with the whole picture if it is not smaller than this.
const NARROW = 720;  // The width up to which a page is laid out for a phone.
const LARGEST = 1.2;  // No picture is shown larger than this unless that is asked for.

/** Where a point goes while folds are open: further from the middle, further down. */
function moved(point, open) {
  let [x, y] = point;
  for (const { box, width, height } of open) {
    const half = box.w / 2, off = point[0] - box.x;
    const wider = (width - box.w) / 2;
    if (width > box.w) {
      x += Math.abs(off) >= half ? Math.sign(off) * wider : (off / half) * wider;
    }
    if (point[1] >= box.y + box.h / 2 - 0.01) y += height - box.h;
  }
  return [x, y];
}

/** A line that leaves and enters every layer upright. */
function path(points) {
  let [x, y] = points[0];
  let drawn = `M${x.toFixed(1)} ${y.toFixed(1)}`;
  points.slice(1).forEach(([toX, toY], nr) => {
    const half = (y + toY) / 2;
    drawn += nr % 2 || Math.abs(toX - x) < 0.1
      ? `L${toX.toFixed(1)} ${toY.toFixed(1)}`
      : `C${x.toFixed(1)} ${half.toFixed(1)} ${toX.toFixed(1)} ${half.toFixed(1)} ` +
        `${toX.toFixed(1)} ${toY.toFixed(1)}`;
    [x, y] = [toX, toY];
  });
  return drawn;
}

/** What can be reached from a node along these edges, the node among it. */
function reached(start, next) {
  const found = new Set([start]), waiting = [start];
  while (waiting.length) {
    for (const each of next[waiting.pop()]) {
      if (!found.has(each)) {
        found.add(each);
        waiting.push(each);
      }
    }
  }
  return found;
}

/** What has arrived at the nodes and gone along the edges after so many steps. */
function passed(data, count) {
  const arrived = new Map(), sent = new Map();
  if (data.steps.length) arrived.set(data.steps[0].id, data.steps[0].incoming);
  for (const step of data.steps.slice(0, count)) {
    for (const [nr, to, gradient, total] of step.sends) {
      arrived.set(to, total);
      sent.set(`${step.id}:${nr}`, gradient);
    }
  }
  return { arrived, sent };
}

/** The nodes whose name or text holds the words. */
function matching(data, words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  return data.nodes
    .filter((node) => `${node.name} ${node.title} ${node.text}`.toLowerCase().includes(wanted))
    .map((node) => node.id);
}

function start(document, window) {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const svg = at("picture"), world = at("world"), stage = at("stage");
  const state = {
    zoom: 1, x: 0, y: 0, picked: null, open: new Set(), step: null, hits: [], hit: -1,
    fitted: null,  // how the picture was fitted, until it is moved
  };
  const below = data.nodes.map((node) => node.edges.map((edge) => edge[1]));
  const above = data.nodes.map(() => []);
  below.forEach((ends, id) => ends.forEach((end) => above[end].push(id)));
  const root = (id) => at(`b${data.nodes[id].box}`);
  const inner = (id) => {
    const node = data.nodes[id];
    return node.inner === null ? null : at(`f${data.boxes[node.box].fold}-b${node.inner}`);
  };
  const isOpen = (id) => state.open.has(data.boxes[data.nodes[id].box].fold);
  const element = (id) => (inner(id) && isOpen(id) ? inner(id) : root(id));
  const everyNode = [...svg.querySelectorAll(".node")];
  const owner = new Map();
  data.boxes.forEach((box, nr) => owner.set(at(`b${nr}`), box.nodes));
  data.nodes.forEach((node) => {
    if (inner(node.id)) owner.set(inner(node.id), [node.id]);
  });
  const links = data.links.map((link, nr) => ({ ...link, drawn: at(`e${nr}`), inside: null }));
  data.folds.forEach((fold, number) => fold.links.forEach((edges, nr) => {
    links.push({ edges, drawn: at(`f${number}-e${nr}`), inside: number });
  }));
  const marked = new Map(), retold = new Map();

  /** Give an element a class until the next time that everything is shown. */
  function mark(shown, kind) {
    if (!shown) return;
    shown.classList.add(kind);
    if (!marked.has(shown)) marked.set(shown, new Set());
    marked.get(shown).add(kind);
  }

  /** Give a text another wording until then. */
  function retell(text, words) {
    if (!text) return;
    if (!retold.has(text)) retold.set(text, text.textContent);
    text.textContent = words;
  }

  function markNode(id, kind) {
    mark(root(id), kind);
    mark(inner(id), kind);
  }

  function unmark() {
    marked.forEach((kinds, shown) => {
      shown.classList.remove(...kinds);
      if (kinds.has("picked")) shown.setAttribute("aria-pressed", "false");
    });
    retold.forEach((words, text) => { text.textContent = words; });
    marked.clear();
    retold.clear();
  }

  // what is open

  const opened = () => [...state.open].map((nr) => {
    const box = data.boxes.find((each) => each.fold === nr);
    return { nr, box, width: data.folds[nr].width, height: data.folds[nr].height };
  });

  function arrange() {
    const open = opened();
    data.boxes.forEach((box, nr) => {
      const [x, y] = moved([box.x, box.y], open);
      at(`b${nr}`).setAttribute("transform", `translate(${x - box.x} ${y - box.y})`);
      at(`b${nr}`).classList.toggle("off", box.fold !== null && state.open.has(box.fold));
    });
    links.forEach((link) => {
      if (link.inside !== null) return;
      const points = link.points.map((point) => moved(point, open));
      link.drawn.querySelector(".line").setAttribute("d", path(points));
      const [x, y] = moved(link.label, open);
      const shift = `translate(${x - link.label[0]} ${y - link.label[1]})`;
      link.drawn.querySelectorAll(".label,.back")
        .forEach((part) => part.setAttribute("transform", shift));
    });
    data.folds.forEach((fold, nr) => {
      const group = at(`f${nr}`), box = data.boxes.find((each) => each.fold === nr);
      group.classList.toggle("off", !state.open.has(nr));
      const others = open.filter((each) => each.nr !== nr);
      const [x, y] = moved([box.x, box.y - box.h / 2], others);
      group.setAttribute("transform", `translate(${x - fold.width / 2} ${y})`);
    });
  }

  function toggle(fold) {
    const box = data.boxes.find((each) => each.fold === fold);
    const before = moved([box.x, box.y - box.h / 2], opened());
    if (!state.open.delete(fold)) state.open.add(fold);
    const after = moved([box.x, box.y - box.h / 2], opened());
    state.x -= (after[0] - before[0]) * state.zoom;
    state.y -= (after[1] - before[1]) * state.zoom;
    arrange();
    render();
  }

  // what is shown

  function render() {
    world.setAttribute("transform", `translate(${state.x} ${state.y}) scale(${state.zoom})`);
    unmark();
    svg.classList.toggle("lighting", state.picked !== null);
    svg.classList.toggle("stepping", state.step !== null);
    if (state.picked !== null) {
      const up = reached(state.picked, above), down = reached(state.picked, below);
      up.forEach((id) => markNode(id, "lit"));
      down.forEach((id) => markNode(id, "lit"));
      markNode(state.picked, "picked");
      element(state.picked).setAttribute("aria-pressed", "true");
      links.forEach((link) => {
        const on = link.edges.some(([id, nr, to]) =>
          (up.has(id) && up.has(to)) || (down.has(id) && down.has(to)));
        if (on) mark(link.drawn, "lit");
      });
    }
    state.hits.forEach((id) => markNode(id, "hit"));
    if (state.step !== null) showStep();
    showPanel();
    at("step").value = String(state.step ?? 0);
    at("step").setAttribute("aria-valuetext",
      state.step === null ? "the whole pass" : `${state.step} of ${data.steps.length}`);
    at("steps").textContent = state.step === null ? "" : `${state.step}/${data.steps.length}`;
  }

  function showStep() {
    const { arrived, sent } = passed(data, state.step);
    arrived.forEach((gradient, id) => {
      markNode(id, "reached");
      for (const each of [inner(id), root(id)]) {
        retell(each && each.querySelector(".grad"), `grad ${gradient}`);
      }
    });
    links.forEach((link) => {
      const gone = link.edges.map(([id, nr]) => sent.get(`${id}:${nr}`))
        .filter((gradient) => gradient !== undefined);
      if (!gone.length) return;
      mark(link.drawn, "sent");
      if (link.edges.length === 1) retell(link.drawn.querySelector(".label"), gone[0]);
    });
    if (state.step > 0) markNode(data.steps[state.step - 1].id, "now");
  }

  function rows(list) {
    const shown = at("facts");
    shown.replaceChildren();
    for (const [name, ...texts] of list) {
      const known = texts.filter(Boolean);
      if (!known.length) continue;
      const term = document.createElement("dt"), told = document.createElement("dd");
      term.textContent = name;
      told.append(...known.map((text) => {
        const part = document.createElement("div");
        part.textContent = text;
        part.classList.toggle("rows", text.includes("\n"));
        return part;
      }));
      shown.append(term, told);
    }
  }

  function showPanel() {
    const id = state.picked ?? (state.step ? data.steps[state.step - 1].id : null);
    const node = id === null ? null : data.nodes[id];
    showProgram(node);
    at("help").hidden = node !== null;
    if (node === null) {
      at("what").textContent = state.step === 0
        ? "The pass begins at the output"
        : data.nodes.length ? "Click a node for its details" : "No graph: the output needs no gradient";
      rows([]);
      return;
    }
    at("what").textContent = node.text && node.text !== node.title
      ? `${node.title}  ${node.text}` : node.title;
    const known = state.step === null ? null : passed(data, state.step).arrived.get(id);
    rows([
      ["node", node.name],
      ["place", node.line === null ? null : `line ${node.line}, column ${node.column}`],
      ["shape", node.shape],
      ["formula", node.formula],
      ["value", node.value],
      [state.step === null ? "gradient" : "gradient so far", state.step === null ? node.gradient : known],
      ["verdict", node.verdict],
      ["saved", ...node.saved],
      ...node.edges.map(([nr, to, local, rule, output]) => [
        `to ${data.nodes[to].text || data.nodes[to].title}${output ? ` #${output}` : ""}`,
        ...(local && local.includes("\n") ? ["local derivative", local]
          : [local && `local derivative ${local}`]),
        rule && `rule ${rule}`,
      ]),
      ...stepRows(id),
    ]);
  }

  function stepRows(id) {
    if (!state.step) return [];
    const step = data.steps[state.step - 1];
    if (step.id !== id) return [];
    return [
      ["arrives in this step", step.incoming],
      ...step.sends.map(([nr, to, gradient, total]) => [
        `goes to ${data.nodes[to].text || data.nodes[to].title}`,
        gradient === total ? gradient : `${gradient}, together ${total}`,
      ]),
    ];
  }

  function showProgram(node) {
    const shown = at("program"), text = data.program;
    shown.replaceChildren();
    if (node === null || node.span === null) {
      shown.textContent = text;
      return;
    }
    const [from, to] = node.span, letters = [...text];
    const marked = document.createElement("mark");
    marked.textContent = letters.slice(from, to).join("");
    shown.append(letters.slice(0, from).join(""), marked, letters.slice(to).join(""));
    const seen = shown.getBoundingClientRect(), place = marked.getBoundingClientRect();
    shown.scrollTop += place.top - seen.top - (seen.height - Math.min(place.height, seen.height)) / 2;
  }

  // moving about

  /** The left end, the width and the height; what is open pushes both sides apart. */
  function bounds() {
    const open = opened();
    let wider = 0, bottom = data.height;
    open.forEach(({ box, width, height }) => {
      wider += Math.max(0, width - box.w);
      bottom += height - box.h;
    });
    return [-wider / 2, data.width + wider, bottom];
  }

  /** Show the whole picture; where it would be smaller than the zoom `least`, its upper
      part around the output. */
  function fit(least = LIMITS[0]) {
    const [left, width, height] = bounds();
    const area = stage.getBoundingClientRect();
    const margin = area.width <= NARROW ? 8 : 20;
    const across = (area.width - 2 * margin) / width;
    const whole = Math.min(across, (area.height - 2 * margin) / height);
    state.zoom = Math.min(LARGEST, whole < least ? LEGIBLE[1] : whole);
    if (state.zoom < 0.12) state.zoom = Math.min(1, across);
    const free = area.width - width * state.zoom;
    state.x = free / 2 - left * state.zoom;
    if (free < 0 && data.boxes.length) {
      const x = area.width / 2 - moved([data.boxes[0].x, 0], opened())[0] * state.zoom;
      const [first, last] = [margin - left * state.zoom, free - margin - left * state.zoom];
      state.x = Math.min(first, Math.max(last, x));
    }
    state.y = Math.max(margin, (area.height - height * state.zoom) / 2);
    render();
    showPart();
    state.fitted = least;
  }

  /** Say so where a part of the picture lies outside the stage. */
  function showPart() {
    const [left, width, height] = bounds();
    const area = stage.getBoundingClientRect(), x = state.x + left * state.zoom;
    at("part").hidden = x > -1 && state.y > -1 && x + width * state.zoom < area.width + 1 &&
      state.y + height * state.zoom < area.height + 1;
  }

  function zoom(by, x, y) {
    const area = stage.getBoundingClientRect();
    const [px, py] = [x ?? area.width / 2, y ?? area.height / 2];
    const now = Math.min(LIMITS[1], Math.max(LIMITS[0], state.zoom * by));
    state.x = px - ((px - state.x) * now) / state.zoom;
    state.y = py - ((py - state.y) * now) / state.zoom;
    state.zoom = now;
    place();
  }

  function place() {
    world.setAttribute("transform", `translate(${state.x} ${state.y}) scale(${state.zoom})`);
    state.fitted = null;
    showPart();
  }

  function centre(id) {
    const shown = element(id).querySelector(".box").getBoundingClientRect();
    const area = stage.getBoundingClientRect();
    const inside = shown.left > area.left && shown.right < area.right &&
      shown.top > area.top && shown.bottom < area.bottom;
    if (inside) return;
    state.x += area.left + area.width / 2 - (shown.left + shown.width / 2);
    state.y += area.top + area.height / 2 - (shown.top + shown.height / 2);
    place();
  }

  /** Bring a node to where it can be read. */
  function read(id) {
    if (state.zoom < LEGIBLE[0]) {
      const shown = element(id).querySelector(".box").getBoundingClientRect();
      const area = stage.getBoundingClientRect();
      zoom(LEGIBLE[1] / state.zoom, shown.left + shown.width / 2 - area.left,
        shown.top + shown.height / 2 - area.top);
    }
    centre(id);
  }

  function focus(id) {
    const target = element(id);
    everyNode.forEach((each) => each.setAttribute("tabindex", each === target ? "0" : "-1"));
    centre(id);
    target.focus({ preventScroll: true });
  }

  function pick(id) {
    state.picked = id;
    render();
    const node = id === null ? null : data.nodes[id];
    if (node) tell(`${node.title} ${node.text}, value ${node.value ?? "unknown"}, gradient ${node.gradient ?? "none"}`);
  }

  const tell = (text) => { at("said").textContent = text; };

  function beside(id, sideways) {
    const own = element(id).querySelector(".box").getBoundingClientRect();
    const ids = data.nodes.map((node) => node.id).filter((each) => each !== id);
    const seen = new Set(), near = [];
    for (const each of ids) {
      const shown = element(each);
      if (seen.has(shown) || shown === element(id)) continue;
      seen.add(shown);
      const box = shown.querySelector(".box").getBoundingClientRect();
      const row = Math.abs(box.top + box.height / 2 - own.top - own.height / 2);
      const ahead = (box.left - own.left) * sideways;
      if (row < own.height && ahead > 0) near.push([ahead, each]);
    }
    near.sort((a, b) => a[0] - b[0]);
    return near.length ? near[0][1] : null;
  }

  function next(id, ways) {
    const here = element(id);
    const from = here.classList.contains("fold") ? owner.get(here) : [id];
    for (const each of from) {
      const found = ways[each].find((other) => element(other) !== here);
      if (found !== undefined) return found;
    }
    return null;
  }

  // the backward pass

  function step(to) {
    if (!data.steps.length) {
      tell(data.nodes.length ? "no pass is shown: it needs an output of one number" : "");
      return;
    }
    state.step = Math.min(data.steps.length, Math.max(0, to));
    state.picked = null;
    render();
    if (state.step === 0) {
      tell("the pass begins");
      return;
    }
    const now = data.steps[state.step - 1], node = data.nodes[now.id];
    read(now.id);
    const goes = now.sends.map(([nr, end, gradient]) =>
      `${gradient} to ${data.nodes[end].text || data.nodes[end].title}`);
    tell(`step ${state.step} of ${data.steps.length}: ${node.title} ${node.text}, ` +
      `${now.incoming} arrives${goes.length ? `, ${goes.join(", ")}` : ""}`);
  }

  function leaveSteps() {
    state.step = null;
    render();
    tell("the whole pass is shown");
  }

  // what is done with the page

  function search(words) {
    state.hits = matching(data, words);
    state.hit = -1;
    render();
    at("found").textContent = words.trim() ? `${state.hits.length || "nothing"} found` : "";
    if (state.hits.length) centre(state.hits[0]);
  }

  function nextHit() {
    if (!state.hits.length) return;
    state.hit = (state.hit + 1) % state.hits.length;
    const id = state.hits[state.hit];
    pick(id);
    read(id);
    at("found").textContent = `${state.hit + 1} of ${state.hits.length}`;
  }

  function chosen(target) {
    const shut = target.closest(".shut");
    if (shut) {
      const fold = Number(shut.dataset.fold);
      toggle(fold);
      focus(data.nodes.find((node) => node.fold === fold).id);
      return true;
    }
    const shown = target.closest(".node");
    if (!shown) return false;
    const ids = owner.get(shown);
    const fold = shown.classList.contains("fold");
    const id = fold ? ids[ids.length - 1] : ids[0];
    if (fold) toggle(data.nodes[id].fold);
    pick(id);
    read(id);
    focus(id);
    return true;
  }

  const pointers = new Map();
  let travelled = 0;
  svg.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    travelled = 0;
    svg.classList.add("held");
  });
  window.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      const area = stage.getBoundingClientRect();
      zoom(apart(now, other) / apart(before, other),
        (now[0] + other[0]) / 2 - area.left, (now[1] + other[1]) / 2 - area.top);
    }
    state.x += (now[0] - before[0]) / pointers.size;
    state.y += (now[1] - before[1]) / pointers.size;
    travelled += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    pointers.set(event.pointerId, now);
    place();
  });
  const released = (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) svg.classList.remove("held");
  };
  window.addEventListener("pointerup", released);
  window.addEventListener("pointercancel", released);
  svg.addEventListener("click", (event) => {
    if (travelled > 6) return;
    if (!chosen(event.target)) pick(null);
  });
  svg.addEventListener("dblclick", (event) => {
    const area = stage.getBoundingClientRect();
    const to = [LEGIBLE[1], 2 * LEGIBLE[1]].find((each) => each > 1.3 * state.zoom);
    if (to === undefined) fit();
    else zoom(to / state.zoom, event.clientX - area.left, event.clientY - area.top);
  });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const area = stage.getBoundingClientRect();
    const by = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    zoom(Math.exp(-by / 500), event.clientX - area.left, event.clientY - area.top);
  }, { passive: false });

  const current = () => {
    const shown = document.activeElement && document.activeElement.closest(".node");
    if (shown) {
      const ids = owner.get(shown);
      return ids.includes(state.picked) ? state.picked : ids[0];
    }
    return state.picked ?? 0;
  };
  const keys = {
    "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), "0": () => fit(),
    n: () => step((state.step ?? 0) + 1), p: () => step((state.step ?? 1) - 1),
    a: leaveSteps, h: heat,
    "/": () => at("search").focus(), Home: () => data.nodes.length && focus(0),
    Escape: () => { state.hits = []; at("search").value = ""; at("found").textContent = ""; state.step = null; pick(null); },
  };
  const moves = {
    ArrowDown: (id) => next(id, below), ArrowUp: (id) => next(id, above),
    ArrowLeft: (id) => beside(id, -1), ArrowRight: (id) => beside(id, 1),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input");
    if (typing) {
      if (typing.id === "search" && event.key === "Enter") nextHit();
      if (event.key === "Escape") { keys.Escape(); svg.focus(); }
      return;
    }
    const onControl = event.target.closest("button");
    if (event.key in moves && !onControl && data.nodes.length) {
      event.preventDefault();
      if (event.shiftKey) {
        state.x += { ArrowLeft: 60, ArrowRight: -60 }[event.key] ?? 0;
        state.y += { ArrowUp: 60, ArrowDown: -60 }[event.key] ?? 0;
        place();
        return;
      }
      const to = moves[event.key](current());
      if (to !== null) {
        read(to);
        focus(to);
      }
    } else if ((event.key === "Enter" || event.key === " ") && !onControl) {
      if (chosen(event.target)) event.preventDefault();
    } else if (event.key in keys) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  function heat() {
    const on = svg.classList.toggle("heated");
    at("heat").setAttribute("aria-pressed", String(on));
    at("legend").hidden = !on;
    if (state.fitted !== null) fit(state.fitted);
  }

  at("search").addEventListener("input", (event) => search(event.target.value));
  at("in").addEventListener("click", () => zoom(STEP));
  at("out").addEventListener("click", () => zoom(1 / STEP));
  at("fit").addEventListener("click", () => fit());
  at("rest").addEventListener("click", () => fit());
  at("heat").addEventListener("click", heat);
  at("back").addEventListener("click", () => step((state.step ?? 1) - 1));
  at("on").addEventListener("click", () => step((state.step ?? 0) + 1));
  at("all").addEventListener("click", leaveSteps);
  at("step").addEventListener("input", (event) => step(Number(event.target.value)));
  let wide = stage.clientWidth, before = null;
  window.addEventListener("resize", () => {
    const shift = (stage.clientWidth - wide) / 2;
    wide = stage.clientWidth;
    if (state.fitted !== null) {
      fit(state.fitted);
      return;
    }
    state.x += shift;
    place();
  });
  window.matchMedia("print").addEventListener("change", (event) => {
    if (event.matches) {
      before = [state.zoom, state.x, state.y];
      fit();
    } else if (before) {
      [state.zoom, state.x, state.y] = before;
      place();
    }
  });
  at("program").hidden = !data.program;
  at("pass").hidden = !data.steps.length;
  at("help").open = window.innerWidth > NARROW;
  fit(WHOLE);
  if (data.nodes.length) element(0).setAttribute("tabindex", "0");
  document.documentElement.dataset.ready = "yes";
}

if (typeof document !== "undefined") start(document, window);
if (typeof module !== "undefined") module.exports = { moved, path, reached, passed, matching };
