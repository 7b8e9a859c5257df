// Kills the booter's process at different moments while it delivers a setup to a machine. After each kill the setup
// must complete, and the booter must accept reports only from the newest script that the machine got.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ack, type AmqpClient, login, openClient } from "../../cli/internal/amqp/client.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac, sysinfoOf } from "../setup/machine.ts";
import { actAsAgent } from "./amqp-agent.ts";
import { openProcessSite, type ProcessSite } from "./process-site.ts";
import { discover, dotted, httpAsk, loginIn, openRelay, scriptPath } from "./site.ts";

const WAIT = { timeout: 120_000, interval: 100 };
let site: ProcessSite;
/**
 * Kills the booter when it next asks for a bundle. `asked`: before the control plane handles the call. `answered`:
 * before the control plane sends the answer.
 */
let next_kill: { readonly moment: "asked" | "answered"; readonly kill: () => Promise<void> } | null = null;

beforeAll(async () => {
  site = await openProcessSite({
    watch: async (call, moment) => {
      if (next_kill === null || !call.endsWith("/bundle") || next_kill.moment !== moment) return;
      const { kill } = next_kill;
      next_kill = null;
      await kill();
    },
  });
});
afterAll(() => site.close());

/** Starts a machine. Its agent connects again each time that its connection ends. */
async function machine() {
  const mac = newMac();
  const server_uuid = randomUUID();
  const relay = await openRelay({ booter: site.booter() });
  const reply = await relay.ask(discover(mac));
  relay.close();
  const address = dotted(reply.yiaddr);
  const script = await httpAsk(site.booter().ports.http, scriptPath(reply), { from: address });
  const amqp_login = loginIn(script.text);
  const sysinfo = JSON.stringify({ ...sysinfoOf([mac]), UUID: server_uuid, Hostname: "bare-7" });
  const scripts: string[] = [];
  let over = false;
  let client: AmqpClient | null = null;
  const live = async () => {
    while (!over) {
      try {
        client = await openClient(site.booter().ports.bus, address);
        await login(client, amqp_login);
        await actAsAgent(client, { server_uuid, mac });
        for (;;) {
          const delivery = await client.delivery();
          if (delivery.key.startsWith("ur.execute.")) scripts.push(delivery.body);
          ack(client, delivery);
          if (delivery.key.startsWith("ur.broadcast.")) client.publish(1, `ur.sysinfo.${server_uuid}.a1`, sysinfo);
        }
      } catch {
        client?.close();
        await new Promise((wake) => setTimeout(wake, 100));
      }
    }
  };
  const living = live();
  return {
    server_uuid,
    scripts,
    state: async () => (await site.t.call("GET", `/v1/system/cns/${server_uuid}`)).body?.state,
    /** Reports the end of a script's run. Returns false while the booter does not accept the report. */
    async completes(script: string): Promise<boolean> {
      const headers = { "x-setup-token": JSON.parse(script).env.SETUP_TOKEN };
      const body = "complete\tcomplete\t100\n";
      return await httpAsk(site.booter().ports.http, "/setup/report", { from: address, headers, method: "POST", body })
        .then(({ status }) => status < 300, () => false);
    },
    async off() {
      over = true;
      client?.close();
      await living;
    },
  };
}

const MOMENTS = [
  "before the bundle is fetched",
  "before the bundle's answer is sent",
  "when the script arrives",
] as const;
const ROUNDS = 3;

test.each(MOMENTS.flatMap((moment) => Array.from({ length: ROUNDS }, (_, round) => [moment, round + 1] as const)))(
  "if the booter is killed %s (round %i), the setup completes with the newest script",
  async (moment) => {
    const bare = await machine();
    try {
      await expect.poll(bare.state, WAIT).toBe("awaiting_setup");
      const killed = new Promise<void>((resolve) => {
        if (moment === "when the script arrives") return resolve();
        next_kill = {
          moment: moment === "before the bundle is fetched" ? "asked" : "answered",
          kill: async () => {
            await site.booter().kill();
            resolve();
          },
        };
      });
      const body = { disk_layout: "mirror", hostname: `node-${bare.server_uuid.slice(0, 8)}` };
      okOf(await site.t.call("POST", `/v1/cns/${bare.server_uuid}/approve-setup`, { body }));
      await killed;
      if (moment === "when the script arrives") {
        await expect.poll(() => bare.scripts.length, { timeout: 120_000, interval: 5 }).toBe(1);
        await site.booter().kill();
      } else {
        expect(bare.scripts).toEqual([]);
      }
      await site.restart();
      await expect.poll(() => bare.scripts.length, WAIT).toBeGreaterThan(0);
      // Waits until the machine has logged in again. If the booter was killed before it stored the machine's
      // acknowledgement, the restarted booter then sends the script again.
      await site.booter().line(new RegExp(`bus\\.login address=\\S+ mac=`));
      await expect.poll(() => bare.completes(bare.scripts.at(-1)!), WAIT).toBe(true);
      await expect.poll(bare.state, WAIT).toBe("approved");
      expect(bare.scripts.length).toBeLessThan(moment === "when the script arrives" ? 3 : 2);
      for (const older of bare.scripts.slice(0, -1)) expect(await bare.completes(older)).toBe(false);
    } finally {
      await bare.off();
    }
  },
);
