// `deno task pictures` takes pictures of the console's main pages in both themes, 1280 and 390 pixels wide. A person
// can then look at all of them in .berth/pictures. The task needs Chromium.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mkdir } from "node:fs/promises";
import { test } from "vitest";
import { addNode } from "../compute/compute-fixture.ts";
import { makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

const NODES = 14;
const FOLDER = fileURLToPath(new URL("../../.berth/pictures", import.meta.url));
const LIMIT_MS = 600_000;

const f = useConsoleSite();

test("takes pictures of the main pages", async () => {
  const site = f.site();
  for (let at = 0; at < NODES; at++) {
    const node = await addNode(site, {}, { hostname: `r${1 + at % 3}-u${1 + Math.floor(at / 3)}` });
    serveJobs(node);
    const body = { labels: { rack: `r${1 + at % 3}` } };
    okOf(await site.call("PATCH", `/v1/cns/${node.server_uuid}/placement`, { body }));
  }
  await site.register({ hostname: "r3-u9" });
  const a = await openInstanceFixture(site, {
    url: "https://images.example/debian-13",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 31,
  });
  const made = [];
  for (const name of ["web1", "web2", "db1"]) made.push(okOf(await makeInstance(a, { name })));
  const [{ id }] = made;
  const labels = { env: "production", tier: "front" };
  okOf(await a.call("PATCH", `/v1/instances/${id}`, { body: { description: "the public site", labels } }));
  const ip = okOf(await a.call("POST", `/v1/floating-ips${a.selectors}`, { body: { name: "www", family: "v4" } }));
  const [nic] = okOf(await a.call("GET", `/v1/nics?instance=${id}`)).items;
  okOf(await a.call("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id: nic.id } }));
  okOf(await a.call("POST", `/v1/disks?instance=${id}`, { body: { name: "data", size_bytes: 2 ** 35 } }));
  okOf(await a.call("POST", `/v1/placement-groups${a.selectors}`, { body: { name: "spread" } }));
  const hook = { name: "chat", url: "https://hooks.example/berth", events: ["instance_*"] };
  const webhook = okOf(await a.call("POST", `/v1/webhooks${a.selectors}`, { body: hook }));
  okOf(await a.call("POST", `/v1/webhooks/${webhook.id}/test`, { body: {} }));
  const [vpc] = okOf(await a.call("GET", `/v1/vpcs${a.selectors}`)).items;
  okOf(await a.call("PATCH", `/v1/vpcs/${vpc.id}`, { body: { labels } }));
  const [disk] = okOf(await a.call("GET", `/v1/disks?instance=${id}`)).items;
  okOf(await a.call("POST", `/v1/snapshots?disk=${disk.id}`, { body: { name: "monday", labels } }));
  okOf(await site.call("PUT", "/v2/platform-images", { body: { stamps: ["20261121T000000Z"] } }));
  const take = async (ui: ConsolePage, path: string, file: string) => {
    await ui.show(path);
    await ui.settled();
    await ui.page.screenshot({ path: file });
  };
  await mkdir(FOLDER, { recursive: true });
  const project = `/t/${a.tenant_id}/p/${a.project_id}`;
  const pages = {
    overview: "/overview",
    nodes: "/nodes",
    instance: `/instances/${id}`,
    instances: `${project}/instances`,
    new: `${project}/new-instance`,
    networks: `${project}/networks`,
    groups: `${project}/placement-groups`,
    vpc: `/vpcs/${vpc.id}`,
    snapshots: `/instances/${id}/snapshots`,
    upgrade: "/upgrade-by-label",
    webhooks: `${project}/webhooks`,
    webhook: `/webhooks/${webhook.id}`,
    operations: "/operations",
    audit: "/audit",
    verification: "/audit-verification",
    doctor: "/doctor",
    capacity: "/capacity",
    placement: "/placement",
    settings: "/settings",
    me: "/me",
  };
  for (const width of [1_280, 390]) {
    const sized = await site.open({ width });
    for (const colorScheme of ["light", "dark"] as const) {
      await sized.page.emulateMedia({ colorScheme });
      for (const [name, path] of Object.entries(pages)) {
        await take(sized, path, join(FOLDER, `${name}-${width}-${colorScheme}.png`));
      }
    }
  }
}, LIMIT_MS);
