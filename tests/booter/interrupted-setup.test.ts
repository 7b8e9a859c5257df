// Two booter processes. The one that began a setup is killed, and the machine then starts from the other booter. The
// control plane must end the interrupted run, and the other booter must set the machine up.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ack, type AmqpClient, login, openClient } from "../../cli/internal/amqp/client.ts";
import { SETUP_INTERRUPTED } from "../../actors/cn/announce.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac, sysinfoOf } from "../setup/machine.ts";
import { actAsAgent } from "./amqp-agent.ts";
import type { BooterProcess } from "./booter-process.ts";
import { openProcessSite, type ProcessSite } from "./process-site.ts";
import { discover, dotted, httpAsk, loginIn, openRelay, scriptPath } from "./site.ts";

const WAIT = { timeout: 60_000, interval: 50 };
let site: ProcessSite;
let second: BooterProcess;
/** Called before the answer to the next bundle is sent. */
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

type Bare = { readonly mac: string; readonly server_uuid: string };

/** Starts the machine from a booter. Its agent reports the start and its inventory. */
async function start({ mac, server_uuid }: Bare, booter: BooterProcess) {
  const relay = await openRelay({ booter });
  const reply = await relay.ask(discover(mac));
  relay.close();
  const address = dotted(reply.yiaddr);
  const { text } = await httpAsk(booter.ports.http, scriptPath(reply), { from: address });
  const client: AmqpClient = await openClient(booter.ports.bus, address);
  await login(client, loginIn(text));
  await actAsAgent(client, { server_uuid, mac });
  const sysinfo = JSON.stringify({ ...sysinfoOf([mac]), UUID: server_uuid, Hostname: "bare-7" });
  client.publish(1, `ur.startup.${server_uuid}`, sysinfo);
  return {
    client,
    /** Answers requests for the inventory until the setup script arrives. Returns the script's token. */
    async script(): Promise<string> {
      for (;;) {
        const delivery = await client.delivery();
        ack(client, delivery);
        if (delivery.key.startsWith("ur.execute.")) return JSON.parse(delivery.body).env.SETUP_TOKEN;
        client.publish(1, `ur.sysinfo.${server_uuid}.a1`, sysinfo);
      }
    },
    report: (token: string, body: string) =>
      httpAsk(booter.ports.http, "/setup/report", {
        from: address,
        headers: { "x-setup-token": token },
        method: "POST",
        body,
      }),
  };
}

const shown = async ({ server_uuid }: Bare) => (await site.t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
const stateIs = (bare: Bare, state: string) => expect.poll(async () => (await shown(bare))?.state, WAIT).toBe(state);
const approve = async ({ server_uuid }: Bare) =>
  okOf(
    await site.t.call("POST", `/v1/cns/${server_uuid}/approve-setup`, {
      body: { disk_layout: "mirror", hostname: `node-${server_uuid.slice(0, 8)}` },
    }),
  );

test.each(["before the bundle's answer is sent", "when the script arrives", "after a report of the script"])(
  "if the first booter is killed %s, the machine's start from the second booter ends the run, and the second sets it up",
  async (moment) => {
    const bare = { mac: newMac(), server_uuid: randomUUID() };
    const before = await start(bare, site.booter());
    await stateIs(bare, "awaiting_setup");
    if (moment === "before the bundle's answer is sent") {
      const killed = new Promise<void>((resolve) => {
        next_bundle = async () => {
          await site.booter().kill();
          resolve();
        };
      });
      await approve(bare);
      // Rejects when the booter ends.
      void before.script().catch(() => {});
      await killed;
    } else {
      await approve(bare);
      const token = await before.script();
      if (moment === "after a report of the script") {
        expect((await before.report(token, "progress\tcreate_pool\t40\n")).status).toBe(200);
      }
      await site.booter().kill();
    }
    before.client.close();
    expect((await shown(bare)).state).toBe("setting_up");

    const after = await start(bare, second);
    try {
      await stateIs(bare, "awaiting_setup");
      expect((await shown(bare)).last_setup_error).toBe(SETUP_INTERRUPTED);
      await approve(bare);
      const token = await after.script();
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
