/** Style of both pages. Colours follow the reader's colour scheme; the layout fits 320 pixels. */
export const STYLE = `
:root{--ink:#1c2024;--soft:#5b636d;--line:#d9dde2;--paper:#fff;--tint:#f4f6f8;--accent:#0b5fad;--accent-ink:#fff;--good:#1a7f37}
@media (prefers-color-scheme:dark){:root{--ink:#e7eaee;--soft:#9aa4af;--line:#343b43;--paper:#14181c;--tint:#1d2329;--accent:#6cb2f5;--accent-ink:#0b1218;--good:#5ccf7f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:75rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.25rem 0 .75rem}a{color:var(--accent)}code{font:.875em ui-monospace,monospace;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.filters{display:grid;gap:.5rem;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));background:var(--paper);padding:.75rem max(1rem,calc((100% - 75rem)/2 + 1rem));border-bottom:1px solid var(--line)}
@media (min-width:48rem){.filters{position:sticky;top:0;z-index:1}}
.filters .wide{grid-column:1/-1}
.filters label{display:block;font-size:.8rem;color:var(--soft)}
input,select,button{font:inherit;color:inherit;background:var(--tint);border:1px solid var(--line);border-radius:.375rem;padding:.4rem .6rem;min-height:2.5rem}
input,select{width:100%}
button{cursor:pointer}button:hover{border-color:var(--accent)}
button.done{background:var(--good);color:var(--paper);border-color:var(--good)}
:focus-visible{outline:3px solid var(--accent);outline-offset:1px}
ul.images{list-style:none;margin:0;padding:0}
ul.images>li{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0}
.name{font-weight:600}
.tag{display:inline-block;font-size:.8rem;border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;margin:.15rem .25rem .15rem 0}
.tag.alias{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.5rem}
.actions a.get{display:inline-flex;align-items:center;background:var(--accent);color:var(--accent-ink);border-radius:.375rem;padding:.4rem .9rem;min-height:2.5rem;text-decoration:none}
.digest{font-size:.8rem;color:var(--soft)}
table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}th,td{text-align:left;vertical-align:top;border-bottom:1px solid var(--line);padding:.35rem .75rem .35rem 0}
`;
