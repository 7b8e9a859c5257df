// `task console:build` runs this file. It builds the console into console/dist and prints the sizes of its files.
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildConsole } from "./bundle.ts";

const { first, later } = await buildConsole(join(fileURLToPath(new URL(".", import.meta.url)), "dist"));
const sum = first.reduce((bytes, { gzip_bytes }) => bytes + gzip_bytes, 0);
for (const { name, gzip_bytes } of [...first, ...later]) console.log(`${String(gzip_bytes).padStart(8)}  ${name}`);
console.log(`first load: ${(sum / 1_024).toFixed(1)} KiB compressed`);
// Ends the program explicitly, because esbuild's service process would keep the program running.
process.exit(0);
