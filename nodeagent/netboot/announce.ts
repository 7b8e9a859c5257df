// nodeagent netboot announce: logs in to the booter's AMQP broker, announces the machine's inventory, runs the setup
// script that the booter sends, and reports the end of the script. On SmartOS, the program ur-agent does this.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readBootFiles } from "./boot-files.ts";
import { type NetbootAgent, netbootAgent } from "./bus.ts";
import { type InventoryRoots, machineUuid, sysinfo } from "./sysinfo.ts";

export type AnnounceOptions = {
  readonly boot_folder: string;
  readonly roots: InventoryRoots;
  readonly signal: AbortSignal;
  /** Restarts the machine. */
  readonly restart: () => Promise<void>;
  readonly log: (line: string) => void;
};

/** The exit code with which the setup script asks for a restart. */
const RESTART = 113;
const RECONNECT_MS = 3_000;
/** The reply contains at most this number of characters from the end of each output of a script. */
const OUTPUT_CHARS_MAX = 8_192;

type Broker = { readonly login: { readonly user: string; readonly password: string }; host: string; port: number };

/** Parses the property `rabbitmq`: user:password:address:port. */
export function brokerOf(text: string): Broker {
  const [, user = "", password = "", host = "", port = ""] = /^([^:]+):([^:]+):([^:]+):(\d{1,5})$/.exec(text) ?? [];
  if (user === "") throw new Error("boot.properties: rabbitmq must be user:password:address:port");
  return { login: { user, password }, host, port: Number(port) };
}

type Reply = { readonly topic: string; readonly content: Record<string, unknown> };

/**
 * Announces the machine and runs scripts of the booter until the signal aborts. Restarts the machine if a script asks
 * for a restart.
 */
export async function announce({ boot_folder, roots, signal, restart, log }: AnnounceOptions): Promise<void> {
  const { properties, networking } = await readBootFiles(boot_folder);
  const { login, host, port } = brokerOf(properties.get("rabbitmq") ?? "");
  const server_uuid = await machineUuid(roots);
  const mac = properties.get("boot_mac") ?? "";
  // The booter accepts the login only from the address of the boot record.
  const from = networking.vnics[0]?.ip;
  const hostname = networking.hostname ?? properties.get("hostname") ?? "";
  const inventory = () => sysinfo(roots, { hostname, platform_stamp: properties.get("platform_stamp") ?? "" });
  const replies: Reply[] = [];
  let bus: NetbootAgent | null = null;
  let started = false;
  const flush = () => {
    while (bus !== null && replies.length > 0) {
      const { topic, content } = replies.shift()!;
      bus.publish(topic, content);
    }
  };

  async function execute(request: string, content: Record<string, unknown>): Promise<void> {
    log(`runs the script of ${request}`);
    const ended = await runScript(content);
    log(`the script of ${request} ended with ${ended.exit_status}`);
    replies.push({ topic: `ur.execute-reply.${server_uuid}.${request}`, content: ended });
    flush();
    if (ended.exit_status === RESTART) await restart();
  }

  signal.addEventListener("abort", () => bus?.close());
  while (!signal.aborted) {
    try {
      bus = await netbootAgent({ login, port, host, ...(from === undefined ? {} : { from }), server_uuid, mac });
      log(`connected to ${host}`);
      // The startup message is sent only once, because the booter treats a second one as a restart of the machine.
      if (!started) bus.publish(`ur.startup.${server_uuid}`, await inventory());
      started = true;
      flush();
      for (;;) {
        const { key, content } = await bus.next();
        const [, topic = "", subject = "", request = ""] = key.split(".");
        if (topic === "broadcast" && subject === "sysinfo") {
          bus.publish(`ur.sysinfo.${server_uuid}.${request}`, await inventory());
        } else if (topic === "execute") {
          void execute(request, content).catch((error) => log(`the script did not run: ${String(error)}`));
        }
      }
    } catch (error) {
      bus?.close();
      bus = null;
      if (signal.aborted) return;
      log(`${host}: ${error instanceof Error ? error.message : "connection lost"}; tries again`);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }
}

type Ended = { readonly exit_status: number; readonly stdout: string; readonly stderr: string };

/**
 * Runs the script with exactly the given environment. The script's output is also copied to this program's error
 * output.
 */
export async function runScript({ script, env }: Record<string, unknown>): Promise<Ended> {
  if (typeof script !== "string" || typeof env !== "object" || env === null) {
    throw new Error("the request has no script");
  }
  const folder = await mkdtemp(join(tmpdir(), "berth-script-"));
  try {
    const path = join(folder, "script");
    await writeFile(path, script, { mode: 0o700 });
    return await new Promise<Ended>((resolve, reject) => {
      const child = spawn("bash", [path], { env: env as Record<string, string>, stdio: ["ignore", "pipe", "pipe"] });
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name].on("data", (bytes) => {
          output[name] = (output[name] + String(bytes)).slice(-OUTPUT_CHARS_MAX);
          process.stderr.write(bytes);
        });
      }
      child.once("error", reject);
      child.once("close", (code) => resolve({ exit_status: code ?? 1, ...output }));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
