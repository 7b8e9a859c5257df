// Tests the guides for the first day: the reader registers a node, creates an instance for a tenant, and backs up its
// disks.
import { afterAll, beforeAll, test } from "vitest";
import { startVendor, type Vendor } from "../cli/image/vendor.ts";
import { needs } from "../support/optional-programs.ts";
import { runGuides, SESSION } from "./run.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
let vendor: Vendor;
beforeAll(async () => {
  site = await openSite();
  vendor = await startVendor();
}, 300_000);
afterAll(async () => {
  await vendor?.close();
  await site?.close();
});

test(
  "the commands of the guides to the first node, the first tenant and backups of disks work one after the other",
  async (context) => {
    needs(context, ...SESSION);
    await runGuides(["first-node", "first-instance", "disk-backup"], {
      folder: site.folder,
      env: { ...site.env, OPSCTL_INDEX: vendor.base },
    });
  },
  300_000,
);
