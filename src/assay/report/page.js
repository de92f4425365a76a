"use strict";
(() => {
  // Names come from strangers' files: every text goes in as a text node, never as markup.
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("payload").textContent);
  const ROW = 26, SPARE = 8, PRINTED = 500;
  const WORD = { p: "pass", a: "abstain", e: "error", f: "fail", n: "n/a", "-": "not run" };
  const SIGN = { p: "✓", a: "?", e: "!", f: "✕", n: "–", "-": " " };
  const CLASS = { p: "pass", a: "abstain", e: "error", f: "fail", n: "na", "-": "none" };
  const DECIDED = { a: "accepted", r: "rejected", u: "unmeasured" };
  const DSIGN = { a: "✓", r: "✕", u: "?" };
  const SVG = "http://www.w3.org/2000/svg";

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
    return node;
  }
  function shape(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // ------------------------------------------------------------------------------------- columns and words

  function unpack(packed, n) {
    if (packed.a) return packed.a;
    if (packed.u) return packed.x.map((i) => packed.u[i]);
    const out = new Array(n).fill("d" in packed ? packed.d : packed.c);
    if (packed.i) { let at = 0; packed.i.forEach((gap, k) => { at += gap; out[at] = packed.v[k]; }); }
    return out;
  }
  const once = (build) => { let value; return () => (value === undefined ? (value = build()) : value); };
  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const escaped = (text) => text.replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const visible = (text) => escaped(String(text === null || text === undefined ? "" : text));
  const shell = (word) => {
    if (/^[\w@%+=:,./-]+$/.test(word)) return word;
    if (escaped(word) === word) return "'" + word.replaceAll("'", "'\"'\"'") + "'";
    return "$'" + escaped(word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")) + "'";
  };
  const count = (n) => Number(n).toLocaleString("en-GB");
  const clean = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
  function number(x) {
    if (x === null || x === undefined || x === "" || !Number.isFinite(x)) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e6) return x.toExponential(3);
    return clean(x.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size)))));
  }
  const percent = (x) => (x > 0 && x < 1e-4 ? "< 0.01 %" : number(Number((100 * x).toPrecision(3))) + "\u00a0%");
  const COUNTED = ["frame", "row", "byte", "tick"];
  function withUnit(x, unit) {
    const text = number(x);
    if (!unit || unit === "1" || unit === "mixed" || text === "–") return text;
    return text + "\u00a0" + unit + (COUNTED.includes(unit) && text !== "1" ? "s" : "");
  }

  const N = data.episodes.id.length, G = data.gates.length;
  const ids = data.episodes.id, decision = data.episodes.decision;
  const seconds = unpack(data.episodes.seconds, N), frames = unpack(data.episodes.frames, N);
  const tasks = unpack(data.episodes.task, N), reasons = unpack(data.episodes.reasons, N);
  const files = once(() => unpack(data.episodes.files, N).map((f, i) => f.replaceAll("\u0001", () => ids[i].split("/").pop()))), wall = once(() => unpack(data.episodes.wall, N));
  const place = once(() => new Map(ids.map((id, i) => [id, i])));
  const haystack = once(() => ids.map((id, i) => (id + " " + tasks[i] + " " + reasons[i]).toLowerCase()));
  const field = (gate, name) => (gate.columns ||= {})[name] || (gate.columns[name] = unpack(gate[name], N));
  const fails = new Uint16Array(N), opens = new Uint16Array(N);
  for (const gate of data.gates) {
    for (let i = 0; i < N; i++) {
      const s = gate.status.charCodeAt(i);
      if (s === 102) fails[i]++;
      else if (s === 97 || s === 101) opens[i]++;
    }
  }
  const worst = once(() => {
    const out = new Float64Array(N);
    for (const gate of data.gates) {
      if (!gate.status.includes("f")) continue;
      const w = field(gate, "worst"), l = field(gate, "limit");
      for (let i = 0; i < N; i++) {
        if (gate.status[i] !== "f" || w[i] === null || !l[i]) continue;
        const times = Math.abs(w[i] / l[i]);
        out[i] = Math.max(out[i], times < 1 ? 1 / Math.max(times, 1e-9) : times);
      }
    }
    return out;
  });
  const findings = once(() => {
    const f = data.findings, n = f.shown, byEpisode = new Map();
    const col = {};
    for (const name of ["stream", "channel", "unit", "note", "limit"]) col[name] = unpack(f[name], n);
    for (let k = 0, episode = 0; k < n; k++) {
      episode += f.episode[k];
      if (!byEpisode.has(episode)) byEpisode.set(episode, []);
      byEpisode.get(episode).push({ gate: f.gate[k], t0: f.t0[k] / 1000, t1: (f.t0[k] + f.ms[k]) / 1000,
        samples: f.samples[k], worst: f.worst[k], limit: col.limit[k], stream: col.stream[k],
        channel: col.channel[k], unit: col.unit[k], note: col.note[k] });
    }
    return byEpisode;
  });

  // ------------------------------------------------------------------------------------------ table of rows

  const grid = byId("grid"), filters = byId("filters"), filter = byId("filter");
  const WHERE = { r: 0, u: 1, a: 2 };
  const GRAVITY = { f: 0, e: 1, a: 2, p: 3, n: 4, "-": 5 };
  const taskRank = once(() => {
    const sorted = [...new Set(tasks)].sort(new Intl.Collator("en", { numeric: true }).compare);
    const rank = new Map(sorted.map((t, i) => [t, i]));
    return tasks.map((t) => rank.get(t));
  });
  // key: what to sort by, any comparable numbers; first: the direction of the first click.
  const COLUMNS = [
    { name: "decision", label: "decision", first: 1, key: () => Array.from(decision, (d) => WHERE[d]) },
    { name: "id", label: "episode", first: 1, key: () => ids.map((_, i) => i) },
    { name: "task", label: "task", first: 1, key: taskRank },
    { name: "seconds", label: "s", title: "seconds", first: -1, key: () => seconds, n: true },
    { name: "frames", label: "frames", first: -1, key: () => frames, n: true },
    { name: "fails", label: "✕", title: "gates that fail", first: -1, key: () => fails, n: true },
    { name: "opens", label: "?", title: "gates that abstain or err", first: -1, key: () => opens, n: true },
    { name: "worst", label: "worst", title: "how many times beyond its limit the worst gate is", first: -1, key: worst, n: true },
  ];
  const state = { order: [], by: "decision", way: 1, at: 0 };
  const keys = new Map();
  // Ranks are whole numbers, so that rank and place fit one number and sort natively, which is 20 times faster.
  function ranked(values) {
    const sorted = Float64Array.from(values, (v) => v ?? -1).sort(), rank = new Map();
    for (const v of sorted) if (!rank.has(v)) rank.set(v, rank.size);
    return { of: Int32Array.from(values, (v) => rank.get(v ?? -1)), size: rank.size };
  }
  const keyOf = (name) => {
    if (!keys.has(name)) {
      const column = COLUMNS.find((c) => c.name === name);
      keys.set(name, ranked(column ? column.key() : Array.from(data.gates[Number(name.slice(1))].status, (s) => GRAVITY[s])));
    }
    return keys.get(name);
  };

  const head = make("div", { class: "row head", role: "row", "aria-rowindex": 1 });
  const body = make("div", { class: "body", role: "rowgroup" });
  const pool = [];
  function heading(name, label, title, extra) {
    const button = make("button", { type: "button", tabindex: -1, title: title || "sort by " + label, onclick: () => sortBy(name) },
      make("span", {}, label));
    return make("div", { class: "cell " + extra, role: "columnheader", "data-sort": name, "aria-sort": "none" }, button);
  }
  function buildTable() {
    for (const c of COLUMNS) head.append(heading(c.name, c.label, c.title, "c-" + c.name + (c.n ? " n" : "")));
    data.gates.forEach((g, k) => head.append(heading("g" + k, g.code, g.code + " " + g.title, "c-gate")));
    grid.append(make("div", { role: "rowgroup", class: "headgroup" }, head), body);
    grid.style.setProperty("--gates", G);
    grid.setAttribute("aria-colcount", COLUMNS.length + G);
    const options = data.gates.map((g, k) => make("option", { value: k }, g.code + " " + g.title));
    byId("by-gate").append(...options);
    for (const node of [grid, filters, byId("theme"), byId("show-help"), byId("grid-key")]) node.hidden = false;
    for (const node of document.querySelectorAll(".pick")) node.hidden = false;
  }
  const lasting = (i) => (data.episodes.present[i] === "1" ? seconds[i].toFixed(1) : "absent");
  function newRow() {
    const cells = COLUMNS.map((c) => make("div", { class: "cell c-" + c.name + (c.n ? " n" : ""), role: "gridcell" }));
    const marks = data.gates.map(() => make("div", { class: "cell c-gate", role: "gridcell" }));
    const row = make("div", { class: "row", role: "row" }, ...cells, ...marks);
    body.append(row);
    return { row, cells, marks, shows: -1, seen: [] };
  }
  function fill(slot, position) {
    const i = state.order[position], { row, cells, marks } = slot;
    row.style.transform = "translateY(" + position * ROW + "px)";
    row.classList.toggle("at", position === state.at);
    row.setAttribute("aria-selected", position === state.at);
    row.setAttribute("aria-rowindex", position + 2);
    row.id = "row-" + position;
    slot.position = position;
    if (slot.shows === i) return;
    slot.shows = i;
    const d = decision[i];
    cells[0].replaceChildren(DSIGN[d], make("span", { class: "word" }, " " + DECIDED[d]));
    cells[0].className = "cell c-decision d-" + d;
    cells[1].textContent = cells[1].title = visible(ids[i]);
    cells[2].textContent = cells[2].title = visible(tasks[i]);
    cells[3].textContent = lasting(i);
    cells[4].textContent = count(frames[i]);
    cells[5].textContent = fails[i] || "·";
    cells[6].textContent = opens[i] || "·";
    cells[7].textContent = worst()[i] ? number(Number(worst()[i].toPrecision(3))) + "×" : "·";
    for (let k = 0; k < G; k++) {
      const s = data.gates[k].status[i];
      if (slot.seen[k] === s) continue;
      slot.seen[k] = s;
      marks[k].textContent = s === "p" ? "·" : SIGN[s];
      marks[k].className = "cell c-gate s-" + CLASS[s];
      marks[k].title = data.gates[k].code + " " + WORD[s];
    }
  }
  function draw() {
    const rows = Math.ceil(grid.clientHeight / ROW) + 2 * SPARE;
    const first = Math.max(0, Math.min(Math.floor(grid.scrollTop / ROW) - SPARE, state.order.length - rows));
    const shown = Math.min(rows, state.order.length);
    while (pool.length < shown) pool.push(newRow());
    pool.forEach((slot, k) => {
      slot.row.hidden = k >= shown;
      if (k < shown) fill(slot, first + k);
    });
    if (state.order.length) grid.setAttribute("aria-activedescendant", "row-" + state.at);
    else grid.removeAttribute("aria-activedescendant");
  }
  function sortBy(name) {
    const column = COLUMNS.find((c) => c.name === name);
    state.way = state.by === name ? -state.way : column ? column.first : 1;
    state.by = name;
    refresh(true);
  }
  function chosen() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const d = byId("by-decision").value, g = byId("by-gate").value, s = byId("by-status").value;
    const status = g === "" ? null : data.gates[Number(g)].status, hay = words.length ? haystack() : null;
    const out = [];
    for (let i = 0; i < N; i++) {
      if (d && decision[i] !== d) continue;
      if (status && status[i] !== s) continue;
      if (hay && !words.every((w) => hay[i].includes(w))) continue;
      out.push(i);
    }
    return out;
  }
  function refresh(toTop) {
    const key = keyOf(state.by), way = state.way;
    const places = Float64Array.from(chosen(), (i) => (way > 0 ? key.of[i] : key.size - key.of[i]) * N + i).sort();
    state.order = Array.from(places, (p) => p % N);
    state.at = Math.max(0, Math.min(toTop ? 0 : state.at, state.order.length - 1));
    for (const cell of head.children) {
      const on = cell.dataset.sort === state.by;
      cell.setAttribute("aria-sort", on ? (way > 0 ? "ascending" : "descending") : "none");
    }
    body.style.height = Math.max(state.order.length, 1) * ROW + "px";
    body.classList.toggle("empty", !state.order.length);
    grid.style.setProperty("--rows", state.order.length);
    grid.setAttribute("aria-rowcount", state.order.length + 1);
    let hours = 0;
    for (const i of state.order) hours += seconds[i] / 3600;
    const spent = hours >= 1 || hours === 0 ? hours.toFixed(1) + " h" : (hours * 60).toFixed(1) + " min";
    byId("shown").textContent = count(state.order.length) + " of " + count(N) + ", " + spent;
    if (toTop) grid.scrollTop = 0;
    draw();
  }
  function moveTo(position) {
    state.at = Math.max(0, Math.min(position, state.order.length - 1));
    const top = state.at * ROW, room = grid.clientHeight - head.offsetHeight - 2;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + ROW > grid.scrollTop + room) grid.scrollTop = top + ROW - room;
    draw();
  }
  function pick(gate, status) {
    filter.value = "";
    byId("by-decision").value = "";
    byId("by-gate").value = String(data.gates.findIndex((g) => g.code === gate));
    byId("by-status").value = status;
    refresh(true);
    byId("episodes").scrollIntoView();
    grid.focus({ preventScroll: true });
  }

  // ------------------------------------------------------------------------------------------ episode panel

  const panel = byId("panel");
  const title = document.title;
  let shownEpisode = -1, before = null;
  const episodeHash = (id) => "#episode=" + encodeURIComponent(id);
  const viewLine = (id, at) => "assay view " + shell(data.run) + " " + shell(id)
    + (at === undefined ? "" : " --at " + at.toFixed(2));
  const sign = (s) => make("span", { class: "mark s-" + CLASS[s], role: "img", "aria-label": WORD[s] }, SIGN[s]);
  const copyButton = (line) => make("button", { type: "button", class: "copy", "data-copy": line, title: line }, "copy");
  const command = (line) => make("span", { class: "command" }, make("code", {}, line), copyButton(line));
  const gateLink = (k) => make("a", { class: "code", href: "#gate=" + data.gates[k].code, title: data.gates[k].title }, data.gates[k].code);

  function timeline(i, list) {
    const length = seconds[i], inside = list.filter((f) => f.t1 <= length + 1 && f.t0 >= -1);
    if (!length || !inside.length) return null;
    const lanes = [...new Set(inside.map((f) => f.gate))], height = lanes.length * 14 + 16;
    const svg = shape("svg", { class: "timeline", viewBox: "0 0 480 " + height, role: "img", "aria-label": "moments beyond a limit over the episode" });
    lanes.forEach((gate, lane) => {
      const y = lane * 14;
      svg.append(shape("text", { x: 0, y: y + 10, class: "tick" }, data.gates[gate].code),
        shape("rect", { x: 48, y: y + 2, width: 428, height: 9, class: "track" }));
      for (const f of inside) {
        if (f.gate !== gate) continue;
        svg.append(shape("rect", { x: (48 + 428 * Math.max(f.t0, 0) / length).toFixed(2), y: y + 2, height: 9, class: "beyond",
          width: Math.max(428 * (f.t1 - f.t0) / length, 2).toFixed(2) }, shape("title", {}, f.t0.toFixed(2) + " s " + visible(f.channel))));
      }
    });
    svg.append(shape("text", { x: 48, y: height - 3, class: "tick" }, "0 s"),
      shape("text", { x: 476, y: height - 3, class: "tick", "text-anchor": "end" }, length.toFixed(1) + " s"));
    return svg;
  }
  function verdictRow(k, i) {
    const gate = data.gates[k], get = (name) => field(gate, name)[i], s = gate.status[i], u = get("unit");
    const where = visible([get("stream"), get("channel")].filter(Boolean).join(" "));
    const measured = get("worst") === null ? "" : withUnit(get("worst"), u) + " against " + withUnit(get("limit"), u);
    const loHi = get("lo") === get("hi") ? percent(get("lo")) : percent(get("lo")) + " to " + percent(get("hi"));
    const n = get("n_in") + get("n_unknown");
    const share = measured && n > 1 && (get("quota") || get("hi")) ? loHi + " beyond, " + percent(get("quota")) + " allowed" : "";
    const reason = get("reason"), why = s === "p" || !reason ? "" : visible(reason);
    const samples = n > 1 || get("n_unknown") || get("n_nan")
      ? count(get("n_in")) + " samples" + (get("n_unknown") ? ", " + count(get("n_unknown")) + " of unknown scope" : "") + (get("n_nan") ? ", " + count(get("n_nan")) + " without a number" : "")
      : "";
    return make("tr", {}, make("td", { class: "nowrap" }, sign(s), " ", gateLink(k)),
      make("td", {}, make("b", {}, gate.title || gate.code), " ", make("span", { class: "effect" }, gate.effect),
        make("div", {}, [measured, share, samples].filter(Boolean).join(" · ")),
        where && s !== "p" ? make("div", { class: "channel" }, make("bdi", {}, where)) : null,
        why ? make("div", { class: "why" }, make("code", {}, why), " ", make("bdi", {}, visible(get("detail")))) : null,
        s === "a" && data.reasons[reason] ? make("div", { class: "quiet" }, "Would decide it: " + data.reasons[reason]) : null));
  }
  function findingRow(f, i) {
    return make("li", { class: "moment" },
      make("p", {}, gateLink(f.gate), " ", make("span", { class: "nowrap" }, f.t0.toFixed(2) + "–" + f.t1.toFixed(2) + " s"), " ",
        make("bdi", { class: "channel", title: visible(f.stream) }, visible(f.channel || f.stream)), " ",
        make("span", { class: "nowrap" }, make("b", {}, withUnit(f.worst, f.unit)), " against " + withUnit(f.limit, f.unit)), " ",
        f.note ? make("span", { class: "quiet" }, make("bdi", {}, visible(f.note))) : null),
      copyButton(viewLine(ids[i], f.t0)));
  }
  function findingList(i) {
    const list = findings().get(i) || [], total = data.gates.reduce((sum, g) => sum + (g.status[i] === "f" ? field(g, "findings")[i] : 0), 0);
    if (!total && !list.length) return [];
    const cut = total > list.length ? make("p", { class: "quiet" }, count(list.length) + " of " + count(total) + " shown; the run's findings.parquet keeps more.") : null;
    return [make("h3", {}, "Moments beyond a limit"), timeline(i, list), make("ol", { class: "moments" }, ...list.map((f) => findingRow(f, i))), cut];
  }
  function verdictTable(i) {
    const shown = [...data.gates.keys()].filter((k) => data.gates[k].status[i] !== "-")
      .sort((a, b) => GRAVITY[data.gates[a].status[i]] - GRAVITY[data.gates[b].status[i]] || a - b);
    return make("table", { class: "rows verdicts" }, make("tbody", {}, ...shown.map((k) => verdictRow(k, i))));
  }
  function openEpisode(i) {
    if (panel.hidden) before = document.activeElement;
    shownEpisode = i;
    const d = decision[i], why = visible(reasons[i]);
    const facts = [["decision", DSIGN[d] + " " + DECIDED[d] + (why ? " by " + why : "")],
      ["length", data.episodes.present[i] === "1" ? seconds[i].toFixed(2) + " s, " + count(frames[i]) + " frames" : "absent"],
      ["task", visible(tasks[i])], ["files", visible(files()[i])], ["judged in", wall()[i] ? number(wall()[i]) + " s" : ""]];
    panel.replaceChildren(
      make("div", { class: "panel-head" },
        make("h2", { id: "panel-title" }, make("bdi", {}, visible(ids[i]))),
        make("span", { class: "tools" },
          make("button", { type: "button", title: "previous ([)", "aria-label": "previous episode", onclick: () => step(-1) }, "‹"),
          make("button", { type: "button", title: "next (])", "aria-label": "next episode", onclick: () => step(1) }, "›"),
          make("button", { type: "button", title: "close (Esc)", "aria-label": "close", onclick: close }, "×"))),
      make("dl", { class: "facts d-" + d }, ...facts.filter((f) => f[1]).flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, make("bdi", {}, v))])),
      command(viewLine(ids[i])), ...findingList(i).filter(Boolean), make("h3", {}, "Verdicts"), verdictTable(i));
    panel.hidden = false;
    panel.scrollTop = 0;
    document.title = visible(ids[i]) + " · " + title;
    panel.focus({ preventScroll: true });
    const position = state.order.indexOf(i);
    if (position >= 0) moveTo(position);
  }
  function close() {
    if (panel.hidden) return;
    panel.hidden = true;
    shownEpisode = -1;
    document.title = title;
    if (location.hash.startsWith("#episode=")) history.replaceState(null, "", location.pathname + location.search);
    const back = before && before !== document.body && before.isConnected ? before : grid;
    back.focus({ preventScroll: true });
  }
  function step(by) {
    const position = state.order.indexOf(shownEpisode) + by;
    if (position >= 0 && position < state.order.length) location.replace(episodeHash(ids[state.order[position]]));
  }
  function openRow() {
    if (state.order.length) go(episodeHash(ids[state.order[state.at]]));
  }
  function go(hash) {
    if (location.hash === hash) follow();
    else location.hash = hash;
  }
  function follow() {
    const [kind, raw] = location.hash.slice(1).split(/=(.*)/s);
    let value = raw || "";
    try { value = decodeURIComponent(value); } catch { /* a broken escape is no episode's name */ }
    if (kind === "episode") {
      const i = place().get(value);
      if (i === undefined) say("No episode of this name in this run: " + visible(value));
      else openEpisode(i);
      return;
    }
    close();
    if (kind !== "gate") return;
    const card = byId("gate=" + value);
    if (!card) { say("No gate of this code in this run: " + visible(value)); return; }
    for (let node = card.parentElement; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    const about = card.querySelector("details");
    if (about) about.open = true;
    card.scrollIntoView({ block: "start" });
    card.focus({ preventScroll: true });
  }

  // ---------------------------------------------------------------------------- keys, copying, theme, print

  const say = (text) => { const node = byId("said"); node.textContent = text; node.classList.add("seen"); setTimeout(() => node.classList.remove("seen"), 2500); };
  async function copy(button) {
    const line = button.dataset.copy;
    try { await navigator.clipboard.writeText(line); } catch {
      const area = make("textarea", { class: "unseen" });
      area.value = line;
      button.after(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "copied";
    say("copied");
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  }
  const PAGE = () => Math.max(1, Math.floor((grid.clientHeight - head.offsetHeight) / ROW) - 1);
  const MOVES = { ArrowDown: () => state.at + 1, ArrowUp: () => state.at - 1, PageDown: () => state.at + PAGE(),
    PageUp: () => state.at - PAGE(), Home: () => 0, End: () => state.order.length - 1 };
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (byId("help").open) return;
    if (event.key === "Escape") {
      if (!panel.hidden) close();
      else if (typing) grid.focus({ preventScroll: true });
      return;
    }
    if (typing && event.target === filter && event.key === "ArrowDown") { grid.focus({ preventScroll: true }); event.preventDefault(); return; }
    if (typing) return;
    if (event.key === "/") { byId("episodes").scrollIntoView(); filter.focus({ preventScroll: true }); filter.select(); event.preventDefault(); }
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "[" && !panel.hidden) step(-1);
    else if (event.key === "]" && !panel.hidden) step(1);
    else if (event.target === grid && MOVES[event.key]) { moveTo(MOVES[event.key]()); event.preventDefault(); }
    else if (event.target === grid && event.key === "Enter") { openRow(); event.preventDefault(); }
  }
  const THEMES = ["auto", "light", "dark"];
  function theme(name) {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    byId("theme").textContent = "theme: " + name;
    try { localStorage.setItem("assay-theme", name); } catch { /* a file may have no storage */ }
  }
  function savedTheme() {
    try { const name = localStorage.getItem("assay-theme"); return THEMES.includes(name) ? name : "auto"; } catch { return "auto"; }
  }
  function printTable() {
    const rows = state.order.slice(0, PRINTED);
    const cells = (i) => [DSIGN[decision[i]] + " " + DECIDED[decision[i]], visible(ids[i]), visible(tasks[i]), lasting(i),
      count(frames[i]), data.gates.filter((g) => g.status[i] === "f").map((g) => g.code).join(" "),
      data.gates.filter((g) => "ae".includes(g.status[i])).map((g) => g.code).join(" ")];
    const note = state.order.length > PRINTED
      ? "The first " + count(PRINTED) + " of " + count(state.order.length) + " rows in the order on screen; all: assay verdicts " + shell(data.run) + " --format csv"
      : count(rows.length) + " rows.";
    byId("print-table").replaceChildren(make("p", {}, note), make("table", { class: "rows" },
      make("thead", {}, make("tr", {}, ...["decision", "episode", "task", "s", "frames", "✕ fail", "? abstain, ! error"].map((t) => make("th", { scope: "col" }, t)))),
      make("tbody", {}, ...rows.map((i) => make("tr", {}, ...cells(i).map((t) => make("td", {}, t)))))));
    for (const node of document.querySelectorAll("details.calm")) node.open = true;
  }

  buildTable();
  theme(savedTheme());
  refresh(true);
  grid.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", () => requestAnimationFrame(draw));
  body.addEventListener("click", (event) => {
    const slot = pool.find((one) => one.row.contains(event.target));
    if (slot) { moveTo(slot.position); openRow(); }
  });
  filters.addEventListener("input", () => refresh(true));
  filters.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy, .pick");
    if (button && button.classList.contains("copy")) copy(button);
    else if (button) pick(button.dataset.gate, button.dataset.status || "f");
  });
  byId("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(savedTheme()) + 1) % 3]));
  byId("show-help").addEventListener("click", () => byId("help").showModal());
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", printTable);
  if (location.hash) follow();
  // The first click on a heading finds its column ranked already.
  const unranked = COLUMNS.map((c) => c.name);
  const idle = (work) => (window.requestIdleCallback ? requestIdleCallback(work) : setTimeout(work, 50));
  idle(function next() {
    if (!unranked.length) return;
    keyOf(unranked.pop());
    idle(next);
  });
})();
