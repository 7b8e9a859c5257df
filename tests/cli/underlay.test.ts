// `opsctl cn underlay` sets the address and MTU of a node on the network that carries the packets of VPCs.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
let node: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  node = (await t.approvedNode()).server_uuid;
});
afterAll(() => t.close());

test("`set` changes the given fields, `show` prints them, and the value `reported` restores what the node reports", async () => {
  await at.printed(`cn underlay set ${node} --address 192.0.2.9 --mtu 9000`);
  expect(await at.printed(`cn underlay show ${node}`)).toMatch(
    /underlay_address: +192\.0\.2\.9\nunderlay_mtu: +9000\n/,
  );
  await at.printed(`cn underlay set ${node} --mtu reported`);
  expect(await at.json(`cn underlay show ${node}`)).toMatchObject({
    underlay_address: "192.0.2.9",
    underlay_mtu: null,
  });
});

test("`set` without a field or with an invalid MTU fails before any request", async () => {
  for (const words of ["", " --mtu 100", " --mtu 10000"]) {
    const ran = await at.run(`cn underlay set ${node}${words}`);
    expect([ran.code, ran.asked]).toEqual([2, []]);
  }
});
