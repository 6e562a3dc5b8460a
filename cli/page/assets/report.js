(function () {
  "use strict";
  var table = document.getElementById("findings");
  if (!table) return;
  var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
  var tools = document.getElementById("tools"), find = document.getElementById("find");
  var verdict = document.getElementById("verdict"), shown = document.getElementById("shown");

  function filter() {
    var words = find.value.toLowerCase(), wanted = verdict.value, count = 0;
    rows.forEach(function (row) {
      var fits = !wanted || row.dataset.verdict === wanted;
      fits = fits && row.textContent.toLowerCase().indexOf(words) >= 0;
      row.hidden = !fits;
      if (fits) count++;
    });
    shown.textContent = count + " of " + rows.length + " shown";
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
    Array.prototype.forEach.call(header.parentNode.cells, function (other) {
      other.removeAttribute("aria-sort");
    });
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.map(function (row) { return {row: row, key: key(row, column)}; })
      .sort(function (a, b) { return down ? compare(b.key, a.key) : compare(a.key, b.key); })
      .forEach(function (item) { body.appendChild(item.row); });
  }

  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (header) {
    var button = document.createElement("button");
    button.type = "button";
    while (header.firstChild) button.appendChild(header.firstChild);
    header.appendChild(button);
    button.addEventListener("click", function () { sort(header); });
  });
  find.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  tools.hidden = false;
  filter();
}());
