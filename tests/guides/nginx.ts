// Runs this machine's nginx with the nginx block of a guide. Only ports and paths are replaced in the block.
import { execFileSync, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { present } from "../support/optional-programs.ts";

export type Nginx = {
  /** Returns the number of answers from each port. */
  answered(): Promise<ReadonlyMap<number, number>>;
  /** Returns the log of nginx. */
  log(): Promise<string>;
  close(): Promise<void>;
};

const LISTEN_LIMIT_MS = 60_000;
const POLL_MS = 50;

/** Starts one process that writes only below the folder. Throws an Error if nginx rejects the block. */
export async function startNginx(folder: string, block: string): Promise<Nginx> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${folder}/nginx-${name};`);
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    ["daemon off; master_process off;", `pid ${folder}/nginx.pid; error_log ${folder}/nginx-errors.log;`]
      .concat("events {}", "http {", temporary, "  log_format upstream $upstream_addr;")
      .concat(`  access_log ${folder}/nginx-asked.log upstream;`, block, "}", "").join("\n"),
  );
  const program = present("nginx");
  const argv = ["-p", folder, "-c", file, "-e", join(folder, "nginx-errors.log")];
  execFileSync(program, ["-t", ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  const child = spawn(program, argv, { stdio: "ignore" });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const text = (name: string) => readFile(join(folder, name), "utf8").catch(() => "");
  for (const end = Date.now() + LISTEN_LIMIT_MS; (await text("nginx.pid")).trim() === "";) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(await text("nginx-errors.log"));
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  return {
    answered: async () => {
      const counts = new Map<number, number>();
      // A line of the log has several addresses if nginx tried several processes. The last address is the process that
      // answered.
      const ports = [...(await text("nginx-asked.log")).matchAll(/:(\d+)$/gm)].map(([, port]) => Number(port));
      for (const port of ports) counts.set(port, (counts.get(port) ?? 0) + 1);
      return counts;
    },
    log: () => text("nginx-errors.log"),
    close: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
