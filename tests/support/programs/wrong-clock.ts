// Gives a program that preloads or imports this file a wrong wall clock. Date is moved by the number of seconds in the
// file that CLOCK_AHEAD_FILE names. A SIGUSR2 makes the program read the file again. Timers and performance.now are
// unchanged, as on a machine whose wall clock is set.
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
