// A wrong wall clock. Preloaded before a program (`deno run --preload`), it moves Date by the seconds in the file
// CLOCK_AHEAD_FILE, which it reads again at each SIGUSR2. Timers and performance.now are unchanged, as on a machine
// whose wall clock is set.
import { readFileSync } from "node:fs";
import process from "node:process";

const RealDate = Date;
const file = process.env["CLOCK_AHEAD_FILE"] ?? "";
let ahead_ms = read();
process.on("SIGUSR2", () => void (ahead_ms = read()));

function read(): number {
  return Number(readFileSync(file, "utf8")) * 1_000;
}

const now = () => RealDate.now() + ahead_ms;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, argv, made) => Reflect.construct(target, argv.length === 0 ? [now()] : argv, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => name === "now" ? now : Reflect.get(target, name),
});
