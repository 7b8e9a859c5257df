// Tests `opsctl cn exec` with a fake ssh.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { scriptCommand } from "../../cli/opsctl/cn/exec/ssh-argv.ts";
import { lines } from "../../cli/opsctl/cn/exec/output-lines.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { LOGGED_IN } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { node, NODE_ID } from "./records.ts";

const OTHER_ID = "4f2a9c1e-0000-4000-8000-00000000c0de";
const READY = { state: "approved", admin_ip: "10.0.0.1" } as const;

/** Runs `cn exec` with an ssh that records its arguments. */
async function exec(argv: readonly string[], nodes: readonly CnView[] = [node(READY)]) {
  const folder = mkdtempSync(join(tmpdir(), "berth-ssh-"));
  writeFileSync(join(folder, "ssh"), `#!/bin/sh\nfor word in "$@"; do echo "$word"; done >> ${folder}/words\n`);
  chmodSync(join(folder, "ssh"), 0o755);
  const ran = await opsctl(["cn", "exec", ...argv], {
    env: { ...LOGGED_IN, PATH: `${folder}:${process.env.PATH}` },
    server: ({ query }) => ({
      body: { items: nodes.filter(({ state }) => query.state === undefined || query.state === state) },
    }),
  });
  const sshArguments = () => readFileSync(join(folder, "words"), "utf8").trimEnd().split("\n");
  return { ...ran, sshArguments };
}

test("ssh asks no questions, shares no connection, and gets the command as one argument after --", async () => {
  const { sshArguments, code } = await exec(["--", "uptime; date"]);
  expect(code).toBe(0);
  expect(sshArguments()).toEqual([
    "-T",
    ...["BatchMode=yes", "ControlMaster=no", "ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3"]
      .flatMap((option) => ["-o", option]),
    ...["-l", "root", "--", "10.0.0.1", "uptime; date"],
  ]);
});

test("--ssh-option overrides ConnectTimeout and the keepalive options, but not BatchMode and ControlMaster", async () => {
  const { sshArguments } = await exec([
    "--ssh-option",
    "Port=22",
    "--ssh-option",
    "ConnectTimeout=1",
    "--user",
    "ops",
    "true",
  ]);
  const options = sshArguments().filter((word) => word.includes("="));
  expect(options.slice(0, 5)).toEqual([
    "BatchMode=yes",
    "ControlMaster=no",
    "Port=22",
    "ConnectTimeout=1",
    "ConnectTimeout=10",
  ]);
  expect(sshArguments()).toContain("ops");
});

test("the command runs once on each approved node, or with --nodes once on each named node", async () => {
  const nodes = [
    node(READY),
    node({ ...READY, server_uuid: OTHER_ID, admin_ip: "10.0.0.2", hostname: "other", state: "disabled" }),
  ];
  expect((await exec(["true"], nodes)).sshArguments().filter((word) => word.startsWith("10."))).toEqual(["10.0.0.1"]);
  const named = await exec(["--nodes", "rack1-n4,other", "--nodes", "4f2a", "true"], nodes);
  expect(named.sshArguments().filter((word) => word.startsWith("10.")).sort()).toEqual(["10.0.0.1", "10.0.0.2"]);
});

test("an admin_ip that ssh would read as an option counts as missing", async () => {
  const ran = await exec(["true"], [node({ ...READY, admin_ip: "-oProxyCommand=reboot" })]);
  expect([ran.code, ran.err()]).toEqual([1, "error: failed on 1 of 1 nodes:\n  rack1-n4: it has no admin_ip\n"]);
  expect(ran.sshArguments).toThrow();
});

test("two nodes with the same hostname are shown with their UUIDs", async () => {
  const nodes = [node({ state: "approved" }), node({ state: "approved", server_uuid: OTHER_ID })];
  const ran = await exec(["true"], nodes);
  expect(ran.err()).toContain("rack1-n4/3f2a9c1e: ");
  expect(ran.err()).toContain("rack1-n4/4f2a9c1e: ");
});

test.each([[["cn", "exec"]], [["cn", "exec", "--nodes", ",", "true"]]])("%j is a usage error", async (argv) => {
  expect((await opsctl(argv)).code).toBe(2);
});

test("the command exits 3 if no node is approved", async () => {
  expect((await exec(["true"], [])).code).toBe(3);
});

test("if ssh is not installed, the error says that ssh cannot start", async () => {
  const ran = await opsctl(["cn", "exec", "--nodes", NODE_ID, "true"], {
    env: { ...LOGGED_IN, PATH: mkdtempSync(join(tmpdir(), "berth-empty-")) },
    server: () => ({ body: { items: [node(READY)] } }),
  });
  expect([ran.code, ran.err()]).toEqual([1, expect.stringContaining("cannot start ssh")]);
});

test("a missing script is an error before anything runs on a node", async () => {
  const ran = await exec(["--script", "/nonexistent/script"]);
  expect([ran.code, ran.asked.length]).toEqual([1, 0]);
  expect(ran.err()).toContain("cannot read /nonexistent/script");
});

test("output that arrives in pieces is split into lines, even if a piece ends within a character", () => {
  const seen: string[] = [];
  const taker = lines((line) => seen.push(line));
  const bytes = new TextEncoder().encode("ä\r\nsecond\n\nlast");
  for (const byte of bytes) taker.take(Uint8Array.of(byte));
  taker.end();
  expect(seen).toEqual(["ä", "second", "", "last"]);
});

test("a line that does not end is printed in parts of 65,536 characters", () => {
  const seen: string[] = [];
  lines((line) => seen.push(line)).take(new TextEncoder().encode("x".repeat(200_000)));
  expect(seen.map((line) => line.length)).toEqual([65_536, 65_536, 65_536]);
});

test("a script that arrives incomplete on the node is deleted and not run", () => {
  const remote = scriptCommand(20, []);
  const ran = spawnSync("sh", ["-c", remote], { input: "echo ran\n", encoding: "utf8" });
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([125, "", "the script arrived incomplete\n"]);
  const whole = spawnSync("sh", ["-c", scriptCommand(9, [])], { input: "echo ran\n", encoding: "utf8" });
  expect([whole.status, whole.stdout]).toEqual([0, "ran\n"]);
});
