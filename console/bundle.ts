// Bundles the console: script, styles, icon and index.html. The names of scripts and styles contain the hash of their
// content. The page has no inline script or style, so a strict Content-Security-Policy allows the page.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` +
  `<path fill="#0b5fad" d="M2 3h12v3H2zM2 7h12v3H2zM2 11h12v3H2z"/></svg>\n`;

/** The prefix of a build's own folder for new files. Each build has its own, because builds may run in parallel. */
const STAGING = ".build-";

/** The largest number of compressed bytes that a browser may load before the first page. */
export const FIRST_LOAD_BYTES_MAX = 60_000;

/** One file of the build, with its compressed size in bytes. */
export type Built = { readonly name: string; readonly gzip_bytes: number };

/**
 * Builds into a folder. A server may serve the folder during the build: each file appears complete, index.html appears
 * last, and then the old files are deleted. Returns the files that the first page loads, and the other files. Both
 * lists omit the icon.
 */
export async function buildConsole(
  out: string,
): Promise<{ readonly first: readonly Built[]; readonly later: readonly Built[] }> {
  const { metafile, outputFiles } = await esbuild.build({
    entryPoints: { main: join(FOLDER, "main.tsx"), style: join(FOLDER, "style/console.css") },
    absWorkingDir: FOLDER,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: "es2024",
    outdir: out,
    write: false,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
  });
  const outputs = Object.entries(metafile.outputs).map(([path, { entryPoint, imports }]) => ({
    name: path.split("/").at(-1) ?? "",
    entryPoint,
    // The browser loads a script's static imports, and their imports, together with the script.
    imports: imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path.split("/").at(-1) ?? ""),
  }));
  const entry = (end: string) => {
    const output = outputs.find(({ entryPoint }) => entryPoint?.endsWith(end));
    if (output === undefined) throw new Error(`the build has no file for ${end}`);
    return output.name;
  };
  const [script, style] = [entry("main.tsx"), entry("console.css")];
  const first = withImports(["index.html", style, script], outputs);
  const filesOf = (...pages: readonly string[]) =>
    [...withImports(pages.map(entry), outputs)].filter((name) => !first.has(name));
  const index = new TextEncoder().encode(indexPage(script, style, {
    operator: filesOf("operator/more-pages.ts"),
    tenant: filesOf("tenant/more-pages.ts", "operator/audit.tsx"),
  }));
  const files = new Map([
    ...outputFiles.map(({ path, contents }) => [path.split("/").at(-1) ?? "", contents] as const),
    ["icon.svg", new TextEncoder().encode(ICON)] as const,
    ["index.html", index] as const,
  ]);
  publish(out, files);

  const built = [...files].filter(([name]) => name !== "icon.svg")
    .map(([name, bytes]) => ({ name, gzip_bytes: gzipSync(bytes, { level: 9 }).length }));
  return { first: built.filter(({ name }) => first.has(name)), later: built.filter(({ name }) => !first.has(name)) };
}

/** Returns these files and all files that they import statically. */
function withImports(
  names: readonly string[],
  outputs: readonly { readonly name: string; readonly imports: readonly string[] }[],
): ReadonlySet<string> {
  const all = new Set(names);
  // A Set also iterates over the values that are added during the iteration.
  for (const name of all) {
    for (const each of outputs.find((output) => output.name === name)?.imports ?? []) all.add(each);
  }
  return all;
}

/** Moves the files into the folder in the order of the map, and then deletes the files of earlier builds. */
function publish(out: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(out, { recursive: true });
  const staging = mkdtempSync(join(out, STAGING));
  try {
    for (const [name, bytes] of files) {
      writeFileSync(join(staging, name), bytes);
      renameSync(join(staging, name), join(out, name));
    }
  } finally {
    rmSync(staging, { recursive: true });
  }
  const old = readdirSync(out).filter((name) => !files.has(name) && !name.startsWith(STAGING));
  for (const name of old) rmSync(join(out, name), { recursive: true, force: true });
}

/** Returns the page. `preloaded` has the files that preload.ts loads, by the name of their `meta` element. */
function indexPage(script: string, style: string, preloaded: Readonly<Record<string, readonly string[]>>): string {
  const metas = Object.entries(preloaded).map(([name, files]) => `<meta name="${name}" content="${files.join(" ")}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Berth</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/console/${style}">
${metas.join("\n")}
<script type="module" src="/console/${script}"></script>
</head>
<body><div id="app"></div></body>
</html>
`;
}
