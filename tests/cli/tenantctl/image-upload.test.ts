// Tests `image upload` after an interruption, with a real control plane.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../../cli/internal/exit-code.ts";
import { runTenantctl } from "../../../cli/tenantctl/program.ts";
import { IMAGE_PART_BYTES } from "../../../src/contract/limits.ts";
import { ADDRESS, okOf, openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { ENDPOINT, fakeEnvironment } from "../fake-environment.ts";

const CHANGED_AT = new Date("2026-01-01T00:00:00Z");

let t: TestControlPlane;
let tenant: TestTenant;
let folder: TemporaryFolder;

beforeAll(async () => {
  folder = await temporaryFolder("uploads");
  t = await openTestControlPlane({ env: { BERTH_IMAGE_DIR: join(folder.path, "stored") } });
  tenant = await openTenant(t);
});
afterAll(async () => {
  await t?.close();
  await folder?.remove();
});

/** Writes a file of two parts. */
async function newFile(name: string): Promise<{ path: string; sha256: string }> {
  const bytes = randomBytes(IMAGE_PART_BYTES + 100);
  const path = join(folder.path, name);
  await writeFile(path, bytes);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex") };
}

type Server = (request: Request) => Promise<Response>;
const server: Server = async (request) => await t.plane.fetch(request, { remoteAddress: ADDRESS });
const isFinish = ({ url }: Request) => url.endsWith("/finish");
const isPart = ({ url, method }: Request) => method === "PUT" && url.includes("/parts?");

/** Uploads a file. If `ends` returns true for a request, the command ends after the server has answered the request. */
async function upload(
  path: string,
  { ends = () => false, at = server }: { ends?: (request: Request) => boolean; at?: Server } = {},
) {
  const parts: string[] = [];
  const fake = fakeEnvironment({
    env: {
      TENANTCTL_ENDPOINT: ENDPOINT,
      TENANTCTL_API_KEY: tenant.key,
      TENANTCTL_TENANT: tenant.tenant_id,
      NO_COLOR: "1",
    },
    newId: randomUUID,
  });
  const environment = {
    ...fake.environment,
    fetch: async (url: string, init: RequestInit) => {
      const request = new Request(url, init);
      if (isPart(request)) parts.push(new URL(url).search);
      const isLast = ends(request);
      const answer = await at(request);
      if (isLast) fake.abort();
      environment.signal.throwIfAborted();
      return answer;
    },
  };
  const code = await runTenantctl(["image", "upload", path, "--os", "linux", "--image-version", "1"], environment);
  return { code, parts, err: fake.err(), image: code === 0 ? JSON.parse(fake.out()) : null };
}

const openUploads = async () => (await t.db.query("select from image_upload")).rowCount;

test("if the first run was interrupted while it finished the upload, a second run prints the image and sends no part", async () => {
  const { path, sha256 } = await newFile("a.raw");
  expect((await upload(path, { ends: isFinish })).code).toBe(EXIT.interrupted);
  const again = await upload(path);
  expect(again, again.err).toMatchObject({ code: 0, parts: [], image: { name: "a.raw", sha256 } });
  expect(await openUploads()).toBe(0);
});

test("a second upload of a file whose image was deleted continues after an interruption", async () => {
  const { path, sha256 } = await newFile("b.raw");
  const first = await upload(path);
  expect(first.code, first.err).toBe(0);
  expect((await t.call("DELETE", `/v1/images/${first.image.id}`, { key: tenant.key })).status).toBe(204);
  expect((await upload(path, { ends: isPart })).code).toBe(EXIT.interrupted);
  const again = await upload(path);
  expect(again, again.err).toMatchObject({ code: 0, parts: [`?from=${IMAGE_PART_BYTES}`], image: { sha256 } });
  expect(await openUploads()).toBe(0);
});

test("if a request of an earlier run finishes the upload first, the later run still prints the image", async () => {
  const { path, sha256 } = await newFile("c.raw");
  const ran = await upload(path, {
    at: async (request) => {
      if (isFinish(request)) {
        okOf(await t.call("POST", new URL(request.url).pathname, { key: tenant.key, body: {} }));
      }
      return await server(request);
    },
  });
  expect(ran, ran.err).toMatchObject({ code: 0, image: { name: "c.raw", sha256 } });
});

test("a file with the name and the size of an uploaded image, but with other bytes, gets a conflict", async () => {
  const uploadAt = async (file: { path: string }) => {
    // Both files have the same time of the last change, so both uploads begin with the same Idempotency-Key.
    await utimes(file.path, CHANGED_AT, CHANGED_AT);
    return await upload(file.path);
  };
  expect(await uploadAt(await newFile("d.raw"))).toMatchObject({ code: 0 });
  const ran = await uploadAt(await newFile("d.raw"));
  expect(ran).toMatchObject({ code: EXIT.conflict, image: null });
  expect(ran.err).toContain("an image named d.raw already exists");
});

test("an empty file and a device are refused before a request", async () => {
  const path = join(folder.path, "empty.raw");
  await writeFile(path, "");
  const ran = await upload(path, { at: () => expect.fail("a request was sent") });
  expect([ran.code, ran.err]).toEqual([EXIT.usage, `error: <file>: ${path} is empty\n`]);
  const device = await upload("/dev/null", { at: () => expect.fail("a request was sent") });
  expect([device.code, device.err]).toEqual([EXIT.usage, "error: <file>: /dev/null is not a regular file\n"]);
});
