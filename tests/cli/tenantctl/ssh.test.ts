// Runs `tenantctl ssh` against a real sshd. A machine without sshd skips the tests.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sshd, startSshd, whyNoSshd } from "../sshd.ts";
import { INSTANCE, PRIMARY_NIC } from "./records.ts";
import { serving, tenantctl, TOKEN_ENV } from "./run.ts";

const why_not = whyNoSshd();
let sshd: Sshd;
beforeAll(async () => {
  if (why_not === null) sshd = await startSshd();
});
afterAll(async () => await sshd?.stop());

const env = { ...TOKEN_ENV, PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/" };
const at = (nic: object, words: readonly string[]) =>
  tenantctl(["ssh", INSTANCE.id, ...words], {
    env,
    server: serving({ "GET /v1/nics": { items: [{ ...PRIMARY_NIC, ...nic }] } }),
  });

test.skipIf(why_not !== null)("`ssh` runs a command at the floating IP of an instance", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "berth-ssh-")), "address");
  const command = `echo "$SSH_CONNECTION" | cut -d' ' -f3 > ${file}`;
  const ran = await at({ primary_ipv4: "127.0.0.1", floating_ips: ["127.0.0.2"] }, [...sshd.argv, "--", command]);
  expect([ran.code, ran.err()]).toEqual([0, "Connecting to 127.0.0.2\n"]);
  expect(readFileSync(file, "utf8")).toBe("127.0.0.2\n");
  const failed = await at({ primary_ipv4: "127.0.0.1" }, [...sshd.argv, "--", "exit 7"]);
  expect(failed.code).toBe(1);
  expect(failed.err()).toContain("ssh ended with exit code 7");
});

test("`ssh` fails for an instance without an address", async () => {
  const ran = await at({ primary_ipv4: null }, []);
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("has no address");
});

test("even without a terminal, `ssh` prints the address that it tries, and limits the time for the connection", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-ssh-"));
  writeFileSync(join(folder, "ssh"), `#!/bin/sh\necho "$@" > ${folder}/words\n`, { mode: 0o755 });
  const ran = await tenantctl(["ssh", INSTANCE.id, "--ssh-option", "ConnectTimeout=3"], {
    env: { ...env, PATH: `${folder}:${env.PATH}` },
    server: serving({ "GET /v1/nics": { items: [{ ...PRIMARY_NIC, primary_ipv4: "10.9.9.9" }] } }),
    isTTY: false,
  });
  expect([ran.code, ran.err()]).toEqual([0, "Connecting to 10.9.9.9\n"]);
  expect(readFileSync(`${folder}/words`, "utf8")).toBe("-o ConnectTimeout=3 -o ConnectTimeout=10 -- 10.9.9.9\n");
});
