// A boot record gets the lowest free IP address of the admin network. The commit chooses the address. The record keeps
// the address as long as the record exists (docs/reliability.md, INV-7).
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "../setup/invariants.ts";
import { newMac, POLICY, putPolicy, seen } from "../setup/machine.ts";

let t: TestControlPlane;
let other: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await t.close();
});
afterEach(() => expectInvariants(t.db));

/**
 * Returns the network 10.30.<third>.0/24 for a policy. Its address range is .10 to .200 unless `changes` replaces it.
 */
function block(third: number, changes: Record<string, unknown> = {}) {
  const at = (last: number) => `10.30.${third}.${last}`;
  return {
    ...POLICY.admin_network,
    ipv4_block: `${at(0)}/24`,
    provision_start_ipv4: at(10),
    provision_end_ipv4: at(200),
    gateway: at(1),
    resolvers: [],
    ...changes,
  };
}
const use = async (admin_network: Record<string, unknown>) => void okOf(await putPolicy(t, { admin_network }));
const addressOf = async (mac: string) => okOf(await seen(t, mac)).address as string;
const nextAddress = () => addressOf(newMac());

test("addresses are assigned in ascending order, except the gateway's address", async () => {
  await use(block(1, { gateway: "10.30.1.12" }));
  const got = [];
  for (let n = 0; n < 4; n += 1) got.push(await nextAddress());
  expect(got).toEqual(["10.30.1.10", "10.30.1.11", "10.30.1.13", "10.30.1.14"]);
});

test("in the smallest network all addresses are assigned except the network, gateway and broadcast addresses", async () => {
  await use(block(2, {
    ipv4_block: "10.30.2.4/30",
    provision_start_ipv4: "10.30.2.5",
    provision_end_ipv4: "10.30.2.6",
    gateway: "10.30.2.5",
  }));
  expect(await nextAddress()).toBe("10.30.2.6");
  expect(okOf(await seen(t, newMac()))).toMatchObject({ state: "discovered", address: null });
});

test("host bits in the network's block are ignored", async () => {
  await use(block(3, { ipv4_block: "10.30.3.77/24" }));
  expect(await nextAddress()).toBe("10.30.3.10");
});

test("a record keeps its address when it is decommissioned and reactivated, and no other record gets the address", async () => {
  await use(block(4));
  const mac = newMac();
  expect(await addressOf(mac)).toBe("10.30.4.10");
  okOf(await t.call("POST", `/v2/cn-boot/${mac}/decommission`));
  expect(await nextAddress()).toBe("10.30.4.11");
  okOf(await t.call("POST", `/v2/cn-boot/${mac}/reactivate`));
  expect(await nextAddress()).toBe("10.30.4.12");
  expect(okOf(await t.call("POST", `/v2/cn-boot/${mac}/authorize`)).address).toBe("10.30.4.10");
});

test("after a change of the range, the next machine gets the lowest free address of the new range; records keep their addresses", async () => {
  await use(block(5));
  for (const last of [10, 11, 12]) expect(await nextAddress()).toBe(`10.30.5.${last}`);
  await use(block(5, { provision_start_ipv4: "10.30.5.12" }));
  expect(await nextAddress()).toBe("10.30.5.13");
  await use(block(5, { provision_start_ipv4: "10.30.5.8" }));
  for (const last of [8, 9, 14]) expect(await nextAddress()).toBe(`10.30.5.${last}`);
  await use(block(6));
  expect(await nextAddress()).toBe("10.30.6.10");
  await use(block(5, { gateway: "10.30.5.15" }));
  expect(await nextAddress()).toBe("10.30.5.16");
});

test("after a change to a larger block, the free addresses of the old block are assigned first", async () => {
  await use(block(7, { provision_end_ipv4: "10.30.7.11" }));
  for (const last of [10, 11]) expect(await nextAddress()).toBe(`10.30.7.${last}`);
  expect(okOf(await seen(t, newMac())).state).toBe("discovered");
  await use(block(7, { ipv4_block: "10.30.6.0/23", provision_start_ipv4: "10.30.7.9" }));
  for (const last of [9, 12]) expect(await nextAddress()).toBe(`10.30.7.${last}`);
});

test("64 machines that two processes see at once, each twice, get 64 addresses without a gap", async () => {
  await use(block(8));
  const macs = Array.from({ length: 64 }, newMac);
  const answers = await Promise.all(
    [...macs, ...macs].map((mac, index) => seen(index % 2 === 0 ? t : other, mac)),
  );
  const byMac = new Map(answers.map((answer) => [okOf(answer).mac, okOf(answer).address as string]));
  expect([...byMac.keys()].sort()).toEqual([...macs].sort());
  const lasts = [...byMac.values()].map((address) => Number(address.split(".")[3])).sort((a, b) => a - b);
  expect(lasts).toEqual(Array.from({ length: 64 }, (_, index) => 10 + index));
});

test("while the policy switches between two networks, each of 64 new records fits one of the networks", async () => {
  await use(block(9));
  const changes = (async () => {
    for (let n = 0; n < 8; n += 1) await use(block(n % 2 === 0 ? 10 : 9));
  })();
  // 409 means that the policy changed five times during one request. On a busy machine this is frequent. A booter sends
  // the request again.
  const seenAtLast = async (n: number) => {
    const mac = newMac();
    for (;;) {
      const answer = await seen(n % 2 === 0 ? t : other, mac);
      if (answer.status !== 409) return okOf(answer);
      expect(answer.body.error_code).toBe("PolicyChanged");
    }
  };
  const records = await Promise.all(Array.from({ length: 64 }, (_, n) => seenAtLast(n)));
  await changes;
  for (const { networking, address } of records) {
    expect(networking.gateway).toBe(`10.30.${address.split(".")[2]}.1`);
  }
});

test("if the network changes before a decision is committed, the server decides again, and the result does not mix the networks", async () => {
  await use(block(11));
  const held = await t.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended('pool:admin-network', 0))");
    // The change of the policy waits for this client's lock, and then the new record also waits. The two pauses
    // together are shorter than the lock timeout.
    const put = use(block(12));
    await new Promise((wake) => setTimeout(wake, 60));
    const answer = seen(other, newMac());
    await new Promise((wake) => setTimeout(wake, 60));
    await client.query("rollback");
    await put;
    return await answer;
  });
  expect(okOf(held)).toMatchObject({ address: "10.30.12.10", networking: { gateway: "10.30.12.1", prefix_len: 24 } });
});

test("a refused change of the policy does not change the addresses that are assigned next", async () => {
  await use(block(13));
  expect(await nextAddress()).toBe("10.30.13.10");
  const headers = { "if-match": '"boot-policy-1"' };
  expect((await putPolicy(t, { admin_network: block(14) }, { headers })).status).toBe(412);
  expect(await nextAddress()).toBe("10.30.13.11");
});
