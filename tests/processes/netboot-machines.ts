// Simulates machines that netboot from a booter, which uses a control plane. Their addresses are in 127.20.0.0/16,
// which Linux treats as local.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { BootRecord } from "../../src/contract/boot.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { openPool } from "../../src/db/pool.ts";
import { ack, type AmqpClient, login, openClient } from "../../cli/internal/amqp/client.ts";
import { actAsAgent } from "../booter/amqp-agent.ts";
import { textOf } from "../booter/packets.ts";
import { discover, dotted, httpAsk, relayed } from "../booter/site.ts";
import { newMac, sysinfoOf } from "../setup/machine.ts";
import { type NetbootSite, PATIENCE } from "./netboot-site.ts";

const RESEND_MS = 1_000;
const RETRY_MS = 200;
/**
 * TAG is the service tag that GUID contains. GUID is the value of DHCP option 97: a type byte 0, then the machine's
 * UUID in the byte order of Dell's firmware.
 */
export const TAG = "D34623J";
export const GUID = Uint8Array.from([0, ...Buffer.from("44454c4c330010348036c4c04f32334a", "hex")]);

type Lease = { readonly address: string; readonly path: string };

/** A machine that has booted once, with the AMQP login that its kernel arguments contain. */
export type Bare = {
  readonly mac: string;
  readonly address: string;
  readonly server_uuid: string;
  readonly login: { readonly user: string; readonly password: string };
};

export type NetbootMachines = ReturnType<typeof machinesAt>;

/** Returns functions that act as machines at the site. */
export function machinesAt(site: NetbootSite) {
  const clients: AmqpClient[] = [];
  const recordOf = (mac: string) => site.ask<BootRecord>("GET", `/v2/cn-boot/${mac}`);
  const nodeOf = (server_uuid: string) => site.ask<CnView>("GET", `/v1/system/cns/${server_uuid}`);

  /**
   * Sends DISCOVER repeatedly until there is a reply, because the booter reads operators' changes only every few
   * seconds.
   */
  async function lease(mac: string, guid: Uint8Array | null = null): Promise<Lease> {
    const asked = discoverOf(mac, guid);
    const resend = setInterval(() => site.relay().send(relayed(asked)), RESEND_MS);
    const reply = await site.relay().ask(asked).finally(() => clearInterval(resend));
    const url = new URL(textOf(reply.options.get(67)).replace("\0", ""));
    return { address: dotted(reply.yiaddr), path: url.pathname };
  }

  /** Boots a machine once: gets a lease, and fetches the boot script from the URL in the reply. */
  async function script(mac: string, guid: Uint8Array | null = null): Promise<Lease & { readonly text: string }> {
    const leased = await lease(mac, guid);
    const { status, text } = await httpAsk(site.booter().ports.http, leased.path, { from: leased.address });
    if (status !== 200) throw new Error(`the script of ${mac}: ${status}\n${site.booter().text()}`);
    return { ...leased, text };
  }

  /** Connects a machine to the AMQP broker as the agent of the node with this UUID. */
  async function onBroker({ mac, address, login: argv }: Bare, server_uuid: string): Promise<AmqpClient> {
    const client = await openClient(site.booter().ports.bus, address);
    clients.push(client);
    await login(client, argv);
    await actAsAgent(client, { server_uuid, mac });
    return client;
  }

  /** Boots a new machine, which has no node yet. */
  async function bare(): Promise<Bare> {
    const mac = newMac();
    const { address, text } = await script(mac, GUID);
    const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(text) ?? [];
    return { mac, address, server_uuid: randomUUID(), login: { user, password } };
  }

  /**
   * Connects a machine and announces it with network ports that have these MAC addresses. Waits until its node awaits
   * setup.
   */
  async function announced(machine: Bare, macs: readonly string[] = [machine.mac]): Promise<AmqpClient> {
    const client = await onBroker(machine, machine.server_uuid);
    await inventoryAsked(client);
    tell(client, machine, macs);
    await expect.poll(() => nodeOf(machine.server_uuid).then(({ state }) => state, () => null), PATIENCE)
      .toBe("awaiting_setup");
    return client;
  }

  const approve = ({ server_uuid }: Bare, hostname: string) =>
    site.ask("POST", `/v1/cns/${server_uuid}/approve-setup`, { disk_layout: "mirror", hostname });

  /** Receives the setup script and reports that it completed. */
  async function completed(machine: Bare, client: AmqpClient): Promise<void> {
    const shipped = await client.delivery();
    ack(client, shipped);
    const token = JSON.parse(shipped.body).env.SETUP_TOKEN;
    const asked = { from: machine.address, method: "POST", headers: { "x-setup-token": token } };
    const { status } = await httpAsk(site.booter().ports.http, "/setup/report", {
      ...asked,
      body: "complete\tcomplete\t100\n",
    });
    expect(status).toBe(200);
    expect((await nodeOf(machine.server_uuid)).state).toBe("approved");
  }

  /** Returns the MAC addresses in the record of a node. */
  async function macsOf(server_uuid: string): Promise<readonly string[]> {
    const db = openPool({ url: site.database_url, connectionsMax: 1, applicationName: "test" });
    try {
      const { rows } = await db.query<{ macs: string[] }>("select macs from cn where server_uuid = $1", [server_uuid]);
      return rows[0]?.macs ?? [];
    } finally {
      await db.close();
    }
  }

  /**
   * Takes a new machine through boot, announcement, approval and setup, so that it becomes an approved node with this
   * hostname.
   */
  async function nodeNamed(hostname: string): Promise<Bare> {
    const machine = await bare();
    const client = await announced(machine);
    await approve(machine, hostname);
    await completed(machine, client);
    client.close();
    return machine;
  }

  return {
    recordOf,
    nodeOf,
    lease,
    script,
    bare,
    announced,
    approve,
    completed,
    nodeNamed,
    onBroker,
    macsOf,
    /** Closes the machines' connections to the AMQP broker. */
    disconnect: () => clients.forEach((each) => each.close()),
  };
}

/** Returns the parts of iPXE's DISCOVER. A GUID that is not null becomes option 97. */
export function discoverOf(mac: string, guid: Uint8Array | null) {
  const asked = discover(mac);
  return guid === null ? asked : { ...asked, options: [...asked.options, [97, guid] as const] };
}

/** Publishes the inventory of a machine whose network ports have these MAC addresses. */
export const tell = (client: AmqpClient, { server_uuid }: Pick<Bare, "server_uuid">, macs: readonly string[]) =>
  client.publish(
    1,
    `ur.sysinfo.${server_uuid}.a1`,
    JSON.stringify({ ...sysinfoOf(macs), "Serial Number": TAG, UUID: server_uuid, Hostname: "bare-7" }),
  );

/** Waits for the broker's request for the inventory, and acknowledges it. */
export async function inventoryAsked(client: AmqpClient): Promise<void> {
  const asked = await client.delivery();
  expect(asked.key).toMatch(/^ur\.broadcast\.sysinfo\./);
  ack(client, asked);
}

/**
 * Repeats `body` until it succeeds or PATIENCE has passed. The AMQP broker refuses a server UUID while an open
 * connection uses it. The broker may notice late that this connection has ended.
 */
export async function until<T>(body: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PATIENCE.timeout;;) {
    try {
      return await body();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((wake) => setTimeout(wake, RETRY_MS));
    }
  }
}
