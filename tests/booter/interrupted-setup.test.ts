// Runs two booter processes. The booter that began a setup is killed, and the machine then starts from the other
// booter. The control plane must end the interrupted run, and the other booter must set the machine up.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SETUP_INTERRUPTED } from "../../actors/cn/announce.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac } from "../setup/machine.ts";
import type { BooterProcess } from "./booter-process.ts";
import { type Bare, startMachine } from "./process-machine.ts";
import { openProcessSite, type ProcessSite } from "./process-site.ts";

const WAIT = { timeout: 60_000, interval: 50 };
let site: ProcessSite;
let second: BooterProcess;
/** Called once, before the control plane sends the next bundle. */
let next_bundle: (() => Promise<void>) | null = null;

beforeAll(async () => {
  site = await openProcessSite({
    watch: async (call, moment) => {
      if (next_bundle === null || moment !== "answered" || !call.endsWith("/bundle")) return;
      const kill = next_bundle;
      next_bundle = null;
      await kill();
    },
  });
  second = await site.another();
}, 120_000);
afterAll(() => site.close());

const shown = async ({ server_uuid }: Bare) => (await site.t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
const stateIs = (bare: Bare, state: string) => expect.poll(async () => (await shown(bare))?.state, WAIT).toBe(state);
const approve = async ({ server_uuid }: Bare) =>
  okOf(
    await site.t.call("POST", `/v1/cns/${server_uuid}/approve-setup`, {
      body: { disk_layout: "mirror", hostname: `node-${server_uuid.slice(0, 8)}` },
    }),
  );

test.each(["before the bundle's answer is sent", "when the script arrives", "after a report of the script"])(
  "if the first booter is killed %s, a start from the second booter ends the run, and the second booter sets the machine up",
  async (moment) => {
    const bare = { mac: newMac(), server_uuid: randomUUID() };
    const before = await startMachine(bare, site.booter());
    await stateIs(bare, "awaiting_setup");
    if (moment === "before the bundle's answer is sent") {
      const killed = new Promise<void>((resolve) => {
        next_bundle = async () => {
          await site.booter().kill();
          resolve();
        };
      });
      await approve(bare);
      // The promise of `script` rejects when the booter ends.
      void before.script().catch(() => {});
      await killed;
    } else {
      await approve(bare);
      const { SETUP_TOKEN: token } = await before.script();
      if (moment === "after a report of the script") {
        expect((await before.report(token, "progress\tcreate_pool\t40\n")).status).toBe(200);
      }
      await site.booter().kill();
    }
    before.client.close();
    expect((await shown(bare)).state).toBe("setting_up");

    const after = await startMachine(bare, second);
    try {
      await stateIs(bare, "awaiting_setup");
      expect((await shown(bare)).last_setup_error).toBe(SETUP_INTERRUPTED);
      await approve(bare);
      const { SETUP_TOKEN: token } = await after.script();
      // The first booter returns with its stored run, which must not disturb the new run.
      await site.restart();
      expect((await after.report(token, "progress\tcreate_pool\t40\n")).status).toBe(200);
      expect((await after.report(token, "complete\tcomplete\t100\n")).status).toBe(200);
      await stateIs(bare, "approved");
    } finally {
      after.client.close();
    }
  },
  120_000,
);
