const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;

/* Light, dark, or what the system says. */
const THEMES = ["automatic", "light", "dark"];
const themeButton = document.getElementById("theme");

function remembered() {
  try {
    return localStorage.getItem("gpugraph-theme");
  } catch {
    return null; // a browser may forbid a file to remember anything
  }
}

function setTheme(theme) {
  if (theme === "automatic") delete root.dataset.theme;
  else root.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem("gpugraph-theme", theme);
  } catch {
    /* then it holds until the page is closed */
  }
}

setTheme(THEMES.includes(remembered()) ? remembered() : "automatic");
themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  const now = root.dataset.theme ?? "automatic";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});

/* Figures. Their colours are the style sheet's variables, so a change of theme needs no drawing anew. */
const OPTIONS = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true, // expressions are interpreted: the page's policy forbids code made from text
  defaultStyle: false,
  tooltip: { theme: "page", disableDefaultStyle: true },
};

function fitted(chart, width) {
  const spec = structuredClone(chart.spec);
  const config = structuredClone(data.config);
  config.legend.columns = Math.max(1, Math.floor((width - 60) / chart.entry));
  if (width < 480) {
    config.axis.labelLimit = 130;
    config.axisX.titleAnchor = "end"; // it may be longer than the plot is wide
    config.legend.labelLimit = width - 60;
  }
  config.legend.layout = { top: { direction: "vertical", anchor: "start" } }; // side by side they may be too wide
  return { ...spec, config, width: "container", height: chart.height, autosize: { type: "fit-x", contains: "padding" } };
}

async function draw(place) {
  try {
    await vegaEmbed(place, fitted(data.charts[Number(place.dataset.chart)], place.clientWidth), OPTIONS);
  } catch (error) {
    place.innerHTML = '<p class="broken">This figure could not be drawn; the table below has its numbers.</p>';
    console.error(error);
  }
}

/* A figure is drawn as soon as it is seen: one that is folded away has no width yet. */
function drawIn(part) {
  if (!window.vegaEmbed) return Promise.resolve(); // plain figures are in the page
  const places = [...part.querySelectorAll(".chart:not(.vega-embed)")];
  return Promise.all(places.filter((place) => !place.closest("details:not([open])")).map(draw));
}

if (innerWidth < 640) {
  for (const matrix of document.querySelectorAll(".wins > details ~ details")) matrix.open = false;
  for (const more of document.querySelectorAll(".figures + .fold > .figures")) {
    const shown = more.parentNode.previousElementSibling;
    while (shown.children.length > 1) more.prepend(shown.lastElementChild);
    more.previousElementSibling.textContent = `${more.children.length} more`;
  }
}
const drawn = drawIn(document);
for (const fold of document.querySelectorAll("details.fold")) fold.addEventListener("toggle", () => drawIn(fold));
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
});

/* Saving a figure: the drawing with its title on the page's ground, every colour as it is now, made here and kept here. */
function standalone(figure) {
  const drawing = figure.querySelector("svg");
  const [, , width, height] = drawing.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  const title = figure.querySelector("h4").firstChild.textContent.trim();
  const style = getComputedStyle(root);
  const inner = drawing.cloneNode(true);
  for (const [name, value] of Object.entries({ x: 12, y: 34, width, height })) inner.setAttribute(name, value);
  inner.removeAttribute("style");
  const outer = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const whole = { width: width + 24, height: height + 46, viewBox: `0 0 ${width + 24} ${height + 46}` };
  for (const [name, value] of Object.entries(whole)) outer.setAttribute(name, value);
  outer.innerHTML = '<rect width="100%" height="100%" fill="var(--paper)"/><text x="12" y="23" font-size="15" font-weight="600" font-family="Helvetica, Arial, sans-serif" fill="var(--text)"></text>';
  outer.lastChild.textContent = title;
  outer.append(inner);
  const text = new XMLSerializer().serializeToString(outer);
  return text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function save(button) {
  const figure = button.closest("figure");
  const svg = standalone(figure);
  if (button.dataset.save === "svg") {
    download(new Blob([svg], { type: "image/svg+xml" }), `${figure.id}.svg`);
    return;
  }
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width; // twice the pixels: sharp on paper and on fine screens
  canvas.height = 2 * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(blob, `${figure.id}.png`), "image/png");
}

for (const tools of document.querySelectorAll(".save")) tools.hidden = false;
document.getElementById("main").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-save]");
  if (button) save(button);
});

/* The table: sorting. */
const table = document.getElementById("cells");
const body = table.tBodies[0];
const rows = [...body.querySelectorAll("tr.cell")];
const headers = [...table.tHead.querySelectorAll("th")];
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function key(row, column, numeric) {
  const cell = row.cells[column];
  if (!numeric) return cell.dataset.key ?? cell.textContent;
  return cell.dataset.key === "" ? null : Number(cell.dataset.key);
}

function sortBy(header) {
  const numeric = header.classList.contains("number");
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const one of headers) one.setAttribute("aria-sort", one === header ? order : "none");
  const sign = order === "ascending" ? 1 : -1;
  const column = header.cellIndex;
  const keyed = rows.map((row, index) => ({ row, index, value: key(row, column, numeric) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.index - b.index;
    const difference = numeric ? a.value - b.value : collator.compare(a.value, b.value);
    return sign * difference || a.index - b.index;
  });
  for (const { row } of keyed) {
    body.append(row);
    if (row.details) body.append(row.details);
  }
}

for (const header of headers) header.querySelector("button").addEventListener("click", () => sortBy(header));

/* The table: filtering. */
const form = document.getElementById("filters");
const search = document.getElementById("search");
const status = document.getElementById("shown");
const choices = [];

for (const title of data.filters) {
  const header = headers.find((one) => one.textContent === title);
  const values = [...new Set(rows.map((row) => key(row, header.cellIndex, false)))].sort(collator.compare);
  if (values.length < 2) continue;
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
  label.append(`${title} `, select);
  form.append(label);
  choices.push({ select, column: header.cellIndex });
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    const chosen = choices.every(({ select, column }) => !select.value || key(row, column, false) === select.value);
    row.hidden = !(fits && chosen);
    if (row.details) row.details.hidden = row.hidden || row.details.folded;
    if (!row.hidden) shown += 1;
  }
  status.textContent = shown === rows.length ? `${shown} cells` : `${shown} of ${rows.length} cells`;
}

search.addEventListener("input", filter);
form.addEventListener("change", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
filter();

/* The table: everything known of a cell. */
function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function unfold(row, button) {
  if (!row.details) {
    const cell = element("td");
    cell.colSpan = headers.length + 1;
    const blocks = element("div");
    blocks.className = "blocks";
    for (const [title, facts] of data.cells[Number(button.dataset.cell)]) {
      const block = element("div");
      const list = element("dl");
      block.append(element("h5", title));
      if (facts.length === 1 && facts[0][0] === "") {
        block.className = "wide";
        block.append(element("div", facts[0][1]));
      } else {
        for (const [name, text] of facts) list.append(element("dt", name), element("dd", text));
        block.append(list);
      }
      blocks.append(block);
    }
    cell.append(blocks);
    row.details = element("tr");
    row.details.className = "details";
    row.details.append(cell);
    row.details.folded = true;
    row.after(row.details);
  }
  row.details.folded = !row.details.folded;
  row.details.hidden = row.details.folded;
  button.setAttribute("aria-expanded", String(!row.details.folded));
  button.textContent = row.details.folded ? "+" : "−";
}

body.addEventListener("click", (event) => {
  const button = event.target.closest("button.more");
  if (button) unfold(button.closest("tr"), button);
});

await drawn;
root.dataset.ready = "true";
