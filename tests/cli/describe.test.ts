// Tests `describe` of opsctl, and `events` of opsctl and tenantctl.
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTenantctl } from "../../cli/tenantctl/program.ts";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { newLogin } from "../api/login.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner, serverOf } from "./at-control-plane.ts";
import { ENDPOINT, fakeEnvironment } from "./fake-environment.ts";

let a: ComputeFixture;
let at: OpsctlRunner;
let id: string;
beforeAll(async () => {
  a = await openComputeFixture();
  at = opsctlAt(a.t);
  ({ id } = await a.running({ name: "web1" }));
});
afterAll(() => a.t.close());

type Event = { at: string; source: string; event: string; detail: string };

test("`instance events` prints operations, jobs and audit events in one list, ordered by time", async () => {
  const { items } = await at.json<{ items: Event[] }>("instance events web1");
  expect(items.map(({ at }) => Date.parse(at))).toEqual(
    items.map(({ at }) => Date.parse(at)).toSorted((x, y) => x - y),
  );
  const shown = items.map(({ source, event, detail }) => `${source} ${event}: ${detail}`);
  expect(shown).toEqual(expect.arrayContaining([
    "operation instance-create: created",
    "operation instance-create: succeeded",
    `job provision: queued for node ${a.node.server_uuid}`,
    "job provision: claimed",
    "job provision: completed",
  ]));
  expect(items.some(({ source }) => source === "audit")).toBe(true);
  const newest = await at.json<{ items: Event[] }>("instance events web1 --limit 2");
  expect(newest.items).toEqual(items.slice(-2));
});

test("`instance describe` shows the record, its addresses, its disks and its events", async () => {
  const { items: [nic] } = okOf(await a.t.call("GET", `/v1/nics?instance=${id}`));
  const text = await at.printed("instance describe web1");
  expect(text).toMatch(/^id: +\S+\nname: +web1\n/);
  expect(text).toContain(nic.primary_ipv4);
  expect(text.match(/^\w+:\n/gm)).toEqual(["nics:\n", "disks:\n", "events:\n"]);
  const whole = await at.json<{ id: string; nics: unknown[]; time_line: Event[] }>("instance describe web1");
  expect(whole).toMatchObject({ id, nics: [nic] });
  expect(whole.time_line.length).toBeGreaterThan(3);
});

test("`cn describe` shows the instances and the events of a node", async () => {
  const text = await at.printed(`cn describe ${a.node.server_uuid}`);
  expect(text).toMatch(/^instances:\nNAME .*\nweb1 /m);
  expect(text).toMatch(/ job +provision /);
  expect(text).not.toContain("sysinfo:");
});

test("an operator with only system-read gets the events of every source", async () => {
  const reader = await newLogin(a.t, { capabilities: ["system-read"] });
  const ran = await at.run(`cn events ${a.node.server_uuid} -o json`, {
    env: { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_ACCESS_TOKEN: reader.token },
  });
  expect(ran.code, ran.err()).toBe(0);
  const sources = new Set(JSON.parse(ran.out()).items.map(({ source }: Event) => source));
  expect(sources).toEqual(new Set(["job", "operation", "audit"]));
});

test("a tenant sees the operations of its instance, and gets no warning", async () => {
  const fake = fakeEnvironment({
    env: { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: a.tenant.key },
    server: serverOf(a.t),
  });
  expect(await runTenantctl(["instance", "events", id], fake.environment), fake.err()).toBe(0);
  const { items } = JSON.parse(fake.out()) as { items: Event[] };
  expect(items.map(({ source, event }) => `${source} ${event}`)).toEqual(
    ["operation instance-create", "operation instance-create"],
  );
  expect(fake.err()).toBe("");
});
