// Tests machines with several ports. A machine can boot from any member of a declared aggregate. The admin network can
// have a VLAN.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { awaitingSetup, newMac, newMachine, putPolicy, setUp, sysinfoOf } from "../setup/machine.ts";
import { okOf } from "../support/control-plane.ts";
import {
  ADMIN_NETWORK,
  discover,
  dotted,
  httpAsk,
  openRelay,
  openSite,
  type Relay,
  scriptPath,
  type Site,
} from "./site.ts";

let site: Site;
let relay: Relay;
beforeAll(async () => {
  site = await openSite();
  relay = await openRelay(site);
});
beforeEach(async () => void okOf(await putPolicy(site.t, { admin_network: ADMIN_NETWORK })));
afterAll(async () => {
  relay.close();
  await site.close();
});

/** Boots a machine from this port. Returns its address and the text of its script. */
async function boot(mac: string) {
  const reply = await relay.ask(discover(mac));
  const address = dotted(reply.yiaddr);
  const { text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: address });
  return { address, text };
}

async function networkingOf({ address, text }: { address: string; text: string }) {
  const path = /http:\/\/[^/]+(\/bootfs\/\S+\/networking\.json) /.exec(text)?.[1] ?? "";
  return JSON.parse((await httpAsk(site.booter.ports.http, path, { from: address })).text);
}

/** Declares an aggregate of two new ports. Returns the ports. */
async function declared(): Promise<[string, string]> {
  const macs: [string, string] = [newMac(), newMac()];
  const aggregate = { name: "aggr0", mode: "active", macs };
  okOf(await site.t.call("PUT", "/v2/cn-boot-roster", { body: [{ hostname: "node-7", macs, aggregate }] }));
  return macs;
}

test("the second member of an aggregate boots with the record and the address of the first member", async () => {
  const [first, second] = await declared();
  const by_second = await boot(second);
  const record = okOf(await site.t.call("GET", `/v2/cn-boot/${first}`));
  expect([record.state, record.address]).toEqual(["enrolling", by_second.address]);
  expect((await site.t.call("GET", `/v2/cn-boot/${second}`)).status).toBe(404);
  expect(by_second.text).toContain(`aggr0_aggr="${first},${second}",aggr0_lacp_mode=active,admin_nic=aggr0`);
  expect(await networkingOf(by_second)).toMatchObject({
    vnics: [{ mac: first, ip: by_second.address }],
    aggregations: [{ macs: [first, second] }],
  });
  expect((await boot(first)).address).toBe(by_second.address);
});

test("while the control plane is unreachable, the booter finds a node's record by the second member of its aggregate", async () => {
  const macs = await declared();
  const machine = await awaitingSetup(site.t, { ...newMachine(), macs, sysinfo: sysinfoOf(macs) });
  await setUp(site.t, machine);
  const { address } = await boot(macs[0]);
  site.link.away = true;
  try {
    const { facts } = await site.booter.records.find(macs[1], {});
    expect([facts?.mac, facts?.address]).toEqual([macs[0], address]);
  } finally {
    site.link.away = false;
  }
});

test("a booter of an earlier release, which does not send follow_aggregate, gets a record for each port", async () => {
  const [first, second] = await declared();
  const seen = okOf(await site.t.call("POST", "/v2/booter/seen", { body: { mac: second, client: {} } }));
  expect(seen.mac).toBe(second);
  const followed = { mac: second, client: {}, follow_aggregate: true };
  expect(okOf(await site.t.call("POST", "/v2/booter/seen", { body: followed }))).toMatchObject({
    mac: first,
    member_mac: second,
  });
});

test("the networking of a machine contains the VLAN of the admin network", async () => {
  okOf(await putPolicy(site.t, { admin_network: { ...ADMIN_NETWORK, vlan_id: 120 } }));
  const mac = newMac();
  const booted = await boot(mac);
  expect(okOf(await site.t.call("GET", `/v2/cn-boot/${mac}`)).networking.vlan_id).toBe(120);
  expect(await networkingOf(booted)).toMatchObject({ vnics: [{ nic_tag: "admin", vlan_id: 120 }] });
  okOf(await putPolicy(site.t, { admin_network: ADMIN_NETWORK }));
  expect(await networkingOf(await boot(newMac()))).toMatchObject({ vnics: [{ vlan_id: 0 }] });
});

test.each([0, 4_095, 1.5, "120"])("the VLAN %j gets 400", async (vlan_id) => {
  const answer = await putPolicy(site.t, { admin_network: { ...ADMIN_NETWORK, vlan_id } });
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("admin_network.vlan_id")]);
});
