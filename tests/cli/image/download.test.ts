// Downloads images. The client gives a file its final name only after the file matched the listed hash, or if
// --no-verify is passed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Artifact } from "../../../cli/image/model.ts";
import { cutting, etagOf, serve, telling } from "./file-server.ts";
import { filesIn, newFolder } from "./folder.ts";
import { type Options, tenantctl } from "./tenantctl.ts";
import { CONTENT, hexOf, IMAGE_PATH, pattern, startVendor, SUMS_PATH, type Vendor } from "./vendor.ts";

const NAME = "noble-amd64.qcow2";
let vendor: Vendor;
let to: string;

beforeEach(async () => {
  vendor = await startVendor();
  to = newFolder();
});
afterEach(() => vendor.close());

function download(argv: readonly string[] = [], options: Options = {}) {
  return tenantctl(["image", "download", "ubuntu/noble", "--index", vendor.base, "--to", to, ...argv], options);
}

function imageRequests(): string[] {
  return vendor.asked.filter((line) => line.startsWith(IMAGE_PATH)).map((line) => line.slice(IMAGE_PATH.length).trim());
}

function expectWhole(): void {
  expect(filesIn(to)).toEqual([NAME]);
  expect(readFileSync(join(to, NAME)).equals(CONTENT)).toBe(true);
}

/** Expects that no file with the final name exists. An unfinished download may exist. */
function expectNone(): void {
  expect(filesIn(to).filter((path) => !path.includes(".part/"))).toEqual([]);
}

function changeDigest(change: (artifact: Artifact) => Artifact): void {
  vendor.artifact = change(vendor.artifact);
}

test("an image is downloaded, verified against the vendor's list and saved under the vendor's name", async () => {
  const ran = await download();
  expect(ran.err()).toBe("");
  expect(ran.code).toBe(0);
  expectWhole();
  expect(JSON.parse(ran.out())).toEqual({
    file: join(to, NAME),
    image: "ubuntu/noble/20261001",
    variant: "server",
    arch: "x86_64",
    format: "qcow2",
    from: vendor.base + IMAGE_PATH,
    bytes: CONTENT.length,
    already_there: false,
    digest_from: "vendor",
    signed_by: [],
  });
});

test("on a terminal the proof of the image is printed and the progress is erased", async () => {
  const ran = await download([], { isTTY: true });
  expect(ran.out()).toBe(
    `${join(to, NAME)}: ubuntu/noble/20261001, 293.0KiB, verified against the vendor's checksums\n`,
  );
  expect(ran.err()).toMatch(/100 % of 293\.0KiB, .*\/s {2}downloading ubuntu\/noble\/20261001/);
  expect(ran.err().endsWith("\r\u001b[K")).toBe(true);
});

describe("an interrupted download", () => {
  test("is resumed if the file on the server has not changed", async () => {
    vendor.wrong.set(IMAGE_PATH, cutting(100_000, 2));
    const ran = await download();
    expect(ran.code).toBe(0);
    expectWhole();
    const [first, second, third] = imageRequests();
    expect(first).toBe("");
    const froms = [second, third].map((line) => Number(/^bytes=([0-9]+)-/.exec(line!)![1]));
    expect(froms[0]).toBeGreaterThan(0);
    expect(froms[1]).toBeGreaterThan(froms[0]!);
    expect([second, third].every((line) => line!.endsWith(` ${etagOf(CONTENT)}`))).toBe(true);
  });

  test("is kept, and the next run of the command requests only the rest", async () => {
    vendor.wrong.set(IMAGE_PATH, cutting(100_000, 1));
    let images = 0;
    const ran = await download([], {
      onFetch: (fake, url) => {
        if (url.endsWith(IMAGE_PATH) && ++images === 2) fake.abort();
      },
    });
    expect(ran.code).toBe(130);
    expectNone();
    expect(filesIn(to).some((path) => path.endsWith(".part/content"))).toBe(true);
    const again = await download();
    expect(again.code).toBe(0);
    expectWhole();
    expect(imageRequests().at(-1)).toMatch(/^bytes=[1-9][0-9]*- /);
  });

  test("is started again if the file on the server has changed", async () => {
    const next = pattern(CONTENT.length, 77);
    vendor.wrong.set(IMAGE_PATH, (request, response) => {
      vendor.wrong.delete(IMAGE_PATH);
      return cutting(100_000)(request, response, next);
    });
    const ran = await download();
    expect(ran.code).toBe(0);
    expectWhole();
    expect(imageRequests().at(-1)).toContain(etagOf(next));
  });

  test("fails after five consecutive tries without new bytes", async () => {
    vendor.wrong.set(IMAGE_PATH, cutting(0));
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(imageRequests()).toHaveLength(5);
    expectNone();
  });

  test("continues as long as each try brings new bytes", async () => {
    vendor.wrong.set(IMAGE_PATH, cutting(20_000));
    const ran = await download();
    expect(ran.code).toBe(0);
    expect(imageRequests().length).toBeGreaterThan(5);
    expectWhole();
  });

  test("is retried, and each pause before a retry is longer than the previous pause", async () => {
    vendor.wrong.set(IMAGE_PATH, telling(503, {}));
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("status 503");
    expect(ran.slept_ms).toHaveLength(4);
    expect(ran.slept_ms.every((ms, i) => i === 0 || ms > ran.slept_ms[i - 1]!)).toBe(true);
  });
});

describe("a server with wrong range responses", () => {
  test.each<[string, Record<string, string>]>([
    ["another offset", { "content-range": `bytes 5-${CONTENT.length - 1}/${CONTENT.length}` }],
    ["no offset", {}],
    ["another unit", { "content-range": `lines 1-2/3` }],
  ])("(%s) gets another request for the whole file", async (_name, headers) => {
    let cut = false;
    vendor.wrong.set(IMAGE_PATH, (request, response, body) => {
      if (request.headers.range !== undefined) return telling(206, headers, body)(request, response, body);
      if (cut) return false;
      cut = true;
      return cutting(100_000)(request, response, body);
    });
    const ran = await download();
    expect(ran.err()).toBe("");
    expect(ran.code).toBe(0);
    expectWhole();
  });

  test("fails the download if all its range responses are wrong", async () => {
    vendor.wrong.set(IMAGE_PATH, telling(206, {}, CONTENT));
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("handles range requests incorrectly");
    expectNone();
  });

  test("that sends parts of two versions of the file gets one more request for the whole file", async () => {
    vendor.wrong.set(IMAGE_PATH, (request, response, body) => {
      if (request.headers.range === undefined && imageRequests().length > 1) return false;
      if (request.headers.range === undefined) return cutting(100_000)(request, response, body);
      // The server ignores If-Range.
      delete request.headers["if-range"];
      serve(request, response, pattern(body.length, 5));
      return true;
    });
    const ran = await download();
    expect(ran.code).toBe(0);
    expectWhole();
    expect(imageRequests().map((line) => line.slice(0, 6))).toEqual(["", "bytes=", ""]);
  });
});

describe("bytes that differ from the vendor's listing", () => {
  test("are never saved under the final name", async () => {
    vendor.files.set(IMAGE_PATH, pattern(CONTENT.length, 66));
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("do not match the hash in the index");
    expect(filesIn(to)).toEqual([]);
  });

  test("make the client try the next location", async () => {
    vendor.files.set(IMAGE_PATH, pattern(CONTENT.length, 66));
    const mirror = vendor.put("/mirror/noble.qcow2", CONTENT);
    changeDigest((artifact) => ({ ...artifact, locations: [...artifact.locations, { url: mirror }] }));
    const ran = await download();
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.out()).from).toBe(mirror);
    expectWhole();
  });

  test.each([
    ["another length", (body: Uint8Array) => body.subarray(0, 1_000)],
    ["one byte too many", (body: Uint8Array) => new Uint8Array([...body, 1])],
  ])("(%s) are rejected after one request because of their length", async (_name, change) => {
    vendor.files.set(IMAGE_PATH, change(CONTENT));
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain(`the index lists ${CONTENT.length}`);
    expect(imageRequests()).toHaveLength(1);
    expect(filesIn(to)).toEqual([]);
  });

  test("without a length are rejected as soon as they exceed the listed size", async () => {
    vendor.wrong.set(IMAGE_PATH, (_request, response, body) => {
      response.writeHead(200);
      response.write(body);
      response.end(body);
      return true;
    });
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain(`more than ${CONTENT.length} bytes`);
    expect(filesIn(to)).toEqual([]);
  });

  test("with a content encoding are rejected", async () => {
    vendor.wrong.set(IMAGE_PATH, telling(200, { "content-encoding": "gzip" }, gzipSync(pattern(CONTENT.length, 66))));
    const ran = await download();
    expect(ran.code).toBe(1);
    expectNone();
  });
});

describe("the vendor's own document", () => {
  test("with another hash fails the command before the download", async () => {
    vendor.put(SUMS_PATH, `${"0".repeat(64)} *${NAME}\n`);
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("the vendor and the index disagree");
    expect(imageRequests()).toEqual([]);
    expect(filesIn(to)).toEqual([]);
  });

  test.each([
    ["is gone", null],
    ["is an error page", "<html>not here</html>"],
    ["lists other files only", `${"0".repeat(64)} *other.qcow2\n`],
    ["lists two hashes of one name", `${"0".repeat(64)} *${NAME}\n${"1".repeat(64)} *${NAME}\n`],
  ])("that %s fails the command if --trust-index is not passed", async (_name, text) => {
    if (text === null) vendor.files.delete(SUMS_PATH);
    else vendor.put(SUMS_PATH, text);
    expect((await download()).code).not.toBe(0);
    expect(imageRequests()).toEqual([]);
    const ran = await download(["--trust-index"]);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.out()).digest_from).toBe("index");
    expectWhole();
  });

  test("proves nothing if its format is unknown; then only the hash in the index proves the image", async () => {
    changeDigest((artifact) => ({
      ...artifact,
      integrity: {
        digests: [{
          algorithm: "sha256",
          value: hexOf("sha256", CONTENT),
          source: { url: `${vendor.base}/feed.json`, format: "vendor_document", filename: null },
        }],
      },
    }));
    const ran = await download();
    expect(JSON.parse(ran.out()).digest_from).toBe("index");
    expectWhole();
  });

  test("that contains only a sha512 hash proves the image", async () => {
    const ran = await tenantctl(["image", "download", "alpine/latest", "--index", vendor.base, "--to", `${to}/a.img`]);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.out())).toMatchObject({ digest_from: "vendor", bytes: 9_000, file: `${to}/a.img` });
  });
});

describe("an image without a hash", () => {
  const withoutHash = (artifact: Artifact): Artifact => ({ ...artifact, integrity: null });

  test("is rejected without --no-verify", async () => {
    changeDigest(withoutHash);
    const refused = await download();
    expect(refused.code).toBe(1);
    expect(refused.err()).toContain("--no-verify");
    expect(imageRequests()).toEqual([]);
    const taken = await download(["--no-verify"]);
    expect(taken.code).toBe(0);
    expect(JSON.parse(taken.out()).digest_from).toBe("none");
    expectWhole();
  });

  test("is rejected in the same way as an image whose only hash has an unknown algorithm", async () => {
    changeDigest((artifact) => ({
      ...artifact,
      integrity: { digests: [{ algorithm: "blake3", value: "0".repeat(64) }] },
    }));
    expect((await download()).code).toBe(1);
    expectNone();
  });

  test("must still have the size that the index lists", async () => {
    changeDigest((artifact) => ({ ...withoutHash(artifact), size: 5 }));
    expect((await download(["--no-verify"])).code).toBe(1);
    expectNone();
  });
});

describe("an existing file", () => {
  test("that is the requested image is not downloaded again", async () => {
    writeFileSync(join(to, NAME), CONTENT);
    const ran = await download();
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.out())).toMatchObject({ already_there: true, from: null });
    expect(imageRequests()).toEqual([]);
  });

  test("with other content is not overwritten", async () => {
    writeFileSync(join(to, NAME), "mine");
    const ran = await download();
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("is a different file");
    expect(readFileSync(join(to, NAME), "utf8")).toBe("mine");
  });
});

describe("URLs", () => {
  const at = (url: string) => changeDigest((artifact) => ({ ...artifact, locations: [{ url }] }));

  test.each([
    "http://vendor.example/a.qcow2",
    "ftp://127.0.0.1/a",
    "file:///etc/passwd",
    "https://user:pw@vendor.example/a",
    "nonsense",
  ])("such as %s are rejected before a request", async (url) => {
    at(url);
    const asked: string[] = [];
    const ran = await download([], { onFetch: (_fake, each) => asked.push(each) });
    expect(ran.code).toBe(1);
    expect(asked.every((each) => each.startsWith(vendor.base))).toBe(true);
    expect(ran.err()).not.toContain("pw@");
    expectNone();
  });

  test("with three redirects are followed, and URLs with four redirects are refused", async () => {
    for (let i = 1; i <= 4; i++) vendor.wrong.set(`/hop${i}`, telling(302, { location: `/hop${i - 1}` }));
    vendor.files.set("/hop0", CONTENT);
    at(`${vendor.base}/hop3`);
    expect((await download(["--to", join(to, NAME)])).code).toBe(0);
    expectWhole();
    at(`${vendor.base}/hop4`);
    const ran = await download(["--to", join(to, "second")]);
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("more than 3 redirects");
  });

  test.each(["http://vendor.example/x", "file:///etc/passwd", "//", ""])(
    "that redirect to %j are rejected before a request to that address",
    async (location) => {
      vendor.wrong.set(IMAGE_PATH, telling(302, { location }));
      const asked: string[] = [];
      const ran = await download([], { onFetch: (_fake, each) => asked.push(each) });
      expect(ran.code).toBe(1);
      expect(asked.every((each) => each.startsWith(vendor.base))).toBe(true);
      expectNone();
    },
  );
});
