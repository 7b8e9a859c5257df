// Tests that `opsctl instance show` searches only the necessary instances. A text search without a node reads every
// instance of the site.
import { expect, test } from "vitest";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { INSTANCE } from "./tenantctl/records.ts";

const HOST = "3f2a9c1e-0000-4000-8000-000000000001";
const OTHER_HOST = "3f2a9c1e-0000-4000-8000-000000000002";
const OWN = { ...INSTANCE, host_cn_uuid: HOST };
const LISTED = {
  ...OWN,
  silo_name: "acme",
  tenant_name: "web",
  project_name: "shop",
  host_name: "cn-17",
  addresses: ["10.0.1.5"],
};

type Site = {
  /** The answer to a read of the instance by its id. */
  readonly own?: unknown;
  /** The list of the instances of HOST. */
  readonly onHost?: readonly unknown[];
  /** The list of all instances. */
  readonly all?: readonly unknown[];
};

/** Shows the instance. Returns the output, and the parameters of the searches. */
async function show(words: readonly string[], { own = OWN, onHost = [LISTED], all = [LISTED] }: Site = {}) {
  const server: Server = ({ path, query }) => ({
    body: path === "/v1/system/instances" ? { items: query.cn === HOST ? onHost : all } : own,
  });
  const ran = await opsctl(["instance", "show", ...words], { server });
  const searches = ran.asked.filter(({ path }) => path === "/v1/system/instances").map(({ query }) => query);
  return { out: ran.out(), searches };
}

test("a UUID is searched only among the instances of the instance's node", async () => {
  const { out, searches } = await show([INSTANCE.id.toUpperCase()]);
  expect(searches).toEqual([expect.objectContaining({ q: INSTANCE.id, cn: HOST })]);
  expect(out).toMatch(/^addresses: +10\.0\.1\.5$/m);
  expect(out).toMatch(new RegExp(`^host: +cn-17 \\(${HOST}\\)$`, "m"));
  expect((await show([INSTANCE.id, "-o", "json"])).searches).toEqual([]);
});

test("an instance that has left its node since the first read is searched among all instances", async () => {
  const { out, searches } = await show([INSTANCE.id], { onHost: [] });
  expect(searches.map(({ cn }) => cn)).toEqual([HOST, undefined]);
  expect(out).toMatch(/^addresses: +10\.0\.1\.5$/m);
});

test("the name and the UUID of the node are from one read, even if the instance moves between the reads", async () => {
  const moved = { ...LISTED, host_cn_uuid: OTHER_HOST, host_name: "cn-18" };
  const { out } = await show([INSTANCE.id], { onHost: [], all: [moved] });
  expect(out).toMatch(new RegExp(`^host: +cn-18 \\(${OTHER_HOST}\\)$`, "m"));
});

test("an instance without a node is searched once", async () => {
  const { searches } = await show([INSTANCE.id], { own: { ...OWN, host_cn_uuid: null }, all: [] });
  expect(searches.map(({ cn }) => cn)).toEqual([undefined]);
});

test.each([INSTANCE.name, INSTANCE.id.slice(0, -1)])("%s is searched among all instances", async (part) => {
  const { out, searches } = await show([part]);
  expect(searches.map(({ q, cn }) => [q, cn])).toEqual([[part, undefined]]);
  expect(out).toBe((await show([INSTANCE.id])).out);
});
