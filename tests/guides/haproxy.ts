// Runs HAProxy with the settings of the guide to automatic failover.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { present } from "../support/optional-programs.ts";
import { until } from "../stress/waiting.ts";
import { settingsIn } from "./guide.ts";
import { replaced, ROOT } from "./run.ts";

export type Haproxy = { readonly url: string; close(): Promise<void> };

export type HaproxyOptions = {
  readonly folder: string;
  readonly port: number;
  /** The ports of the three control planes. */
  readonly api: readonly number[];
  /** True to use the settings for more than 10,000 nodes. */
  readonly agents_apart?: boolean;
};

/** The line and the last backend that the settings for more than 10,000 nodes replace. */
const DEFAULT_BACKEND = "  default_backend control_planes";
const CHANGES_BACKEND = "\nbackend changes\n";
const START_LIMIT_MS = 30_000;
const LOOK_MS = 100;

/** Starts HAProxy, and waits until a control plane answers through HAProxy. HAProxy accepts plain HTTP. */
export async function startHaproxy(options: HaproxyOptions): Promise<Haproxy> {
  const { folder, port, api, agents_apart = false } = options;
  const guide = await readFile(join(ROOT, "docs/guides/automatic-failover.md"), "utf8");
  const [common = "", choice = "", backends = ""] = settingsIn(guide, "haproxy");
  const kept = common.slice(0, common.indexOf(CHANGES_BACKEND));
  const block = agents_apart ? `${replaced(kept, { [DEFAULT_BACKEND]: choice })}\n${backends}` : common;
  const file = join(folder, "haproxy.cfg");
  const instead = {
    "bind 10.0.0.1:443 ssl crt /etc/haproxy/berth.pem": `bind 127.0.0.1:${port}`,
    ...Object.fromEntries(api.map((each, index) => [`10.0.0.${index + 1}:8080`, `127.0.0.1:${each}`])),
  };
  for (const text of [DEFAULT_BACKEND, CHANGES_BACKEND, ...Object.keys(instead)]) {
    if (!common.includes(text)) throw new Error(`the guide's haproxy block lacks ${text}`);
  }
  await writeFile(file, `${replaced(block, instead)}\n`);
  const log = createWriteStream(join(folder, "haproxy.log"));
  const child: ChildProcess = spawn(present("haproxy"), ["-db", "-f", file], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout!.pipe(log, { end: false });
  child.stderr!.pipe(log, { end: false });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const url = `http://127.0.0.1:${port}`;
  const answers = () => fetch(`${url}/readyz`).then((response) => response.ok, () => false);
  if (await until(answers, { limit_ms: START_LIMIT_MS, look_ms: LOOK_MS })) return { url, close };
  await close();
  throw new Error(`HAProxy does not answer:\n${await readFile(join(folder, "haproxy.log"), "utf8")}`);
}
