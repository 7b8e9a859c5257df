// Kills the booter's process while it delivers a setup to a machine: at every moment the machine gets its script
// exactly once, and its setup completes.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loopbackConfig } from "../../src/dev/booter-config.ts";
import { ack, type AmqpClient, login, openClient } from "../../src/dev/amqp-client.ts";
import { okOf, openTestPlane, type TestPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { newMac, putPolicy, sysinfoOf } from "../setup/machine.ts";
import { type ApiSocket, type BooterProcess, servePlane, startBooter } from "./booter-process.ts";
import { beAgent } from "./amqp-agent.ts";
import { textOf } from "./packets.ts";
import { ADMIN_NETWORK, discover, dotted, httpAsk, openRelay, SETUP_BLOCK, stageFiles, STAMP } from "./site.ts";

const WAIT = { timeout: 120_000, interval: 100 };
let folder: TemporaryFolder;
let t: TestPlane;
let socket: ApiSocket;
let booter: BooterProcess;
let config = "";
/** Kills the booter at the next call for a bundle: before the call runs, or before its answer is sent. */
let strike: { readonly moment: "asked" | "answered"; readonly kill: () => Promise<void> } | null = null;

beforeAll(async () => {
  folder = await temporaryFolder("amqp-kill");
  await stageFiles(folder.path);
  t = await openTestPlane();
  okOf(await putPolicy(t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK }));
  socket = await servePlane(t, "127.0.0.1", async (call, moment) => {
    if (strike === null || !call.endsWith("/bundle") || strike.moment !== moment) return;
    const { kill } = strike;
    strike = null;
    await kill();
  });
  const { secret } = await t.mintKey("booter");
  await writeFile(join(folder.path, "key"), `${secret}\n`, { mode: 0o600 });
  config = join(folder.path, "booter.toml");
  await writeFile(config, loopbackConfig(folder.path, { plane_url: socket.url, more: SETUP_BLOCK }));
  booter = await startBooter({ config });
});
afterAll(async () => {
  await booter.kill();
  await socket.close();
  await t.close();
  await folder.remove();
});

/** A machine whose agent reconnects whenever its connection ends. */
async function machine() {
  const mac = newMac();
  const server_uuid = randomUUID();
  const relay = await openRelay({ booter });
  const reply = await relay.ask(discover(mac));
  relay.close();
  const address = dotted(reply.yiaddr);
  const path = new URL(textOf(reply.options.get(67)).replace("\0", "")).pathname;
  const { text } = await httpAsk(booter.ports.http, path, { from: address });
  const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(text) ?? [];
  const sysinfo = JSON.stringify({ ...sysinfoOf([mac]), UUID: server_uuid, Hostname: "bare-7" });
  const scripts: string[] = [];
  let over = false;
  let client: AmqpClient | null = null;
  const live = async () => {
    while (!over) {
      try {
        client = await openClient(booter.ports.bus, address);
        await login(client, { user, password });
        await beAgent(client, { server_uuid, mac });
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
    state: async () => (await t.call("GET", `/v1/system/cns/${server_uuid}`)).body?.state,
    /** Reports the end of the run of a script. False while the booter does not accept it. */
    async completes(script: string): Promise<boolean> {
      const headers = { "x-setup-token": JSON.parse(script).env.SETUP_TOKEN };
      const body = "complete\tcomplete\t100\n";
      return await httpAsk(booter.ports.http, "/setup/report", { from: address, headers, method: "POST", body })
        .then(({ status }) => status < 300, () => false);
    },
    async off() {
      over = true;
      client?.close();
      await living;
    },
  };
}

async function restart(): Promise<void> {
  booter = await startBooter({ config });
}

const MOMENTS = [
  "before the bundle is fetched",
  "before the bundle's answer is sent",
  "when the script arrives",
] as const;
const ROUNDS = 3;

test.each(MOMENTS.flatMap((moment) => Array.from({ length: ROUNDS }, (_, round) => [moment, round + 1] as const)))(
  "killed %s, round %i: the script arrives once, and the setup completes",
  async (moment) => {
    const bare = await machine();
    try {
      await expect.poll(bare.state, WAIT).toBe("awaiting_setup");
      const struck = new Promise<void>((resolve) => {
        if (moment === "when the script arrives") return resolve();
        strike = {
          moment: moment === "before the bundle is fetched" ? "asked" : "answered",
          kill: async () => {
            await booter.kill();
            resolve();
          },
        };
      });
      const body = { disk_layout: "mirror", hostname: `node-${bare.server_uuid.slice(0, 8)}` };
      okOf(await t.call("POST", `/v1/cns/${bare.server_uuid}/approve-setup`, { body }));
      await struck;
      if (moment === "when the script arrives") {
        await expect.poll(() => bare.scripts.length, { timeout: 120_000, interval: 5 }).toBe(1);
        await booter.kill();
      } else {
        expect(bare.scripts).toEqual([]);
      }
      await restart();
      await expect.poll(() => bare.scripts.length, WAIT).toBe(1);
      // The machine has logged in again, so the booter could have sent the script a second time.
      await booter.line(new RegExp(`bus\\.login address=\\S+ mac=`));
      await expect.poll(() => bare.completes(bare.scripts[0]!), WAIT).toBe(true);
      await expect.poll(bare.state, WAIT).toBe("approved");
      expect(bare.scripts).toHaveLength(1);
    } finally {
      await bare.off();
    }
  },
);
