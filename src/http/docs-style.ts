// Contains the style of /docs as one string, so that the Content-Security-Policy can allow exactly this style by its
// hash.
export const DOCS_STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--panel:#fff;--ink:#1d2327;--soft:#5c6770;--line:#e0e3e1;--accent:#0b6e69;
--get:#0b6e69;--post:#8a4b08;--put:#5b3fa0;--delete:#b3261e;--code:#f1f3f2}
@media(prefers-color-scheme:dark){:root{--bg:#14181a;--panel:#1b2124;--ink:#e6eaea;--soft:#9aa7ab;--line:#2d3639;
--accent:#58c4bc;--get:#58c4bc;--post:#e0a458;--put:#b8a1f0;--delete:#f2877f;--code:#232b2e}}
*{box-sizing:border-box}html{scroll-behavior:smooth}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,sans-serif;display:grid;
grid-template-columns:minmax(240px,330px) minmax(0,1fr)}
nav{order:-1;position:sticky;top:0;height:100vh;overflow:auto;padding:28px 20px 40px;border-right:1px solid var(--line);
background:var(--panel)}
nav .name{font-size:20px;font-weight:700;letter-spacing:-.02em}nav .version{color:var(--soft);margin-left:6px}
nav h2{font-size:12px;text-transform:uppercase;letter-spacing:.08em;color:var(--soft);margin:26px 0 6px}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:flex;gap:8px;align-items:baseline;padding:3px 6px;border-radius:5px;color:var(--ink);text-decoration:none;
font-size:13px;overflow-wrap:anywhere}nav a:hover{background:var(--code)}
.skip{display:none}form{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:20px 0 8px}
input,button{font:inherit;color:inherit;padding:5px 10px;border:1px solid var(--line);border-radius:6px;
background:var(--panel)}input{flex:1 1 160px;min-width:0}
main{padding:40px clamp(20px,4vw,64px) 120px;max-width:1080px}
h1{font-size:30px;letter-spacing:-.02em;margin:0 0 6px}main>h2{margin:56px 0 8px;font-size:22px;letter-spacing:-.01em}
p{margin:8px 0}a{color:var(--accent)}
code,.path{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}code{background:var(--code);
padding:1px 5px;border-radius:4px}
article{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:20px 24px;margin:16px 0;
scroll-margin-top:16px}article:target{border-color:var(--accent)}
article h3{margin:0;display:flex;gap:12px;align-items:baseline;flex-wrap:wrap;font-size:15px}
article .path{font-size:15px;font-weight:600;overflow-wrap:anywhere}
h4{margin:20px 0 6px;font-size:12px;text-transform:uppercase;letter-spacing:.07em;color:var(--soft)}
.m{font:700 11px/1 ui-monospace,Menlo,Consolas,monospace;min-width:46px;color:var(--soft)}
.get{color:var(--get)}.post{color:var(--post)}.put,.patch{color:var(--put)}.delete{color:var(--delete)}
.rights{color:var(--soft)}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600;color:var(--soft);font-size:12px}
th,td{padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}tr:last-child td{border-bottom:0}
.type{color:var(--soft);white-space:nowrap}.req{color:var(--delete);font-size:12px;white-space:nowrap}
@media(max-width:860px){body{display:block}nav{position:static;height:auto;border:0;border-top:1px solid var(--line)}
.skip{display:inline-block;margin-bottom:12px}main{padding:20px 16px 40px}article{padding:14px 14px}
td{display:inline-block;border:0;padding:2px 8px 2px 0;overflow-wrap:anywhere}td:last-child{display:block}
tr{display:block;padding:4px 0;border-bottom:1px solid var(--line)}.type{white-space:normal}}
@media print{nav{display:none}body{display:block}article{break-inside:avoid}}
`;
