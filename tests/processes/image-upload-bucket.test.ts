// Tests an upload to a server that stores images in a bucket. The server runs as `task start` starts it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveBucket } from "../image-store/bucket-server.ts";
import { type CallOptions, okOf } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { call as callAt } from "./console-fixture.ts";
import { buildExecutables, run } from "./executables.ts";
import { BYTES } from "./uploaded-image.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;

beforeAll(async () => {
  await buildExecutables(["tenantctl"]);
  database = await freshDatabase();
  folder = await temporaryFolder("uploads");
}, 240_000);

afterAll(async () => {
  await database?.drop();
  await folder?.remove();
});

test(
  "a server with a bucket stores an uploaded image in the bucket, with the permissions of `task start`",
  async () => {
    const file = join(folder.path, "disk.raw");
    await writeFile(file, BYTES);
    const credential = { key_id: "AKIDEXAMPLE", secret: "not-a-real-secret", region: "us-east-1" };
    const bucket = await serveBucket(credential);
    const env = {
      DATABASE_URL: database.url,
      BERTH_IMAGE_BUCKET: bucket.url,
      BERTH_IMAGE_BUCKET_KEY_ID: credential.key_id,
      BERTH_IMAGE_BUCKET_SECRET: credential.secret,
    };
    const server = await startServer({ env, as_task: true });
    const call = (method: string, path: string, options: CallOptions = {}) => callAt(server.url, method, path, options);
    try {
      okOf(await call("PUT", "/v1/config/image.uploaded_bytes_max", { body: { value: 100 * BYTES.length } }));
      const tenant = await openTenant({ call }, "bucket");
      const { code, out, err } = await run(
        "tenantctl",
        ["image", "upload", file, "--os", "linux", "--image-version", "1", "--name", "in-a-bucket"],
        { env: { HOME: folder.path, TENANTCTL_ENDPOINT: server.url, TENANTCTL_API_KEY: tenant.key, NO_COLOR: "1" } },
      );
      expect(code, err).toBe(0);
      const id = JSON.parse(out).source_url.slice("berth:".length);
      expect([...bucket.objects.keys()]).toEqual([0, 1, 2, 3].map((part) => `${id}/0000000${part}`));
      expect(server.log()).not.toMatch(/NotCapable|not-a-real-secret/);
    } finally {
      await server.kill();
      await bucket.close();
    }
  },
  120_000,
);
