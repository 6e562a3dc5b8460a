(function () {
  "use strict";
  var table = document.getElementById("findings");
  if (!table) return;
  var byId = function (id) { return document.getElementById(id); };
  var list = function (things) { return Array.prototype.slice.call(things); };
  var body = table.tBodies[0], rows = list(body.rows);
  var find = byId("find"), verdict = byId("verdict"), shown = byId("shown");
  var classes = list(verdict.options).filter(function (option) { return option.hasAttribute("data-class"); })
    .map(function (option) { return option.value; });

  // One item for each photo: its row, its thumbnail, its card if it has one, and the answer of the person who looked.
  var items = {};
  rows.forEach(function (row) {
    items[row.dataset.i] = {row: row, words: row.textContent.toLowerCase(), answer: ""};
  });
  list(document.querySelectorAll(".thumb")).forEach(function (thumb) { items[thumb.dataset.i].thumb = thumb; });
  list(document.querySelectorAll(".card")).forEach(function (card) { items[card.dataset.i].card = card; });
  var order = rows.map(function (row) { return items[row.dataset.i]; });

  // ---- what is shown ----

  function fits(item) {
    return (!verdict.value || item.row.dataset.verdict === verdict.value) &&
      item.words.indexOf(find.value.toLowerCase()) >= 0;
  }

  function filter() {
    var count = 0;
    order.forEach(function (item) {
      var hidden = !fits(item);
      item.row.hidden = item.thumb.hidden = hidden;
      if (item.card) item.card.hidden = hidden;
      if (!hidden) count++;
    });
    list(document.querySelectorAll("section.pictured")).forEach(function (section) {
      section.hidden = !section.querySelector(".card:not([hidden])");
    });
    list(document.querySelectorAll("a.tile")).forEach(function (tile) {
      tile.classList.toggle("chosen", tile.dataset.verdict === verdict.value);
    });
    shown.textContent = count + " of " + order.length + " shown";
  }

  function key(row, column) {
    var cell = row.cells[column], value = cell.dataset.v;
    if (value === undefined) return cell.textContent;
    return value === "" ? -Infinity : Number(value);
  }

  function compare(a, b) {
    return typeof a === "number" ? a - b : a.localeCompare(b, undefined, {numeric: true});
  }

  function sort(header) {
    var column = header.cellIndex, down = header.getAttribute("aria-sort") !== "descending";
    if (!header.hasAttribute("aria-sort") && !header.classList.contains("n")) down = false;
    list(header.parentNode.cells).forEach(function (other) { other.removeAttribute("aria-sort"); });
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.map(function (row) { return {row: row, key: key(row, column)}; })
      .sort(function (a, b) { return down ? compare(b.key, a.key) : compare(a.key, b.key); })
      .forEach(function (item) { body.appendChild(item.row); });
  }

  // ---- answers ----

  var place = "broad:" + location.pathname, panels = [];

  function answerable(item) { return classes.length > 0 && item.row.dataset.file !== undefined; }

  function button(text, title, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = title;
    made.addEventListener("click", act);
    return made;
  }

  // Buttons for what a photo shows: the verdict first, as "Right".
  function ask(panel, item) {
    while (panel.firstChild) panel.removeChild(panel.firstChild);
    panel.hidden = !answerable(item);
    if (panel.hidden) return;
    var label = item.row.dataset.label;
    var choices = [label].concat(classes.filter(function (name) { return name !== label; }));
    choices.forEach(function (name) {
      var hint = name + ", key " + (classes.indexOf(name) + 1) + (name === label ? " or R" : "");
      var made = button(name === label ? "Right: " + name : name, hint, function () {
        give(item, item.answer === name ? "" : name);
      });
      made.setAttribute("aria-pressed", item.answer === name);
      panel.appendChild(made);
    });
  }

  function redraw(item) {
    panels.forEach(function (panel) { if (panel.item === item) ask(panel.element, item); });
    [item.row, item.thumb, item.card].forEach(function (element) {
      if (element) element.classList.toggle("answered", item.answer !== "");
      if (element) element.classList.toggle("wrong", item.answer !== "" && item.answer !== item.row.dataset.label);
    });
  }

  function count() {
    var given = order.filter(function (item) { return item.answer; });
    var wrong = given.filter(function (item) { return item.answer !== item.row.dataset.label; });
    byId("answers").hidden = given.length === 0;
    byId("answered").textContent = given.length + (given.length === 1 ? " answer, " : " answers, ") +
      wrong.length + " of them corrected";
  }

  // A photo, or one box of it.
  function subject(item) { return item.row.dataset.file + (item.row.dataset.box ? "#" + item.row.dataset.box : ""); }

  function keep() {
    var kept = {};
    order.forEach(function (item) { if (item.answer) kept[subject(item)] = item.answer; });
    try { localStorage.setItem(place, JSON.stringify(kept)); } catch (none) { return; }
  }

  function give(item, answer) {
    item.answer = answer;
    redraw(item);
    count();
    keep();
  }

  function recall() {
    var kept = {};
    try { kept = JSON.parse(localStorage.getItem(place)) || {}; } catch (none) { kept = {}; }
    order.forEach(function (item) {
      var answer = kept[subject(item)];
      if (answerable(item) && classes.indexOf(answer) >= 0) item.answer = answer;
      if (item.answer) redraw(item);
    });
    count();
  }

  function field(text) { return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }

  function corrections() {
    var boxes = order.some(function (item) { return item.row.dataset.box; });
    return "\uFEFFfile,correction" + (boxes ? ",left,top,right,bottom" : "") + "\r\n" +
      order.filter(function (item) { return item.answer; }).map(function (item) {
        var cells = [field(item.row.dataset.file), field(item.answer)];
        return cells.concat(boxes ? item.row.dataset.box : []).join(",") + "\r\n";
      }).join("");
  }

  function save() {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([corrections()], {type: "text/csv"}));
    link.download = "corrections.csv";
    document.body.appendChild(link);
    link.click();
    document.body.removeChild(link);
  }

  // ---- in full size ----

  var box = byId("box"), queue = [], at = 0, panel = {element: byId("box-answer"), item: null};
  var photo = byId("box-photo"), heat = byId("box-heat");
  panels.push(panel);

  function show() {
    var item = queue[at], name = item.row.cells[1].textContent, cells = list(item.row.cells);
    var heads = list(table.tHead.rows[0].cells);
    byId("box-name").textContent = item.row.cells[0].textContent + ". " + name;
    byId("box-place").textContent = (at + 1) + " of " + queue.length;
    byId("box-note").textContent = cells.slice(2).map(function (cell, i) {
      return cell.textContent ? heads[i + 2].textContent + ": " + cell.textContent : "";
    }).filter(Boolean).join(" \u00b7 ");
    photo.src = byId("box-original").href = item.thumb.href;
    photo.alt = "Photo " + name;
    heat.hidden = !item.thumb.dataset.heat;
    if (!heat.hidden) heat.src = item.thumb.dataset.heat;
    heat.alt = heat.hidden ? "" : "Heat map of " + name;
    panel.item = item;
    ask(panel.element, item);
  }

  function open(chosen, first) {
    queue = chosen;
    at = Math.max(queue.indexOf(first), 0);
    if (!queue.length) return;
    show();
    if (!box.open) box.showModal();
  }

  function step(by) {
    if (at + by < 0 || at + by >= queue.length) return;
    at += by;
    show();
  }

  // The picture may have moved; the page has a small one of its own.
  photo.addEventListener("error", function () {
    var small = panel.item && panel.item.thumb.querySelector("img").src;
    if (!small || photo.src === small) return;
    photo.src = small;
    byId("box-note").textContent += " \u00b7 The photo is not where it was; this is its thumbnail.";
  });

  document.addEventListener("keydown", function (event) {
    if (!box.open || event.ctrlKey || event.altKey || event.metaKey) return;
    var item = queue[at], number = "123456789".indexOf(event.key);
    if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (answerable(item) && (event.key === "r" || event.key === "R")) { give(item, item.row.dataset.label); step(1); }
    else if (answerable(item) && number >= 0 && number < classes.length) { give(item, classes[number]); step(1); }
    else return;
    event.preventDefault();
  });

  function opens(link, item) {
    link.addEventListener("click", function (event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(order.filter(fits), item);
    });
  }

  // ---- start ----

  list(table.tHead.rows[0].cells).forEach(function (header) {
    var made = document.createElement("button");
    made.type = "button";
    while (header.firstChild) made.appendChild(header.firstChild);
    header.appendChild(made);
    made.addEventListener("click", function () { sort(header); });
  });
  order.forEach(function (item) {
    opens(item.thumb, item);
    if (!item.card) return;
    list(item.card.querySelectorAll(".pics a")).forEach(function (link) { opens(link, item); });
    var made = document.createElement("div");
    made.className = "answer";
    item.card.querySelector(".about").appendChild(made);
    panels.push({element: made, item: item});
    ask(made, item);
  });
  list(document.querySelectorAll("a.tile")).forEach(function (tile) {
    tile.addEventListener("click", function (event) {
      event.preventDefault();
      verdict.value = verdict.value === tile.dataset.verdict ? "" : tile.dataset.verdict;
      filter();
    });
  });
  if (byId("review")) {
    byId("review").addEventListener("click", function () {
      open(order.filter(fits).sort(function (a, b) { return a.row.dataset.c - b.row.dataset.c; }));
    });
  }
  byId("box-close").addEventListener("click", function () { box.close(); });
  byId("box-back").addEventListener("click", function () { step(-1); });
  byId("box-next").addEventListener("click", function () { step(1); });
  byId("save").addEventListener("click", save);
  byId("forget").addEventListener("click", function () {
    order.forEach(function (item) { if (item.answer) give(item, ""); });
  });
  find.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  verdict.hidden = verdict.options.length < 2;
  byId("tools").hidden = false;
  recall();
  filter();
}());
