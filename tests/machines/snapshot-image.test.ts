// Makes an image of a running guest's disk. A new guest that boots from the image has the data that the first guest
// wrote, even if the agent is killed while it sends the image. See docs/instances.md, "Images from snapshots".
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BOOT, MEMORY_BYTES, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

const SNAPSHOT_LIMIT = { timeout: 120_000, interval: 50 };

let site: Site;

withMachine(async () => {
  const folder = await temporaryFolder("images");
  site = await openSite({ env: { BERTH_IMAGE_DIR: join(folder.path, "stored") } });
  return async () => {
    await site.close();
    await folder.remove();
  };
});

async function tenantctl(argv: readonly string[], typed?: string): Promise<string> {
  const { code, out, err } = await site.tenantctl(argv, typed);
  expect([code, err], argv.join(" ")).toEqual([0, expect.any(String)]);
  return out;
}

test("a guest boots from the image of another guest's disk, with the data that the other guest wrote", async () => {
  const mark = randomUUID();
  await site.create("web1");
  await site.logged("web1", /ready host=web1/);
  expect(await tenantctl(["instance", "console", "web1"], `echo ${mark} > /persist/mark; sync; echo done-$((1 + 1))\n`))
    .toContain("done-2");
  await tenantctl(["snapshot", "create", "boot", "--instance", "web1", "--name", "monday"]);
  const before = await site.left();

  const made = ["image", "create", "golden", "--snapshot", "monday", "--instance", "web1", "--no-wait", "-o", "json"];
  const { id: operation_id } = JSON.parse(await tenantctl(made));
  // The operation has stored at least one part or, on a fast machine, has ended already.
  const begun = "select from image_upload where received_bytes > 0 union all select from image where name = 'golden'";
  await expect.poll(async () => (await site.db.query(begun)).rowCount, SNAPSHOT_LIMIT).toBe(1);
  await site.killAgent();
  site.startAgent();
  await tenantctl(["operation", "wait", operation_id]);
  expect(await site.left()).toEqual(before);

  const { id } = JSON.parse(await tenantctl(["image", "show", "golden", "-o", "json"]));
  const body = { name: "web2", image_id: id, memory_bytes: MEMORY_BYTES };
  const { status, body: web2 } = await site.make(body);
  expect([status, web2.lifecycle?.state]).toEqual([201, "running"]);
  await site.logged("web2", /ready host=web2/);
  await expect.poll(() => tenantctl(["instance", "console", "web2"], "cat /persist/mark\n"), BOOT).toContain(mark);
});
