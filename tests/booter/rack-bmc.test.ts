// Tests the BMC of `task rack` with the commands of `booter redfish`. The machine of the BMC is a shell that waits.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBmc } from "../../booter/redfish/bmc.ts";
import { systemOf } from "../../booter/redfish/system.ts";
import { powerCycle, powerOff, setOnetimeBoot } from "../../booter/redfish/verbs.ts";
import type { BmcSettings } from "../../src/dev/rack/bmc.ts";
import { run } from "../release/tools.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const UUID = "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c01";
const SOON = { timeout: 30_000 };
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const pause = { sleep, limit_ms: SOON.timeout, step_ms: 50 };
let folder: TemporaryFolder;
let child: ChildProcess | undefined;
let port: number;

beforeEach(async () => {
  folder = await temporaryFolder("rack-bmc");
  port = await freePort();
});
afterEach(async () => {
  await endBmc();
  await folder.remove();
});

async function endBmc(): Promise<void> {
  const ending = child;
  child = undefined;
  if (ending === undefined) return;
  const ended = once(ending, "close");
  ending.kill("SIGTERM");
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

async function startBmc(): Promise<void> {
  const at = (name: string) => `${folder.path}/${name}`;
  await run(present("openssl"), [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=bmc", "-keyout", at("tls.key"), "-out", at("tls.pem")],
  ]);
  await writeFile(at("password"), "secret\n");
  const settings: BmcSettings = {
    ...{ address: "127.0.0.1", port, user: "admin", uuid: UUID, password_file: at("password") },
    ...{ key_file: at("tls.key"), certificate_file: at("tls.pem") },
    // The shell writes a line at each start.
    qemu: ["sh", "-c", `echo $$ >> ${at("starts")}; exec sleep 600`],
  };
  await writeFile(at("bmc.json"), JSON.stringify(settings));
  const argv = ["run", "-A", "--quiet", "src/dev/rack/bmc.ts", at("bmc.json")];
  child = spawn(process.execPath, argv, { stdio: ["ignore", "inherit", "ignore"] });
  await expect.poll(() => login("secret").then((bmc) => bmc.close().then(() => true), () => false), SOON).toBe(true);
}

const login = (password: string) =>
  openBmc({
    ...{ host: `127.0.0.1:${port}`, user: "admin", password, accept_invalid_certs: true },
    ...{ signal: new AbortController().signal, sleep },
  });

const starts = async () => (await readFile(`${folder.path}/starts`, "utf8").catch(() => "")).trim().split("\n");

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

test("the BMC of the rack switches the machine on, restarts it, and cuts its power", async (context) => {
  needs(context, "openssl");
  await startBmc();
  await expect(login("wrong")).rejects.toThrow("refused the user name or the password");
  const bmc = await login("secret");
  const system = () => systemOf(bmc, UUID);
  expect(await setOnetimeBoot(bmc, await system(), { target: "pxe", pause })).toContain("boots from Pxe, once");
  await expect(setOnetimeBoot(bmc, await system(), { target: "uefi-http", pause })).rejects.toThrow("try --target pxe");
  expect(await powerCycle(bmc, await system(), pause)).toBe("the machine was off and is now on");
  await expect.poll(async () => (await starts()).filter((line) => line !== "").length, SOON).toBe(1);
  const [first = ""] = await starts();
  expect(isAlive(first)).toBe(true);
  expect(await powerCycle(bmc, await system(), pause)).toContain("ForceRestart");
  await expect.poll(async () => (await starts()).length, SOON).toBe(2);
  expect(isAlive(first)).toBe(false);
  const second = (await starts())[1] ?? "";
  expect(await powerOff(bmc, await system(), pause)).toBe("the machine is off");
  expect(isAlive(second)).toBe(false);
  expect((await system()).body.PowerState).toBe("Off");
  await bmc.close();
});

test("the machine ends when its BMC ends", async (context) => {
  needs(context, "openssl");
  await startBmc();
  const bmc = await login("secret");
  await powerCycle(bmc, await systemOf(bmc, null), pause);
  await expect.poll(async () => (await starts())[0], SOON).not.toBe("");
  const [pid = ""] = await starts();
  await endBmc();
  expect(isAlive(pid)).toBe(false);
});
