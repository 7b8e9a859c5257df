/** Script of the images page. It never parses text as HTML, so that a vendor's text cannot become markup. */
export const PAGE_SCRIPT = `
"use strict";
const rows = JSON.parse(document.getElementById("images").textContent);
const list = document.getElementById("list");
const count = document.getElementById("count");
const search = document.getElementById("search");
const FIELDS = ["distro", "release", "arch", "variant", "format"];
const selects = Object.fromEntries(FIELDS.map((field) => [field, document.getElementById(field)]));
const asked = new URLSearchParams(location.hash.slice(1));

function el(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
function sizeText(bytes) {
  if (bytes === null) return "size unknown";
  return bytes >= 1e9 ? (bytes / 1e9).toFixed(2) + " GB" : (bytes / 1e6).toFixed(0) + " MB";
}
function fileName(row) {
  return decodeURIComponent(new URL(row.url).pathname.split("/").pop() || "image");
}
function quoted(text) {
  return "'" + text.replaceAll("'", "'\\\\''") + "'";
}
function verifyCommand(row) {
  const file = fileName(row);
  return "curl -fL -o " + quoted(file) + " " + quoted(row.url) + " && echo " + quoted(row.digest.value + "  " + file) + " | " + row.digest.algorithm + "sum -c -";
}
function copyOld(text) {
  const area = el("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done ? Promise.resolve() : Promise.reject(new Error("not copied"));
}
function copyButton(label, text) {
  const button = el("button", "", label);
  button.type = "button";
  button.dataset.copy = text;
  button.addEventListener("click", () => {
    const copied = navigator.clipboard ? navigator.clipboard.writeText(text).catch(() => copyOld(text)) : copyOld(text);
    copied.then(() => "Copied", () => "Not copied").then((word) => {
      button.textContent = word;
      button.classList.toggle("done", word === "Copied");
      setTimeout(() => { button.textContent = label; button.classList.remove("done"); }, 1500);
    });
  });
  return button;
}
function card(row) {
  const item = el("li");
  const head = el("div");
  head.append(el("span", "name", row.name + " " + row.title.replace(row.name + " ", "")), " ", el("span", "soft", "build " + row.build));
  const tags = el("div");
  for (const alias of row.aliases) tags.append(el("span", "tag alias", alias));
  for (const text of [row.arch, row.variant, row.compression === "none" ? row.format : row.format + " in " + row.compression, sizeText(row.size)]) tags.append(el("span", "tag", text));
  if (row.signed) tags.append(el("span", "tag", "vendor signature"));
  if (row.eol_date) tags.append(el("span", "tag", "supported until " + row.eol_date));
  const actions = el("div", "actions");
  const get = el("a", "get", "Download");
  get.href = row.url;
  get.rel = "noopener noreferrer";
  actions.append(get, copyButton("Copy URL", row.url));
  if (row.digest) actions.append(copyButton("Copy " + row.digest.algorithm, row.digest.value), copyButton("Copy verify command", verifyCommand(row)));
  item.append(head, tags, el("div", "digest", ""), actions);
  const digest = item.querySelector(".digest");
  digest.append(row.digest ? el("code", "", row.digest.algorithm + ":" + row.digest.value) : "The vendor publishes no digest.");
  return item;
}
function matches(row, words) {
  if (FIELDS.some((field) => selects[field].value !== "" && selects[field].value !== row[field])) return false;
  const text = [row.distro, row.name, row.release, row.title, row.aliases.join(" "), row.build, row.arch, row.variant, row.format, fileName(row)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
function show() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = rows.filter((row) => matches(row, words));
  list.replaceChildren(...found.map(card));
  count.textContent = found.length + " of " + rows.length + " images" + (found.length === 0 ? ". Nothing matches: clear the filters or use fewer words." : "");
  const state = new URLSearchParams();
  if (search.value) state.set("q", search.value);
  for (const field of FIELDS) if (selects[field].value) state.set(field, selects[field].value);
  history.replaceState(null, "", state.size ? "#" + state : location.pathname + location.search);
}
for (const field of FIELDS) {
  for (const value of [...new Set(rows.map((row) => row[field]))]) {
    const option = el("option", "", value);
    option.value = value;
    selects[field].append(option);
  }
  selects[field].value = asked.get(field) ?? "";
  if (selects[field].selectedIndex < 0) selects[field].value = "";
  selects[field].addEventListener("change", show);
}
search.value = asked.get("q") ?? "";
search.addEventListener("input", show);
document.getElementById("clear").addEventListener("click", () => {
  search.value = "";
  for (const field of FIELDS) selects[field].value = "";
  show();
  search.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
show();
`;
