// Runs every command of the README in order, in a dev environment with three nodes. It omits the two npx commands,
// because they run all tests and the demo.
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startVendor, type Vendor } from "../cli/image/vendor.ts";
import { buildExecutables } from "../processes/executables.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { ROOT, runBlocks, SESSION, type Step } from "./run.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
let server: ServerProcess;
let vendor: Vendor;
beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("readme");
  vendor = await startVendor();
  await symlink(join(ROOT, "dist"), join(folder.path, "dist"));
  const lab = { BERTH_LAB: "1", BERTH_LAB_NODES: "3", BERTH_DATA_DIR: folder.path };
  server = await startServer({ env: { ...LOOPBACK_ALLOWED, DATABASE_URL: database.url, ...lab } });
}, 300_000);
afterAll(async () => {
  await server?.stop();
  await vendor?.close();
  await database?.drop();
  await folder?.remove();
});

const readme = await readFile(join(ROOT, "README.md"), "utf8");

/** Returns the blocks of commands in the README, each with the number of its first line. */
function commandBlocks(): { line: number; lines: string[] }[] {
  const lines = readme.split("\n");
  const marks = lines.flatMap((line, at) => line.startsWith("```") ? [at] : []);
  expect(marks.length % 2).toBe(0);
  return marks.flatMap((at, index) => {
    const inside = lines.slice(at + 1, marks[index + 1]);
    return index % 2 === 0 && inside.some((line) => line.trim() !== "") ? [{ line: at + 1, lines: inside }] : [];
  });
}

test("every command of the README works, except the two npx commands", async (context) => {
  needs(context, ...SESSION, "curl");
  const blocks = commandBlocks();
  const whole = blocks.map(({ lines }) => lines.join("\n").replace(/\\\n */g, "")).join("\n");
  const commands = whole.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  // All lines that are not commands of the programs are listed here, so that the test fails for a new kind of line.
  const others = commands.filter((line) => !/^dist\/(?:opsctl|tenantctl) /.test(line));
  expect(others.map((line) => line.replace(/ {2,}#.*/, ""))).toEqual([
    "npx -y deno@2.9.6 task demo",
    "npx -y deno@2.9.6 task test",
    "xdg-open http://127.0.0.1:8080/docs",
  ]);
  const run = blocks.filter(({ lines }) => !lines.some((line) => line.startsWith("npx ")));
  const steps: Step[] = run.map(({ line, lines }) => ({
    line,
    place: `README.md:${line}`,
    shown: null,
    script: script(lines),
  }));
  const before = `
for each in 1 2 3; do until [ -s nodes/lab-node-$each/claim-code ]; do sleep 0.2; done; done
code="$(cat nodes/lab-node-1/claim-code)"
`;
  steps.push({ line: 0, place: "the drain", shown: null, script: DRAIN });
  await runBlocks(steps, {
    folder: folder.path,
    env: { OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY, TENANTCTL_ENDPOINT: server.url },
    before,
    instead: {
      "XXX-XXX": '"$code"',
      "https://images.example": vendor.base,
      "xdg-open http://127.0.0.1:8080/docs": `curl -fsS ${server.url}/docs -o docs.html`,
    },
  });
}, 300_000);

/**
 * After the README's commands, a reader can also drain a node. The drain moves the instance to another simulated node.
 */
const DRAIN = `
dist/opsctl cn approve --yes "$(cat nodes/lab-node-2/claim-code)"
until dist/opsctl cn doctor lab-node-2; do sleep 0.2; done
dist/tenantctl instance start web1
dist/opsctl cn drain lab-node-1`;

/**
 * Returns the commands, and adds the steps that the README describes in sentences: the tenant gets the key, and the
 * operator imports an image.
 */
function script(lines: readonly string[]): string {
  const tenant_key = `
export TENANTCTL_API_KEY="$(cat tenant.key)"`;
  const [, image = expect.fail("the README imports no image")] = /`(opsctl image import [^`]+)`/.exec(readme) ?? [];
  return lines.map((line) => {
    if (line.includes("api-key create --tenant")) return `${line.replace(/ #.*/, "")} > tenant.key${tenant_key}`;
    // The password comes from a pipe, because the session has no terminal.
    if (line.includes("user create")) {
      return `echo 'a password of alice' | ${line.replace(/ #.*/, "")} --password-stdin`;
    }
    if (line.includes("instance create")) {
      return `until dist/opsctl cn doctor lab-node-1; do sleep 0.2; done\ndist/${image}\n${line}`;
    }
    return line;
  }).join("\n");
}
