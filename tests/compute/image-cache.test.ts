// Tests the image cache of a node. The cache keeps images in use. If the other images exceed the size limit, the node
// deletes the least recently used of these.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, statfs, utimes } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Image } from "../../src/contract/image.ts";
import { processEnvironment } from "../../cli/internal/environment.ts";
import type { Agent, Timers } from "../../nodeagent/agent.ts";
import { createImageCache, type ImageCache, NO_ROOM, NOT_FETCHED } from "../../nodeagent/image-cache.ts";
import type { ImageStorage } from "../../nodeagent/driver.ts";
import { simulatedDriver } from "../../nodeagent/simulated-driver.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const BYTES = 10_000;

type Served = Image & { readonly bytes: Uint8Array };

let folder: TemporaryFolder;
let server: Server;
let url: string;
const served = new Map<string, Served>();
/**
 * A promise for each slow image, by the SHA-256 of the image. The server awaits this promise before it sends the last
 * byte of the image.
 */
const gates = new Map<string, Promise<void>>();
/** A promise for each held image, by the SHA-256 of the image. The server awaits this promise before it answers. */
const holds = new Map<string, Promise<void>>();
const asked: string[] = [];
let agent: Agent;

beforeAll(async () => {
  folder = await temporaryFolder("image-cache");
  server = createServer(async (request, response) => {
    const sha256 = request.url!.slice(1);
    const { bytes } = served.get(sha256)!;
    asked.push(sha256);
    await holds.get(sha256);
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, bytes.length - 1));
    await gates.get(sha256);
    response.end(bytes.subarray(bytes.length - 1));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await folder.remove();
});
beforeEach(async () => {
  const state_dir = join(folder.path, randomUUID());
  await mkdir(state_dir);
  const environment = processEnvironment(new AbortController().signal);
  agent = {
    adminIp: () => Promise.resolve(null),
    environment,
    driver: await simulatedDriver({ state_dir, server_uuid: undefined, hostname: undefined, environment }),
    link: { endpoint: "http://127.0.0.1:9", user_agent: "test" },
    nic_tags: [],
    listener: { start: () => Promise.reject(new Error("this agent receives no VMs")) },
    state_dir,
    timers: {} as Timers,
    image_bytes_max: 0,
  };
});

function newImage(): Served {
  const bytes = randomBytes(BYTES);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const image: Served = {
    id: randomUUID(),
    scope: { kind: "public" },
    name: "linux",
    description: "",
    labels: {},
    os: "linux",
    version: "1",
    size: BYTES,
    size_bytes: BYTES,
    content_bytes: BYTES,
    sha256,
    source_url: `${url}/${sha256}`,
    compatibility: null,
    created_at: "2026-01-01T00:00:00Z",
    bytes,
  };
  served.set(sha256, image);
  return image;
}

const use = { tenant_id: randomUUID(), allowed_private: ["127.0.0.0/8"], onProgress: () => {} };
const keeping = (image_bytes_max: number) => createImageCache({ ...agent, image_bytes_max });
const fetchFor = (cache: ImageCache, job_id: string, image: Served) => cache.fetch(agent, image, { ...use, job_id });
const kept = async () => (await readdir(join(agent.state_dir, "images"))).sort();
const named = (...images: readonly Served[]) => images.map(({ sha256 }) => sha256).sort();

/** Sets the last use of the image to this number of minutes ago. */
async function usedBefore(image: Served, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * 60_000);
  await utimes(join(agent.state_dir, "images", image.sha256), at, at);
}

test("the cache keeps the most recently used images up to the limit", async () => {
  const cache = keeping(2 * BYTES);
  const [a, b, c] = [newImage(), newImage(), newImage()];
  for (const image of [a, b, c]) await fetchFor(cache, "one", image);
  await usedBefore(a, 1);
  await usedBefore(b, 3);
  await usedBefore(c, 2);
  expect(await kept()).toEqual(named(a, b, c));
  await cache.release(agent, "one");
  expect(await kept()).toEqual(named(a, c));
  // A fetch of a cached file also counts as a use.
  await fetchFor(cache, "two", c);
  await fetchFor(cache, "two", b);
  await usedBefore(b, 0);
  await cache.release(agent, "two");
  expect(await kept()).toEqual(named(b, c));
});

test("an image is kept until every job that uses it has ended", async () => {
  const cache = keeping(0);
  const image = newImage();
  expect(await fetchFor(cache, "one", image)).toBe(await fetchFor(cache, "two", image));
  await cache.release(agent, "one");
  expect(await kept()).toEqual(named(image));
  await cache.release(agent, "two");
  expect(await kept()).toEqual([]);
});

test("a running download is not evicted", async () => {
  const cache = keeping(0);
  const [slow, other] = [newImage(), newImage()];
  let open = () => {};
  gates.set(slow.sha256, new Promise((resolve) => open = resolve));
  let begun = () => {};
  const has_begun = new Promise<void>((resolve) => begun = resolve);
  const fetched = cache.fetch(agent, slow, { ...use, job_id: "slow", onProgress: () => begun() });
  await has_begun;
  await fetchFor(cache, "other", other);
  await cache.release(agent, "other");
  const parts = await kept();
  expect(parts).toHaveLength(1);
  expect(parts[0]).toContain(`.${slow.sha256}.`);
  open();
  expect(await fetched).toBe(join(agent.state_dir, "images", slow.sha256));
  expect(await kept()).toEqual(named(slow));
});

test("a partial download counts against the limit and is evicted like an image", async () => {
  const cache = keeping(0);
  const image = newImage();
  const stop = new AbortController();
  let open = () => {};
  gates.set(image.sha256, new Promise((resolve) => open = resolve));
  const stopped = { ...agent, environment: { ...agent.environment, signal: stop.signal } };
  const fetched = cache.fetch(stopped, image, { ...use, job_id: "one", onProgress: () => stop.abort() });
  await expect(fetched).rejects.toThrow();
  open();
  expect((await kept())[0]).toContain(`.${image.sha256}.`);
  await cache.release(agent, "one");
  expect(await kept()).toEqual([]);
});

test("the image of a VM's disk is kept until the VM is destroyed, even after the cache is opened again", async () => {
  const image = newImage();
  const instance = {
    id: randomUUID(),
    name: "vm",
    brand: "kvm",
    tenant_id: randomUUID(),
    cpu: 1,
    memory_bytes: 2 ** 30,
  };
  const disk = { id: randomUUID(), name: "boot", kind: "boot", size_bytes: BYTES };
  const image_path = await fetchFor(keeping(0), "one", image);
  const plan = { instance, image, disks: [disk], nics: [], image_path };
  // The cast is safe, because createDisks reads only these parts of a plan.
  await agent.driver.vms.createDisks(plan as unknown as Parameters<typeof agent.driver.vms.createDisks>[0]);
  const cache = keeping(0);
  const other = newImage();
  await fetchFor(cache, "two", other);
  await cache.release(agent, "two");
  expect(await kept()).toEqual(named(image));
  await agent.driver.vms.destroy(instance.id);
  await fetchFor(cache, "three", other);
  await cache.release(agent, "three");
  expect(await kept()).toEqual([]);
});

describe("a node reports that it has no room for an image", () => {
  /** More bytes than any disk has. */
  const HUGE = 2 ** 52;
  const failed = (image: Served, prepare?: ImageStorage["prepare"]) => {
    const images = prepare === undefined ? null : { folder: join(agent.state_dir, "images"), prepare };
    const own = { ...agent, driver: { ...agent.driver, images } };
    const fetched = createImageCache(own).fetch(own, image, { ...use, job_id: "one" });
    return fetched.then(() => null, ({ message, detail }) => ({ message, detail: String(detail) }));
  };

  test("if the download is too large", async () => {
    const { message, detail } = await failed({ ...newImage(), size_bytes: HUGE }) ?? {};
    expect(message).toBe(NO_ROOM);
    expect(detail).toContain(`the image needs ${HUGE}`);
  });

  test("if running downloads need the free space", async () => {
    const { bavail, bsize } = await statfs(agent.state_dir);
    const size_bytes = Math.floor(bavail * bsize * 0.6);
    const [first, second] = [{ ...newImage(), size_bytes }, { ...newImage(), size_bytes }];
    const gate = Promise.withResolvers<void>();
    holds.set(first.sha256, gate.promise);
    const cache = keeping(0);
    const running = fetchFor(cache, "first", first).catch((error) => error as Error);
    await expect.poll(() => asked).toContain(first.sha256);
    await expect(fetchFor(cache, "second", second)).rejects.toThrow(NO_ROOM);
    gate.resolve();
    // The server has fewer bytes than the image should have.
    expect((await running as Error).message).toBe(NOT_FETCHED);
    await expect(fetchFor(cache, "second", second), "the first download has ended").rejects.toThrow(NOT_FETCHED);
  });

  test("if only the prepared image is too large, after unused images were removed", async () => {
    const cache = keeping(2 * BYTES);
    const unused = newImage();
    await fetchFor(cache, "unused", unused);
    await cache.release(agent, "unused");
    expect(await kept()).toEqual(named(unused));
    const image = newImage();
    const { message, detail } = await failed(image, (_source, _target, { makeRoom }) => makeRoom(HUGE)) ?? {};
    expect(message).toBe(NO_ROOM);
    expect(detail).toContain(`the image needs ${HUGE}`);
    expect(await kept(), "only the download is kept").toEqual([expect.stringContaining(`.${image.sha256}.`)]);
  });

  test("if the disk becomes full during the preparation", async () => {
    const full = () => Promise.reject(new Error("qemu-img: error while writing: No space left on device"));
    expect(await failed(newImage(), full)).toMatchObject({
      message: NO_ROOM,
      detail: expect.stringMatching(/No space/),
    });
  });
});
