// Passes hostile packets and streams to the DHCP and AMQP servers, without sockets. No exception may escape, and only
// machines that the control plane admits may get a reply. The last tests use a booter whose control plane is first
// unreachable, then slow, then available again.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sent } from "../../booter/dhcp/server.ts";
import { LOCKED_PASSWORD_HASH } from "../../booter/http/routes.ts";
import { LOOKUP_LATE_MS, LOOKUP_MS } from "../../booter/limits.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac, setUp } from "../setup/machine.ts";
import { dhcpFixture, mutatedAmqp, mutatedDhcp } from "./mutations.ts";
import { discover, dotted, httpAsk, openRelay, openSite, type Relay, relayed, scriptPath, type Site } from "./site.ts";

const SOURCE = { address: "10.0.0.99", port: 68 };

test("S-43: 20,000 mutated packets cause replies only to the machine that may boot, and no NAK", () => {
  const { reached, violations } = mutatedDhcp(20_000);
  expect(violations).toEqual([]);
  expect(reached).toBeGreaterThan(1_000);
}, 120_000);

test(
  "10,000 mutated AMQP streams make no session throw, and each ended session has released its reserved bytes",
  () => {
    const { reached, violations } = mutatedAmqp(10_000);
    expect(violations).toEqual([]);
    // The test proves something only if enough mutated streams pass the login.
    expect(reached).toBeGreaterThan(1_000);
  },
  120_000,
);

test.each([0, 1, 240, 1_501, 9_000, 65_507])("a packet of %i zero bytes is dropped", (length) => {
  const sent: Sent[] = [];
  const { handle } = dhcpFixture((each) => void sent.push(each));
  handle(new Uint8Array(length), SOURCE);
  expect(sent).toEqual([]);
});

describe("a booter", () => {
  let site: Site;
  let relay: Relay;
  let enrolled: { mac: string; address: string };
  let enrolling: string;
  beforeAll(async () => {
    site = await openSite();
    relay = await openRelay(site);
    const node = await setUp(site.t);
    enrolled = { mac: node.macs[0]!, address: "" };
    enrolling = newMac();
    await relay.ask(discover(enrolling));
    await site.booter.records.refresh();
    await relay.ask(discover(enrolled.mac));
  });
  afterAll(async () => {
    relay.close();
    await site.close();
  });

  test("whose control plane is unreachable boots enrolled nodes from its cache, with a locked root password, and enrols no machine", async () => {
    site.link.away = true;
    await site.restart();
    const { counters } = site.booter;
    const before = counters.valueOf("dhcp_silent_total", { reason: "not_verified" });
    void relay.ask(discover(enrolling));
    const reply = await relay.ask(discover(enrolled.mac));
    await expect.poll(() => counters.valueOf("dhcp_silent_total", { reason: "not_verified" }), { timeout: 20_000 })
      .toBeGreaterThan(before);
    const { status, text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: dotted(reply.yiaddr) });
    expect(status).toBe(200);
    expect(text).toContain("/platform/i86pc/kernel/amd64/unix");
    expect(text).toContain(`root_shadow=${LOCKED_PASSWORD_HASH} `);
    expect(text).not.toContain("rabbitmq");
  });

  test(
    "whose control plane is slow enrols a machine if the machine still sends requests when the answer arrives",
    async () => {
      site.link.away = false;
      site.link.late_ms = LOOKUP_MS + 500;
      await site.restart();
      const asked = discover(newMac());
      // Repeats the packet, because firmware does so until it gets an answer.
      const again = setInterval(() => relay.send(relayed(asked)), 1_000);
      const reply = await relay.ask(asked).finally(() => clearInterval(again));
      expect(okOf(await site.t.call("GET", `/v2/cn-boot/${asked.mac}`))).toMatchObject({
        state: "enrolling",
        address: dotted(reply.yiaddr),
      });
    },
    120_000,
  );

  test("whose control plane answers too late boots an enrolled node from its cache", async () => {
    site.link.late_ms = LOOKUP_LATE_MS * 20;
    await site.restart();
    const reply = await relay.ask(discover(enrolled.mac));
    const { text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: dotted(reply.yiaddr) });
    expect(text).toContain("/platform/i86pc/kernel/amd64/unix");
    expect(text).toContain(`root_shadow=${LOCKED_PASSWORD_HASH} `);
    expect(text).not.toContain("rabbitmq");
  }, 120_000);

  test("whose control plane is available again enrols machines again", async () => {
    site.link.late_ms = 0;
    await site.booter.records.refresh();
    const reply = await relay.ask(discover(enrolling));
    const record = okOf(await site.t.call("GET", `/v2/cn-boot/${enrolling}`));
    expect([record.state, record.address]).toEqual(["enrolling", dotted(reply.yiaddr)]);
  });
});
