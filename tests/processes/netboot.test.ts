// Takes a machine from its first boot to an approved node, with the compiled booter and a server that has the
// permissions of `task start`. The tests cover real DHCP packets, the boot script, the AMQP broker, the end of the
// setup, and later actions of operators.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ack } from "../../cli/internal/amqp/client.ts";
import { httpAsk, relayed } from "../booter/site.ts";
import { type Sshd, startSshd, whyNoSshd } from "../cli/sshd.ts";
import { newMac, sysinfoOf } from "../setup/machine.ts";
import {
  discoverOf,
  GUID,
  inventoryAsked,
  machinesAt,
  type NetbootMachines,
  TAG,
  tell,
  until,
} from "./netboot-machines.ts";
import { type NetbootSite, openNetbootSite, PATIENCE } from "./netboot-site.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HASH = `$6$salt$${"h".repeat(85)}.`;
/** The reason why steps with ssh cannot run on this machine, or null if they can. */
const why_no_sshd = whyNoSshd();

let site: NetbootSite;
let machines: NetbootMachines;
beforeAll(async () => {
  site = await openNetbootSite(TAG);
  machines = machinesAt(site);
}, 300_000);
afterAll(async () => {
  machines?.disconnect();
  await site?.close();
});

describe("a policy of service tags", () => {
  test("admits a machine at its first packet if the GUID contains a listed tag, and no other machine", async () => {
    const [known, unknown] = [newMac(), newMac()];
    const other = Uint8Array.from(GUID);
    other[5] = 0x34;
    site.relay().send(relayed(discoverOf(unknown, other)));
    const { address } = await machines.lease(known, GUID);
    expect(await machines.recordOf(known)).toMatchObject({ state: "enrolling", address });
    await expect.poll(() => machines.recordOf(unknown).then(({ state }) => state, () => null), PATIENCE).toBe(
      "discovered",
    );
    expect(site.relay().replies.filter(({ yiaddr }) => yiaddr === 0)).toEqual([]);
  });

  test("admits the other ports of a machine after it has announced them", async () => {
    const machine = await machines.bare();
    const second = newMac();
    site.relay().send(relayed(discoverOf(second, null)));
    await expect.poll(() => machines.recordOf(second).then(({ state }) => state, () => null), PATIENCE).toBe(
      "discovered",
    );
    const client = await machines.announced(machine, [machine.mac, second]);
    await expect.poll(() => machines.recordOf(second).then(({ state }) => state), PATIENCE).toBe("enrolling");
    const { address } = await machines.recordOf(second);
    expect((await machines.lease(second)).address).toBe(address);
    client.close();
  });
});

test("a discovered machine in rescue mode gets an address and the rescue script", async () => {
  const mac = newMac();
  site.relay().send(relayed(discoverOf(mac, null)));
  await expect.poll(() => machines.recordOf(mac).then(({ state }) => state, () => null), PATIENCE).toBe("discovered");
  await site.opsctl("cn", "boot", "rescue", mac);
  const record = await machines.recordOf(mac);
  expect(record).toMatchObject({ state: "discovered", rescue: true, address: expect.stringMatching(/^127\.20\./) });
  const { address, text } = await machines.script(mac);
  expect(address).toBe(record.address);
  expect(text).toMatch(/,noimport=true \|\| goto failed$/m);
});

test("cn exec reaches a netbooted node at the address of its boot record", async (context) => {
  context.skip(why_no_sshd !== null, why_no_sshd ?? "");
  const machine = await machines.nodeNamed("reached");
  expect((await machines.nodeOf(machine.server_uuid)).admin_ip).toBe(machine.address);
  const sshd: Sshd = await startSshd({ addresses: [machine.address] });
  try {
    const out = await site.opsctl("cn", "exec", "--nodes", "reached", ...sshd.argv, "--", 'echo "$SSH_CONNECTION"');
    expect(out).toMatch(new RegExp(`^reached: \\S+ \\d+ ${machine.address.replaceAll(".", "\\.")} \\d+$`, "m"));
  } finally {
    await sshd.stop();
  }
});

describe("the root password of a node", () => {
  test("is in the node's boot scripts after it is set and until it is cleared, even while the control plane is down", async () => {
    const machine = await machines.nodeNamed("password");
    expect((await machines.script(machine.mac)).text).not.toContain("root_shadow");
    await site.opsctl("cn", "root-password", "password", "--hash", HASH);
    expect((await machines.script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);

    await site.server().kill();
    expect((await machines.script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);
    await site.startServerAgain();

    await site.opsctl("cn", "root-password", "password", "--clear");
    expect((await machines.script(machine.mac)).text).not.toContain("root_shadow");
    expect(site.booter().text()).not.toContain(HASH);
    expect(site.server().log()).not.toContain(HASH);
    expect((await httpAsk(site.booter().ports.metrics, "/metrics")).text).not.toContain("$6$");
    for (const entry of await readdir(site.at("state"), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      expect((await stat(path)).mode & 0o077, path).toBe(0);
    }
  });

  test("is in a file that no other user can read, and in the boot script after a restart of the booter", async () => {
    const machine = await machines.nodeNamed("kept");
    await site.opsctl("cn", "root-password", "kept", "--hash", HASH);
    await machines.script(machine.mac);
    await site.restartBooter("booter.toml");
    const kept = await readFile(site.at("state/records.json"), "utf8");
    expect((await stat(site.at("state/records.json"))).mode & 0o777).toBe(0o600);
    expect(kept).not.toContain("rabbitmq");
    expect((await machines.script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);
  });
});

describe("S-21, with the compiled booter: a request for a boot script", () => {
  test("gets 404 from another address, after its first use and with a guessed MAC, and is logged and counted", async () => {
    const [mac, other] = [newMac(), newMac()];
    const { address, path } = await machines.lease(mac, GUID);
    const elsewhere = (await machines.lease(other, GUID)).address;
    const guessed = path.replace(mac.replaceAll(":", ""), other.replaceAll(":", ""));
    const status = async (from: string, asked: string) =>
      (await httpAsk(site.booter().ports.http, asked, { from })).status;
    expect(await status(elsewhere, path)).toBe(404);
    expect(await status(elsewhere, guessed)).toBe(404);
    expect(await status(address, path)).toBe(200);
    expect(await status(address, path)).toBe(404);
    const { text } = await httpAsk(site.booter().ports.metrics, "/metrics");
    for (const reason of ["ticket_other_address", "ticket_forged", "ticket_used"]) {
      expect(text).toMatch(new RegExp(`^booter_http_refused_total\\{reason="${reason}"\\} [1-9]`, "m"));
      expect(site.booter().text()).toContain(` reason=${reason}`);
    }
  });
});

describe("a machine that uses another machine's server_uuid at the AMQP broker", () => {
  test("gets no setup bundle, even if its inventory has the ports of both machines, and does not block the other machine", async () => {
    const [victim, thief] = [await machines.bare(), await machines.bare()];
    const first = await machines.announced(victim);
    first.close();
    await site.booter().line(new RegExp(`announce\\.accepted server_uuid=${victim.server_uuid}`));
    await machines.approve(victim, "victim");
    const before = (await machines.nodeOf(victim.server_uuid)).bound_api_key_id;
    const theft = await until(() => machines.onBroker(thief, victim.server_uuid));
    await inventoryAsked(theft);
    tell(theft, victim, [victim.mac, thief.mac]);
    const outcome = new RegExp(
      `(announce\\.refused|setup\\.shipped) server_uuid=${victim.server_uuid} mac=${thief.mac}`,
    );
    expect(await site.booter().line(outcome)).toContain(" announce.refused ");
    // The thief's connection ends, so the identity is free again.
    await theft.ended();
    expect(await machines.nodeOf(victim.server_uuid)).toMatchObject({ state: "setting_up", bound_api_key_id: before });

    const client = await until(() => machines.onBroker(victim, victim.server_uuid));
    await inventoryAsked(client);
    tell(client, victim, [victim.mac]);
    await machines.completed(victim, client);
    expect(await machines.nodeOf(victim.server_uuid)).toMatchObject({ state: "approved", admin_ip: victim.address });
  });

  test("cannot add its port to the other machine's ports before the approval", async () => {
    const [victim, thief] = [await machines.bare(), await machines.bare()];
    (await machines.announced(victim)).close();
    const theft = await until(() => machines.onBroker(thief, victim.server_uuid));
    await inventoryAsked(theft);
    tell(theft, victim, [thief.mac, victim.mac]);
    await theft.ended();
    expect((await machines.nodeOf(victim.server_uuid)).conflict).toMatchObject({ macs: [thief.mac, victim.mac] });
    expect(await machines.macsOf(victim.server_uuid)).toEqual([victim.mac]);
  });

  test("cannot end the other machine's setup, neither with a reply nor with a start message", async () => {
    const [victim, thief] = [await machines.bare(), await machines.bare()];
    const client = await machines.announced(victim);
    await machines.approve(victim, "undisturbed");
    const shipped = await client.delivery();
    const epoch = shipped.key.split("-").at(-1);
    ack(client, shipped);
    client.close();
    const theft = await until(() => machines.onBroker(thief, victim.server_uuid));
    theft.publish(1, `ur.execute-reply.${victim.server_uuid}.setup-${epoch}`, '{"exit_status":1}');
    theft.publish(
      1,
      `ur.startup.${victim.server_uuid}`,
      JSON.stringify({ ...sysinfoOf([victim.mac, thief.mac]), UUID: victim.server_uuid }),
    );
    await theft.ended();
    expect((await machines.nodeOf(victim.server_uuid)).state).toBe("setting_up");
    const token = JSON.parse(shipped.body).env.SETUP_TOKEN;
    const asked = { from: victim.address, method: "POST", headers: { "x-setup-token": token } };
    const report = { ...asked, body: "complete\tcomplete\t100\n" };
    expect((await httpAsk(site.booter().ports.http, "/setup/report", report)).status).toBe(200);
    expect((await machines.nodeOf(victim.server_uuid)).state).toBe("approved");
  });
});

describe("the packaged booter.toml", () => {
  /** Applies an operator's edits to the text: folders, key, address, and free ports. */
  const edited = (text: string) => {
    const own = text
      .replace("/var/lib/berth-booter", site.at("packaged"))
      .replace("/srv/berth-booter", site.at("files"))
      .replace("https://berth.example", site.server().url)
      .replace("/etc/berth/booter.key", site.at("key"))
      .replace('address = "10.77.0.1"\nprefix_len = 24', 'address = "127.0.0.1"\nprefix_len = 8')
      .replace('relay_reply = "giaddr"', 'relay_reply = "source"\nlisten = "127.0.0.1"\nport = 0')
      .replace("port = 5672", "port = 0");
    return `${own}\n[tftp]\nport = 0\n[http]\nport = 0\n[metrics]\nport = 0\n`;
  };

  async function startedWith(text: string): Promise<void> {
    await writeFile(site.at("packaged.toml"), text);
    await site.restartBooter("packaged.toml");
  }

  test("starts no AMQP broker by default; with the [ur] block, a bare machine announces itself and is set up", async () => {
    const shipped = await readFile(join(ROOT, "booter/booter.toml"), "utf8");
    await startedWith(edited(shipped));
    expect(site.booter().text()).toContain(" booter.started ");
    expect(site.booter().text()).not.toContain(" bus=");
    expect((await machines.script(newMac(), GUID)).text).not.toContain("rabbitmq=");

    await startedWith(edited(shipped.replace(/^#(?=[^ \n])/gm, "")));
    expect(site.booter().ports.bus).toBeGreaterThan(0);
    const machine = await machines.nodeNamed("packaged");
    expect(await machines.nodeOf(machine.server_uuid)).toMatchObject({ state: "approved", admin_ip: machine.address });
  });
});
