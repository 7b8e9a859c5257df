// Runs two booter processes, one control plane, and the real setup script on a scratch root. The booter that sent the
// script is killed while the script runs, and the script must complete with the other booter. See docs/booting.md,
// "Two booters on one network".
import { createHash, randomUUID } from "node:crypto";
import { access, chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { setupBlock } from "../../src/dev/booter-config.ts";
import { okOf } from "../support/control-plane.ts";
import { lacking, needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { newMac } from "../setup/machine.ts";
import type { BooterProcess } from "./booter-process.ts";
import { installTools } from "./platform-tools.ts";
import { type Bare, type ScriptEnv, type StartedMachine, startMachine } from "./process-machine.ts";
import { openProcessSite, type ProcessSite } from "./process-site.ts";
import { archive, INSTALL_SH, NEEDED, runScript } from "./scratch-machine.ts";
import { httpAsk, STAMP } from "./site.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const why_not = lacking(...NEEDED);
let site: ProcessSite;
let second: BooterProcess;
let folder: TemporaryFolder;
let installer: Server;
/**
 * `next.run` runs once, when the control plane has handled a call whose path ends with `next.path` but has not sent the
 * answer yet.
 */
let next: { readonly path: string; readonly run: () => Promise<void> } | null = null;

beforeAll(async () => {
  if (why_not !== null) return;
  folder = await temporaryFolder("handover");
  const platform = await archive(join(folder.path, "platform"), `platform-${STAMP}`, { "i86pc/unix": "the kernel" });
  const boot = await archive(join(folder.path, "boot"), "boot", { pmbr: "p", gptzfsboot: "g", "defaults/x": "x" });
  installer = createServer((_req, res) => void res.end(INSTALL_SH));
  await new Promise<void>((resolve) => installer.listen(0, "127.0.0.1", resolve));
  site = await openProcessSite({
    peers: true,
    async setup(path) {
      await writeFile(join(path, "files/setup", `platform-${STAMP}.tgz`), platform);
      await writeFile(join(path, "files/setup", `boot-${STAMP}.tgz`), boot);
      return setupBlock({
        endpoint: `http://127.0.0.1:${(installer.address() as AddressInfo).port}`,
        stamp: STAMP,
        platform_sha256: sha256(platform),
        boot_sha256: sha256(boot),
      });
    },
    watch: async (call, moment) => {
      if (next === null || moment !== "answered" || !call.endsWith(next.path)) return;
      const { run } = next;
      next = null;
      await run();
    },
  });
  second = await site.another();
}, 120_000);
afterAll(async () => {
  await site?.close();
  await new Promise((resolve) => installer === undefined ? resolve(null) : installer.close(resolve));
  await folder?.remove();
});
beforeEach((context) => needs(context, ...NEEDED));

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const shown = async ({ server_uuid }: Bare) => (await site.t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
const stateIs = (bare: Bare, state: string) => expect.poll(async () => (await shown(bare))?.state, WAIT).toBe(state);
const eventsOf = async ({ server_uuid }: Bare) => {
  const { rows } = await site.t.db.query<{ event: string }>(
    "select event from transition where actor_id = $1 order by seq",
    [server_uuid],
  );
  return rows.map(({ event }) => event);
};

type Delivered = { readonly bare: Bare; readonly machine: StartedMachine; readonly env: ScriptEnv };

/** Boots a machine from the first booter and approves its setup. Waits for the script and returns its environment. */
async function delivered({ acknowledge = true } = {}): Promise<Delivered> {
  const bare = { mac: newMac(), server_uuid: randomUUID() };
  const machine = await startMachine(bare, site.booter());
  await stateIs(bare, "awaiting_setup");
  const body = { disk_layout: "mirror", hostname: `node-${bare.server_uuid.slice(0, 8)}` };
  okOf(await site.t.call("POST", `/v1/cns/${bare.server_uuid}/approve-setup`, { body }));
  return { bare, machine, env: await machine.script({ acknowledge }) };
}

/**
 * Runs the setup script on the machine. If `hold` names a tool, the script waits at its first call of this tool until
 * the test calls `release`. `held` resolves when the script waits.
 */
async function running({ machine, env, bare }: Delivered, hold?: string) {
  const root = join(folder.path, bare.server_uuid);
  const { bin, state } = await installTools(root, STAMP);
  await rm(join(bin, "sleep"));
  await mkdir(join(root, "disk"));
  // The booter accepts calls only from the machine's own address.
  const curl = `#!/bin/sh\nexec ${present("curl")} --interface ${machine.address} "$@"\n`;
  await writeFile(join(bin, "curl"), curl);
  await chmod(join(bin, "curl"), 0o755);
  if (hold !== undefined) await writeFile(join(state, "hold"), hold);
  const ended = runScript({
    ...env,
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    STATE: state,
    SETUP_ROOT: join(root, "disk"),
  });
  return {
    ended,
    held: () => expect.poll(() => access(join(state, "held")).then(() => true, () => false), WAIT).toBe(true),
    release: () => rm(join(state, "hold")),
  };
}

/** Starts the first booter again with its old state. Expects that no event of the node follows except an announce. */
async function firstReturns({ bare, machine, env }: Delivered) {
  const before = await eventsOf(bare);
  await site.restart();
  const client = await machine.connectAgain(site.booter());
  const reply = JSON.stringify({ exit_status: 113, stdout: "", stderr: "" });
  client.publish(1, `ur.execute-reply.${bare.server_uuid}.setup-${await epochOf(env)}`, reply);
  await expect.poll(() => site.booter().text(), WAIT).toMatch(/ (announce\.accepted|setup\.report_refused) /);
  client.close();
  expect((await eventsOf(bare)).slice(before.length).filter((event) => event !== "announce")).toEqual([]);
}

async function epochOf({ SETUP_TOKEN }: ScriptEnv): Promise<number> {
  const hash = sha256(new TextEncoder().encode(SETUP_TOKEN));
  return okOf(await site.t.call("GET", `/v2/booter/setup-scripts/${hash}`)).epoch;
}

test.each([
  ["before the values are fetched", null],
  ["after the values were fetched and before the first report", "prtconf"],
  ["between two reports", "disklayout"],
  ["after the pool was created", "installboot"],
])(
  "if the first booter is killed %s, the script completes with the second booter, and a restart of the first booter changes nothing",
  async (
    _name,
    hold,
  ) => {
    const run = await delivered();
    const { bare, machine, env } = run;
    expect(env.BOOTER_PEERS).toBe(`http://127.0.0.1:${second.ports.http}`);
    if (hold === null) {
      await site.booter().kill();
      machine.client.close();
      expect((await (await running(run)).ended).code).toBe(113);
    } else {
      const script = await running(run, hold);
      await script.held();
      await site.booter().kill();
      machine.client.close();
      await script.release();
      const { code, err } = await script.ended;
      expect([code, err.split("\n").filter((line) => /could not/.test(line))]).toEqual([113, []]);
    }
    expect(await shown(bare)).toMatchObject({ state: "approved", last_setup_error: null });
    const events = await eventsOf(bare);
    expect(events.filter((event) => event === "setup_completed")).toHaveLength(1);
    expect(events.filter((event) => event === "hand_over_bundle")).toHaveLength(hold === null ? 1 : 0);
    await firstReturns(run);
    expect((await shown(bare)).state).toBe("approved");
  },
  180_000,
);

test(
  "if the first booter is killed after it relayed the last report, the script still exits with 113",
  async () => {
    const run = await delivered();
    next = { path: "/setup-complete", run: () => site.booter().kill() };
    const { code } = await (await running(run)).ended;
    run.machine.client.close();
    expect(code).toBe(113);
    const events = await eventsOf(run.bare);
    expect(events.filter((event) => event === "setup_completed")).toHaveLength(1);
    await firstReturns(run);
  },
  180_000,
);

test.each([
  ["before the script's first report", "prtconf", "setup.not_sent", false],
  ["after a report of the script", "disklayout", "bundle.refused", false],
  ["after a report of a script that the machine had acknowledged", "disklayout", "announce.accepted", true],
])(
  "the first booter does not send the script again if it returns while the script runs with the second booter, %s",
  async (
    _when,
    hold,
    event,
    acknowledge,
  ) => {
    const run = await delivered({ acknowledge });
    const { bare, machine } = run;
    await site.booter().kill();
    machine.client.close();
    const script = await running(run, hold);
    await script.held();
    await site.restart();
    const client = await machine.connectAgain(site.booter());
    await site.booter().line(new RegExp(` ${event} server_uuid=${bare.server_uuid}`));
    await script.release();
    expect((await script.ended).code).toBe(113);
    expect((await shown(bare)).state).toBe("approved");
    const events = await eventsOf(bare);
    expect(events.filter((each) => /setup_delivered|take_bundle|hand_over_bundle/.test(each))).toEqual([
      "take_bundle",
      "setup_delivered",
      "hand_over_bundle",
    ]);
    client.close();
  },
  180_000,
);

test("the second booter refuses a wrong token, and the right token from another machine's address", async () => {
  const run = await delivered();
  const other = await startMachine({ mac: newMac(), server_uuid: randomUUID() }, site.booter());
  await site.booter().kill();
  for (const each of [run.machine, other]) each.client.close();
  const ask = (from: string, token: string, body?: string) =>
    httpAsk(second.ports.http, body === undefined ? "/setup/values" : "/setup/report", {
      from,
      headers: { "x-setup-token": token },
      ...(body === undefined ? {} : { method: "POST", body }),
    });
  const REPORT = "failed\tvalues\t0\nnot mine\n";
  const before = await eventsOf(run.bare);
  const wrong = "0".repeat(48);
  for (
    const [from, token] of [[run.machine.address, wrong], [other.address, run.env.SETUP_TOKEN], ["127.20.9.9", wrong], [
      "127.20.9.9",
      run.env.SETUP_TOKEN,
    ]] as const
  ) {
    const answers = [await ask(from, token), await ask(from, token, REPORT)];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([404, "not found\n"]));
  }
  expect(await eventsOf(run.bare)).toEqual(before);
  // These refusals do not affect the machine itself.
  await expect.poll(async () => (await ask(run.machine.address, run.env.SETUP_TOKEN)).status, WAIT).toBe(200);
  await site.restart();
}, 180_000);
