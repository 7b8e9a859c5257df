// Runs `cn exec` against a real sshd. A machine without sshd skips these tests.
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CnView } from "../../src/contract/cn.ts";
import { opsctl, type Ran } from "./opsctl.ts";
import { LOGGED_IN } from "./fake-environment.ts";
import { node } from "./records.ts";
import { SILENT_ADDRESS, SSH_ADDRESSES, type Sshd, startSshd, whyNoSshd } from "./sshd.ts";

const why_not = whyNoSshd();

let sshd: Sshd;
beforeAll(async () => {
  if (why_not === null) sshd = await startSshd();
});
afterAll(async () => await sshd?.stop());

const A = rackNode(1, SSH_ADDRESSES[0]);
const B = rackNode(2, SSH_ADDRESSES[1]);
const STRANGE = rackNode(3, SSH_ADDRESSES[2]);
const SILENT = rackNode(4, SILENT_ADDRESS);
const NOWHERE = rackNode(5, null);

function rackNode(number: number, admin_ip: string | null): CnView {
  const server_uuid = `aaaa000${number}-0000-4000-8000-000000000000`;
  return node({ server_uuid, hostname: `n${number}`, state: "approved", admin_ip });
}

function exec(nodes: readonly CnView[], argv: readonly string[], on_node: Record<string, string> = {}): Promise<Ran> {
  return opsctl(["cn", "exec", ...sshd.argv, ...argv], {
    env: { ...LOGGED_IN, PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", ...on_node },
    server: () => ({ body: { items: nodes } }),
  });
}

test.skipIf(why_not !== null)(
  "the command runs on every node, and each line of output has the node's name",
  async () => {
    const ran = await exec([A, B], ["--", "echo out; echo err >&2; echo \"$SSH_CONNECTION\" | cut -d' ' -f3"]);
    expect(ran.code).toBe(0);
    const lines = ran.out().trimEnd().split("\n").sort();
    expect(lines).toEqual(["n1: 127.0.0.1", "n1: out", "n2: 127.0.0.2", "n2: out"]);
    expect(ran.err().trimEnd().split("\n").sort()).toEqual(["n1: err", "n2: err"]);
  },
);

test.skipIf(why_not !== null)("if the command fails on one node, `cn exec` exits 1 and names the node", async () => {
  const on_second = 'case "$SSH_CONNECTION" in *127.0.0.2*) exit 7;; esac; echo fine';
  const ran = await exec([A, B], ["--", on_second]);
  expect(ran.code).toBe(1);
  expect(ran.out()).toBe("n1: fine\n");
  expect(ran.err()).toBe("error: failed on 1 of 2 nodes:\n  n2: exit 7\n");
});

test.skipIf(why_not !== null)(
  "unreachable nodes are reported, and the command still runs on the other nodes",
  async () => {
    const ran = await exec([A, SILENT, NOWHERE], ["--connect-timeout", "3", "true"]);
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("n4: ssh failed (exit 255)");
    expect(ran.err()).toContain("n5: it has no admin_ip");
    expect(ran.err()).toContain("failed on 2 of 3 nodes");
  },
);

test.skipIf(why_not !== null)("an unknown host key is rejected, and ssh asks no question", async () => {
  const ran = await exec([STRANGE], ["true"]);
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("n3: Host key verification failed.");
});

test.skipIf(why_not !== null)(
  "a script is copied, run with unchanged arguments, and deleted",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-script-"));
    const script = join(folder, "script");
    // The script is longer than the buffer of a pipe, and has characters that are special in a shell.
    writeFileSync(
      script,
      `#!/bin/sh\n# ${"x".repeat(200_000)} $(touch ${folder}/no)\nprintf '[%s]' "$@"; echo; echo "$0"; cat\n`,
    );
    const ran = await exec([A], ["--script", script, "--", "a b", "it's", "$HOME", "*", ""]);
    expect(ran.err()).toBe("");
    const [args, place] = ran.out().trimEnd().split("\n");
    expect(args).toBe("n1: [a b][it's][$HOME][*][]");
    expect(existsSync(place!.slice("n1: ".length))).toBe(false);
    expect(readdirSync(folder)).toEqual(["script"]);
  },
);

test.skipIf(why_not !== null)("the exit code of a script is reported", async () => {
  const script = join(mkdtempSync(join(tmpdir(), "berth-script-")), "fails");
  writeFileSync(script, "exit 42\n");
  expect((await exec([A], ["--script", script])).err()).toContain("n1: exit 42");
});

test.skipIf(why_not !== null)(
  "if the command exceeds the time limit, the error says that the command is still running on the node",
  async () => {
    const ran = await exec([A], ["--timeout", "1", "--", "sleep 30"]);
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("n1: still running after 1 s; the connection was closed");
  },
);

test.skipIf(why_not !== null)("--json prints the result of each node, and exits 1 if a node failed", async () => {
  const ran = await exec([A, NOWHERE], ["--json", "--", "printf 'two\\nlines'"]);
  expect(ran.code).toBe(1);
  const { items } = JSON.parse(ran.out());
  expect(items).toEqual([
    {
      server_uuid: A.server_uuid,
      node: "n1",
      admin_ip: "127.0.0.1",
      exit_code: 0,
      error: null,
      stdout: "two\nlines\n",
      stderr: "",
      truncated: false,
    },
    expect.objectContaining({ node: "n5", exit_code: null, error: "it has no admin_ip" }),
  ]);
});

test.skipIf(why_not !== null)("control bytes of a node's output do not reach the terminal", async () => {
  const ran = await exec([A], ["--", "printf 'a\\033[31mb\\tc\\n'"]);
  expect(ran.out()).toBe("n1: a\\x1b[31mb\tc\n");
});
