// Runs a booter for the dev environment: the real program on loopback, with a folder of files that it serves.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { loopbackConfig, setupBlock } from "./booter-config.ts";
import { ROOT } from "./environment.ts";

export type DevBooter = {
  readonly ports: { readonly dhcp: number; readonly tftp: number; readonly http: number; readonly bus: number };
  /** Returns the log lines so far. */
  lines(): readonly string[];
  /** Returns the first log line that matches, and waits for it if necessary. */
  line(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
};

export type DevBooterOptions = {
  readonly folder: string;
  readonly endpoint: string;
  /** A key of scope booter. */
  readonly key: string;
  /** The stamp of the only platform image. */
  readonly stamp: string;
  /** The content of the file that the booter serves as iPXE. */
  readonly program: Uint8Array;
};

const LINE_LIMIT_MS = 60_000;

export async function startDevBooter(options: DevBooterOptions): Promise<DevBooter> {
  const config = await prepare(options);
  const argv = ["run", "-A", "--quiet", join(ROOT, "booter/main.ts"), "serve", "--config", config];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "close");
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stderr }).on("line", (line) => {
    lines.push(line);
    for (const each of waiting) each();
  });

  function line(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(limit);
        waiting.delete(look);
        outcome();
      };
      const look = () => {
        const found = lines.find((each) => pattern.test(each));
        if (found !== undefined) settle(() => resolve(found));
      };
      const fail = () => settle(() => reject(new Error(`the booter did not log ${pattern}:\n${lines.join("\n")}`)));
      const limit = setTimeout(fail, LINE_LIMIT_MS);
      waiting.add(look);
      void ended.then(fail);
      look();
    });
  }

  const started = await line(/ booter\.started /);
  const port = (name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(started)?.[1]);
  return {
    ports: { dhcp: port("dhcp"), tftp: port("tftp"), http: port("http"), bus: port("bus") },
    lines: () => lines,
    line,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function prepare({ folder, endpoint, key, stamp, program }: DevBooterOptions): Promise<string> {
  const platform = `files/os/${stamp}/platform/i86pc`;
  const image = Buffer.from("an image");
  const sha256 = createHash("sha256").update(image).digest("hex");
  const more = setupBlock({ endpoint, stamp, platform_sha256: sha256, boot_sha256: sha256 });
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    ["files/undionly.kpxe", program],
    [`${platform}/kernel/amd64/unix`, "the kernel"],
    [`${platform}/amd64/boot_archive`, "the boot archive"],
    [`files/setup/platform-${stamp}.tgz`, image],
    [`files/setup/boot-${stamp}.tgz`, image],
    ["key", `${key}\n`],
    ["booter.toml", loopbackConfig(folder, { server_url: endpoint, more })],
  ];
  for (const [name, content] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content, { mode: 0o600 });
  }
  return join(folder, "booter.toml");
}
