// Tests a booter process whose network to the control plane fails: silence, half-open connections, cut answers, delays.
// While the control plane is silent, the booter must not answer unknown machines, and must serve enrolled machines.
// After the silence, and in spite of the other failures, machines must enrol.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LOOKUP_LATE_MS } from "../../booter/limits.ts";
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";
import { newMac, setUp } from "../setup/machine.ts";
import { openProcessSite, type ProcessSite } from "./process-site.ts";
import { discover, openRelay, type Relay, relayed } from "./site.ts";

const WAIT = { timeout: 120_000, interval: 100 };
const STRANGERS = 1_000;
const MACHINES = 30;
const DELAY_MS = 300;
/** An answer is cut after this number of bytes, which is within its header. */
const CUT_AFTER_BYTES = 40;

let site: ProcessSite;
let network: NetworkProxy;
let relay: Relay;
/** The MAC address of an enrolled node. */
let enrolled: string;

beforeAll(async () => {
  site = await openProcessSite({
    route: async (url) => {
      network = await openProxy({ target_port: Number(new URL(url).port) });
      return `http://127.0.0.1:${network.port}`;
    },
  });
  enrolled = (await setUp(site.t)).macs[0]!;
  relay = await openRelay({ booter: site.booter() });
});
afterAll(async () => {
  relay.close();
  await network.close();
  await site.close();
});
beforeEach(() => network.heal());

/** Sends one DISCOVER. Returns whether an answer arrived within two seconds. */
async function answers(mac: string): Promise<boolean> {
  const asked = discover(mac);
  const answered = relay.ask(asked).then(() => true);
  return await Promise.race([answered, pause(2_000).then(() => false)]);
}

const enrols = (mac = newMac()) => expect.poll(() => answers(mac), WAIT).toBe(true);
const pause = (duration_ms: number) => new Promise((wake) => setTimeout(wake, duration_ms));

test(
  "while the control plane is silent, unknown machines get no answer and enrolled nodes boot; then machines enrol again",
  async () => {
    await expect.poll(() => answers(enrolled), WAIT).toBe(true);
    const { swallowed } = network.counters;
    network.silence();
    const strangers = Array.from({ length: STRANGERS }, () => discover(newMac()));
    const began_ms = performance.now();
    for (const stranger of strangers) relay.send(relayed(stranger));
    do await expect.poll(() => answers(enrolled), WAIT).toBe(true); while (
      performance.now() - began_ms < LOOKUP_LATE_MS + 1_000
    );
    expect(network.counters.swallowed).toBeGreaterThan(swallowed);
    network.heal();
    await enrols();
    const asked = new Set(strangers.map(({ xid }) => xid));
    expect(relay.replies.filter(({ xid }) => asked.has(xid))).toEqual([]);
  },
  180_000,
);

test.each(["server", "client"] as const)(
  "machines enrol although connections lost their %s and stay half open",
  async (side) => {
    const { half_open } = network.counters;
    await expect.poll(() => network.open(), WAIT).toBeGreaterThan(0);
    network.loseSide(side);
    await enrols();
    expect(network.counters.half_open).toBeGreaterThan(half_open);
  },
  180_000,
);

test("although answers are cut, every machine enrols eventually, with one record and one address", async () => {
  const { cut } = network.counters;
  const macs = Array.from({ length: MACHINES }, newMac);
  for (const mac of macs) {
    const before = network.counters.cut;
    do {
      network.cutAfter("to_client", CUT_AFTER_BYTES);
      await answers(mac);
    } while (network.counters.cut === before);
    await enrols(mac);
  }
  expect(network.counters.cut - cut).toBeGreaterThanOrEqual(MACHINES);
  const { rows } = await site.t.db.query<{ mac: string; address: string }>(
    "select mac, address from boot_record where mac = any($1)",
    [macs],
  );
  expect(rows).toHaveLength(MACHINES);
  expect(new Set(rows.map(({ address }) => address)).size).toBe(MACHINES);
}, 300_000);

test("machines enrol although the control plane is slow", async () => {
  const { delayed } = network.counters;
  network.delay(DELAY_MS);
  await enrols();
  expect(network.counters.delayed).toBeGreaterThan(delayed);
}, 180_000);
