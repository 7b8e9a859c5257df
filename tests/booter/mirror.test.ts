// The mirror of the install channel serves only verified files, and continues to serve them if the upstream is broken.
import { createHash } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fetchSmall, type Mirror, openMirror } from "../../booter/mirror/mirror.ts";
import { openHttp } from "../../booter/http/server.ts";
import { NOT_FOUND } from "../../booter/http/answer.ts";
import { newCounters } from "../../booter/counters.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { httpAsk } from "./site.ts";

const DAY_MS = 86_400_000;
const NOW = Date.now();
const BASE = "https://install.example/berth/";
type Key = openpgp.PrivateKey;
let ours: Key;
let stranger: Key;
let folder: TemporaryFolder;
beforeAll(async () => {
  const made = () =>
    openpgp.generateKey({
      userIDs: [{ name: "Channel" }],
      type: "ecc",
      format: "object",
      date: new Date(NOW - 30 * DAY_MS),
    });
  [ours, stranger] = [(await made()).privateKey, (await made()).privateKey];
});
beforeEach(async () => {
  folder = await temporaryFolder("mirror");
  return () => folder.remove();
});

const FILES: Readonly<Record<string, string>> = {
  "install.sh": "#!/bin/sh\necho hi\n",
  "opsctl-1.0.tar.gz": "a tarball",
};
const entry = (name: string, text: string) => ({
  name,
  sha256: createHash("sha256").update(text).digest("hex"),
  bytes: text.length,
});

type Upstream = { web: Map<string, Uint8Array>; asked: string[] };

/** Publishes a signed channel with `files`. `listed` replaces the list of files in channel.json. */
async function publish(
  upstream: Upstream,
  given: { key?: Key; at?: number; files?: Record<string, string>; listed?: unknown[] } = {},
) {
  const { key = ours, at = NOW - DAY_MS, files = FILES } = given;
  const listed = given.listed ?? Object.entries(files).map(([name, text]) => entry(name, text));
  const document = new TextEncoder().encode(JSON.stringify({ files: listed }));
  const signature = await openpgp.sign({
    message: await openpgp.createMessage({ binary: document }),
    signingKeys: key,
    detached: true,
    date: new Date(at),
  });
  upstream.web.set("channel.json", document);
  upstream.web.set("channel.json.asc", new TextEncoder().encode(signature as string));
  for (const [name, text] of Object.entries(files)) upstream.web.set(name, new TextEncoder().encode(text));
}

function open(upstream: Upstream, now = () => new Date(NOW)): { mirror: Mirror; log: string[] } {
  const log: string[] = [];
  const mirror = openMirror({
    channel_url: `${BASE}channel.json`,
    key: new TextEncoder().encode(ours.toPublic().armor()),
    folder: folder.path,
    now,
    log: (event, fields = {}) => void log.push(`${event} ${Object.values(fields).join(" ")}`),
    fetch: ((url: string) => {
      upstream.asked.push(url.slice(BASE.length));
      const bytes = url.startsWith(BASE) ? upstream.web.get(url.slice(BASE.length)) : undefined;
      return Promise.resolve(bytes === undefined ? new Response("", { status: 404 }) : new Response(bytes as BodyInit));
    }) as typeof fetch,
  });
  return { mirror, log };
}
const upstreamOf = (): Upstream => ({ web: new Map(), asked: [] });

async function served(mirror: Mirror, path: string) {
  const http = await openHttp({
    address: "127.0.0.1",
    port: 0,
    handler: async (asked) => await mirror.handle(asked) ?? NOT_FOUND,
    counters: newCounters(),
    log: () => {},
  });
  try {
    return await httpAsk(http.port, path);
  } finally {
    await http.close();
  }
}

test("the mirror serves the install script, the channel and the tarballs only after it has verified all of them", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  const { mirror } = open(upstream);
  expect((await served(mirror, "/install.sh")).status).toBe(404);
  expect(await mirror.refresh()).toBe(true);
  expect((await served(mirror, "/install.sh")).text).toBe(FILES["install.sh"]);
  expect((await served(mirror, "/opsctl-1.0.tar.gz")).text).toBe("a tarball");
  expect((await served(mirror, "/channel.json")).body).toEqual(upstream.web.get("channel.json"));
  expect((await served(mirror, "/other.tar.gz")).status).toBe(404);
  expect((await served(mirror, "/channel.json.asc")).body).toEqual(upstream.web.get("channel.json.asc"));
});

describe("S-26: the mirror serves nothing of a channel", () => {
  test.each<[string, (upstream: Upstream) => Promise<void> | void]>([
    ["that another key signed", (upstream) => publish(upstream, { key: stranger })],
    ["that was changed after signing", (upstream) => {
      const text = new TextDecoder().decode(upstream.web.get("channel.json"));
      upstream.web.set("channel.json", new TextEncoder().encode(text.replace("install.sh", "install.sh ")));
    }],
    ["without a signature", (upstream) => void upstream.web.delete("channel.json.asc")],
    [
      "whose script was replaced",
      (upstream) => void upstream.web.set("install.sh", new TextEncoder().encode("#!/bin/sh\nevil 12\n")),
    ],
    [
      "whose tarball is too long",
      (upstream) => void upstream.web.set("opsctl-1.0.tar.gz", new TextEncoder().encode("a tarball!")),
    ],
    ["whose tarball is missing", (upstream) => void upstream.web.delete("opsctl-1.0.tar.gz")],
    [
      "without an install script",
      (upstream) => publish(upstream, { listed: [entry("opsctl-1.0.tar.gz", "a tarball")] }),
    ],
    [
      "with a file outside its folder",
      (upstream) =>
        publish(upstream, { listed: [entry("install.sh", FILES["install.sh"]!), entry("../x.tar.gz", "x")] }),
    ],
    [
      "with a file name that is a route of the booter",
      (upstream) => publish(upstream, { listed: [entry("install.sh", FILES["install.sh"]!), entry("time", "x")] }),
    ],
    [
      "that lists a file twice",
      (upstream) =>
        publish(upstream, { listed: [entry("install.sh", FILES["install.sh"]!), entry("install.sh", "x")] }),
    ],
  ])("%s", async (_name, spoil) => {
    const upstream = upstreamOf();
    await publish(upstream);
    await spoil(upstream);
    const { mirror, log } = open(upstream);
    expect(await mirror.refresh()).toBe(false);
    expect(log[0]).toMatch(/^mirror\.refused /);
    for (const path of ["/install.sh", "/channel.json", "/channel.json.asc", "/opsctl-1.0.tar.gz"]) {
      expect((await served(mirror, path)).status).toBe(404);
    }
    expect((await readdir(folder.path)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

test("the mirror continues to serve its channel if the next channel is invalid or older", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  const { mirror, log } = open(upstream);
  await mirror.refresh();
  await publish(upstream, { at: NOW - 2 * DAY_MS, files: { "install.sh": "an older one" } });
  expect(await mirror.refresh()).toBe(false);
  expect(log.at(-1)).toContain("older");
  await publish(upstream, { key: stranger, files: { "install.sh": "a stranger's" } });
  expect(await mirror.refresh()).toBe(false);
  expect((await served(mirror, "/install.sh")).text).toBe(FILES["install.sh"]);
  await publish(upstream, { at: NOW - 1_000, files: { "install.sh": "a newer one" } });
  expect(await mirror.refresh()).toBe(true);
  expect((await served(mirror, "/install.sh")).text).toBe("a newer one");
});

test("after a restart the mirror serves its stored channel and fetches no file; if a stored file was changed, it serves no channel", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  await open(upstream).mirror.refresh();
  const again = open(upstream);
  await again.mirror.restore();
  expect((await served(again.mirror, "/install.sh")).text).toBe(FILES["install.sh"]);
  upstream.asked = [];
  await again.mirror.refresh();
  expect(upstream.asked).toEqual(["channel.json", "channel.json.asc"]);
  const kept = entry("install.sh", FILES["install.sh"]!).sha256;
  await writeFile(join(folder.path, kept), FILES["install.sh"]!.replace("hi", "no"));
  const third = open(upstream);
  await third.mirror.restore();
  expect((await served(third.mirror, "/install.sh")).status).toBe(404);
});

test("after a restart the mirror still refuses an older channel, even if the mirror lost a stored file", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  await open(upstream).mirror.refresh();
  await rm(join(folder.path, entry("install.sh", FILES["install.sh"]!).sha256));
  const again = open(upstream);
  await again.mirror.restore();
  expect((await served(again.mirror, "/install.sh")).status).toBe(404);
  await publish(upstream, { at: NOW - 2 * DAY_MS, files: { "install.sh": "an older one" } });
  expect(await again.mirror.refresh()).toBe(false);
  expect(again.log.at(-1)).toContain("older");
  await publish(upstream);
  expect(await again.mirror.refresh()).toBe(true);
});

test("after a start with a wrong clock the mirror still refuses an older channel", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  await open(upstream).mirror.refresh();
  let at = NOW - 3 * DAY_MS;
  const again = open(upstream, () => new Date(at));
  await again.mirror.restore();
  at = NOW;
  await publish(upstream, { at: NOW - 2 * DAY_MS, files: { "install.sh": "an older one" } });
  expect(await again.mirror.refresh()).toBe(false);
  expect(again.log.at(-1)).toContain("older");
  await publish(upstream);
  expect(await again.mirror.refresh()).toBe(true);
});

test.each([
  ["cannot be read", (path: string) => mkdir(path), "taken.json: cannot be read"],
  [
    "is damaged",
    (path: string) => writeFile(path, '{"document":'),
    "taken.json: is damaged; remove the mirror's folder",
  ],
])("the mirror accepts no channel while its stored channel %s", async (_name, damage, reason) => {
  const upstream = upstreamOf();
  await publish(upstream);
  await open(upstream).mirror.refresh();
  await rm(join(folder.path, "taken.json"));
  await damage(join(folder.path, "taken.json"));
  const again = open(upstream);
  await again.mirror.restore();
  expect(await again.mirror.refresh()).toBe(false);
  expect(again.log.at(-1)).toContain(reason);
  await rm(join(folder.path, "taken.json"), { recursive: true });
  expect(await again.mirror.refresh()).toBe(true);
});

test("when the mirror has taken a new channel, it deletes the files of the previous channel", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  const { mirror } = open(upstream);
  await mirror.refresh();
  await publish(upstream, { at: NOW - 1_000, files: { "install.sh": "a newer one" } });
  expect(await mirror.refresh()).toBe(true);
  expect((await readdir(folder.path)).sort()).toEqual([entry("", "a newer one").sha256, "taken.json"].sort());
});

test("the mirror refuses an endless channel.json before it has read 2 MB", async () => {
  const upstream = upstreamOf();
  await publish(upstream);
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const ask = (() => Promise.resolve(new Response(endless))) as typeof fetch;
  await expect(fetchSmall(ask, `${BASE}channel.json`)).rejects.toThrow("is too long");
  expect(sent).toBeLessThan(2_000_000);
});
