// Runs opsctl as a process that cannot write its standard output, because the disk is full or the reader of the pipe
// has ended.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../cli/internal/exit-code.ts";

const OPSCTL = fileURLToPath(new URL("../../cli/opsctl/main.ts", import.meta.url));
const FULL_DISK = "/dev/full";

function opsctl(argv: readonly string[], { stdout = "pipe", env = {} }: {
  readonly stdout?: "pipe" | number;
  readonly env?: Readonly<Record<string, string>>;
} = {}) {
  const child = spawn(process.execPath, ["run", "-A", OPSCTL, ...argv], {
    stdio: ["ignore", stdout, "pipe"],
    env: { ...process.env, ...env },
  });
  let err = "";
  child.stderr!.on("data", (text) => void (err += text));
  return { child, ended: once(child, "close"), err: () => err };
}

test.skipIf(!existsSync(FULL_DISK))(
  "on a full disk, --version and --help print one error line and exit with 1",
  async () => {
    for (const argv of [["--version"], ["--help"]]) {
      const { child, ended, err } = opsctl(argv, { stdout: openSync(FULL_DISK, "w") });
      await ended;
      expect([child.exitCode, err()]).toEqual([
        EXIT.failure,
        expect.stringMatching(/^error: .*(no space).*\n$/i),
      ]);
    }
  },
);

test("a command with --watch ends with exit code 0 when the reader of its output has ended", async () => {
  let reads = 0;
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url!.startsWith("/v1/changes")) {
      return response.end(JSON.stringify({ cursor: String(reads), items: [] }));
    }
    reads += 1;
    // Each output differs from the previous output.
    response.end(JSON.stringify([{ id: randomUUID(), name: `silo-${reads}` }]));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const env = { OPSCTL_ENDPOINT: `http://127.0.0.1:${port}`, OPSCTL_API_KEY: "berth_test" };
  const { child, ended, err } = opsctl(["silo", "list", "-o", "name", "--watch"], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout!, "data");
  expect(String(line)).toContain("silo-1");
  child.stdout!.destroy();
  await ended;
  expect([child.exitCode, err()]).toEqual([EXIT.ok, ""]);
});
