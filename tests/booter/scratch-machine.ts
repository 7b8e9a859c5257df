// Provides bare machines for the setup script. Each machine is a scratch root with fake platform tools. All machines
// share one fake booter. Each machine has its own token, so that many machines can run at the same time.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { SETUP_SCRIPT } from "../../booter/setup/script.ts";
import { present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { installTools } from "./platform-tools.ts";

const run = promisify(execFile);

export const STAMP = "20260901T000000Z";
/** The stamp of a later image. Its archives have the same content as the archives of STAMP. */
export const NEXT_STAMP = "20261015T000000Z";
export const UUID = "6f1c2a52-0d5e-4c7e-9a3b-5a3d7f0b9c11";
export const HASH = `$6$salt$${"h".repeat(85)}.`;
export const KEY = "opsk_aaaaaaaaaaaa_0123456789abcdef0123456789abcdef";
export const INSTALL_SH = 'printf "%s|%s|%s|%s" "$1" "$NODEAGENT_ENDPOINT" "$NODEAGENT_STATE_DIR" "$CHANNEL_URL" ' +
  '>"$NODEAGENT_PREFIX/installed"\n';

export type Ended = { readonly code: number; readonly err: string; readonly calls: readonly string[] };
export type Reported = { readonly kind: string; readonly step: string; readonly text: string };

export type ScratchMachine = {
  readonly root: string;
  readonly token: string;
  /** The values that the booter serves to the run. Tests may change them. */
  readonly values: Map<string, string>;
  /** The run's reports, oldest first. */
  readonly reports: readonly Reported[];
  /** Returns the status of the booter's answer to a report of a step. */
  answer: (step: string) => number;
  /** Runs the script. `env` replaces variables of its environment. */
  start(env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Returns the content of a file of the fake tools' state, or null if the file does not exist. */
  state(name: string): Promise<string | null>;
  put(name: string, text?: string): Promise<void>;
  forget(name: string): Promise<void>;
  /** Reads a file on the machine's disk. */
  disk(path: string): Promise<string>;
  /** Returns how many times the pool was created, in all runs on the machine. */
  created(): Promise<number>;
};

export type ScratchMachineFixture = {
  /** The URL of the fake booter. */
  readonly base: string;
  /** Returns a new machine with empty disks. */
  machine(): Promise<ScratchMachine>;
  close(): Promise<void>;
};

/** The programs that the script needs on the machine that runs the tests. */
export const NEEDED = ["bash", "curl", "tar", "gzip", "awk", "sed", "grep"] as const;

type Served = { readonly values: Map<string, string>; readonly reports: Reported[]; answer: (step: string) => number };

export async function openScratchMachine(): Promise<ScratchMachineFixture> {
  const folder = await temporaryFolder("setup-script");
  const archives = {
    platform: await archive(join(folder.path, "platform"), `platform-${STAMP}`, {
      "i86pc/kernel/amd64/unix": "the kernel",
    }),
    boot: await archive(join(folder.path, "boot"), "boot", { pmbr: "p", gptzfsboot: "g", "defaults/loader.conf": "x" }),
  };
  const machines = new Map<string, Served>();
  const server = createServer((req, res) => {
    const parts: Uint8Array[] = [];
    req.on("data", (part: Uint8Array) => parts.push(part));
    req.on("end", () => {
      const answer = (status: number, body: string | Uint8Array = "") => {
        res.writeHead(status);
        res.end(body);
      };
      switch (req.url) {
        case "/time":
          return answer(200, "2026-11-21T12:45:14.123Z\n");
        case "/install.sh":
          return answer(200, INSTALL_SH);
        case `/setup/files/platform-${STAMP}.tgz`:
        case `/setup/files/platform-${NEXT_STAMP}.tgz`:
          return answer(200, archives.platform);
        case `/setup/files/boot-${STAMP}.tgz`:
        case `/setup/files/boot-${NEXT_STAMP}.tgz`:
          return answer(200, archives.boot);
      }
      const machine = machines.get(String(req.headers["x-setup-token"]));
      if (machine === undefined) return answer(404);
      if (req.url === "/setup/values") {
        return answer(200, [...machine.values].map(([key, value]) => `${key}\t${value}\n`).join(""));
      }
      const [line = "", ...text] = Buffer.concat(parts).toString().split("\n");
      const [kind = "", step = ""] = line.split("\t");
      machine.reports.push({ kind, step, text: text.join("\n") });
      answer(machine.answer(step));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function machine(): Promise<ScratchMachine> {
    const number = machines.size + 1;
    const token = number.toString(16).padStart(48, "ab");
    const root = join(folder.path, `machine-${number}`);
    const values = standardValues(base, archives);
    const reports: Reported[] = [];
    const made: Served & ScratchMachine = {
      root,
      token,
      values,
      reports,
      answer: () => 200,
      async start(env = {}) {
        await writeFile(join(platform.state, "calls"), "");
        const { code, err } = await runScript({
          PATH: `${platform.bin}:${process.env.PATH ?? ""}`,
          STATE: platform.state,
          SETUP_ROOT: join(root, "disk"),
          BOOTER_URL: base,
          BOOTER_PEERS: "",
          SETUP_TOKEN: token,
          ...env,
        });
        const calls = (await readFile(join(platform.state, "calls"), "utf8")).trim().split("\n");
        return { code, err, calls };
      },
      state: (name) => readFile(join(platform.state, name), "utf8").then((text) => text.trim(), () => null),
      put: (name, text = "") => writeFile(join(platform.state, name), text),
      forget: (name) => rm(join(platform.state, name)),
      disk: (path) => readFile(join(root, "disk", path), "utf8"),
      created: async () => (await made.state("created"))?.split("\n").length ?? 0,
    };
    machines.set(token, made);
    const platform = await installTools(root, STAMP);
    await mkdir(join(root, "disk"));
    return made;
  }

  return {
    base,
    machine,
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await folder.remove();
    },
  };
}

/**
 * Returns the first call of every kind. The first two words of a call are its kind. `at` is the call's position in the
 * list, counted from 1.
 */
export function kindsOfCalls(calls: readonly string[]): { readonly call: string; readonly at: number }[] {
  const kinds = new Set<string>();
  return calls.flatMap((call, index) => {
    const kind = call.split(" ").slice(0, 2).join(" ");
    if (kinds.has(kind)) return [];
    kinds.add(kind);
    return [{ call, at: index + 1 }];
  });
}

/**
 * Runs the script on a new machine and makes one call fail. If the run fails, runs the script again. Returns a
 * violation, or null.
 */
export async function failedOnce(
  fixture: ScratchMachineFixture,
  { call, at }: { call: string; at: number },
): Promise<string | null> {
  const machine = await fixture.machine();
  await machine.put("fail_at", String(at));
  const first = await machine.start();
  await machine.forget("fail_at");
  if (!first.err.includes("made to fail") && first.code !== 113) return `${call}: something else failed: ${first.err}`;
  // For the script, the failure of some queries means that their object does not exist. Then the script continues and
  // succeeds, with exit code 113.
  if (first.code !== 113) {
    const last = machine.reports.at(-1);
    if (last?.kind !== "failed") return `${call}: the failure was not reported`;
    const { code } = await machine.start();
    if (code !== 113) return `${call}: the next run ended with ${code}`;
  }
  const unknown = await machine.state("unknown");
  if (unknown !== null) return `${call}: an argument that the tools do not accept: ${unknown}`;
  const created = await machine.created();
  return created === 1 ? null : `${call}: the pool was created ${created} times`;
}

/** Runs the setup script. */
export async function runScript(env: Readonly<Record<string, string>>): Promise<{ code: number; err: string }> {
  const child = spawn(present("bash"), ["-s"], { env, stdio: ["pipe", "ignore", "pipe"] });
  let err = "";
  child.stderr.on("data", (part) => err += part);
  child.stdin.end(SETUP_SCRIPT);
  const code = await new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? -1)));
  return { code, err };
}

/** Creates a compressed archive of one folder below `root`. */
export async function archive(
  root: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<Uint8Array> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, name, path, ".."), { recursive: true });
    await writeFile(join(root, name, path), text);
  }
  const file = join(root, "made.tgz");
  await run(present("tar"), ["-czf", file, "-C", root, name]);
  return await readFile(file);
}

function standardValues(base: string, archives: { platform: Uint8Array; boot: Uint8Array }): Map<string, string> {
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  return new Map(Object.entries({
    server_uuid: UUID,
    hostname: "node-7",
    api_key: KEY,
    console_ticket_key_hex: "aa",
    imds_token_key_hex: "bb",
    migrate_ticket_key_hex: "cc",
    root_shadow: HASH,
    layout: "mirror",
    cache: "true",
    platform_stamp: STAMP,
    platform_image_sha256: sha256(archives.platform),
    boot_image_stamp: STAMP,
    boot_image_sha256: sha256(archives.boot),
    install_sh_url: `${base}/install.sh`,
    agent_endpoint: "https://berth.example",
    console: "text",
    root_authorized_key: "ssh-ed25519 AAAA operator's key $(reboot) `reboot`",
  }));
}
