// Tests the fetches that `opsctl` makes for addresses in an index, with the compiled program, a running server, and a
// user's index with addresses of this machine. docs/reliability.md S-25 and S-47.
import { spawnSync } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Artifact } from "../../cli/image/model.ts";
import { telling } from "../cli/image/file-server.ts";
import { IMAGE_PATH, startVendor, SUMS_PATH, type Vendor } from "../cli/image/vendor.ts";
import { okOf } from "../support/control-plane.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, type Ended, run } from "../processes/executables.ts";
import { type FetchFixture, openFetchFixture, REDIRECT_CODES } from "./fetch-fixture.ts";
import { spellings } from "./special-addresses.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SLOW_MS = 180_000;

let fixture: FetchFixture;
let folder: TemporaryFolder;
let vendor: Vendor;

beforeAll(async () => {
  await buildExecutables();
  [fixture, folder] = await Promise.all([openFetchFixture(), temporaryFolder("imports")]);
}, SLOW_MS);
beforeEach(async () => {
  vendor = await startVendor();
  return () => vendor.close();
});
afterAll(async () => {
  await fixture?.close();
  await folder?.remove();
});

const opsctl = (command: string, env: Record<string, string> = {}): Promise<Ended> =>
  run("opsctl", command.split(" "), {
    env: { OPSCTL_ENDPOINT: fixture.server.url, OPSCTL_API_KEY: ROOT_KEY, HOME: folder.path, ...env },
  });
const imported = (options = "", env: Record<string, string> = {}) =>
  opsctl(`image import ubuntu/lts --index ${vendor.base} ${options}`.trim(), env);
const located = (url: string) => vendor.artifact = { ...vendor.artifact, locations: [{ url }] } as Artifact;
const images = async () => okOf(await fixture.call("GET", "/v1/images?scope=public")).items;

describe("S-25, S-47: addresses of this machine in an index are not fetched", () => {
  test("as the location of an image, in any spelling", async () => {
    const plain = spellings("127.0.0.1", fixture.target.port, "/image");
    const urls = [
      ...plain,
      ...plain.map((url) => url.replace("http:", "https:")),
      `http://localhost:${fixture.target.port}/i`,
    ];
    for (const url of urls) {
      located(url);
      const { code, err } = await imported("--download --trust-index");
      expect([url, code, err]).toEqual([url, 1, expect.stringMatching(/is not a public address|must be https/)]);
    }
    expect(fixture.target.connections()).toBe(0);
    expect(await images()).toEqual([]);
  }, SLOW_MS);

  test.each(REDIRECT_CODES)("by a redirect with status %i", async (code) => {
    const locations = [spellings("127.0.0.1", fixture.target.port)[0]!, `https://[::1]:${fixture.target.port}/`];
    for (const location of locations) {
      vendor.wrong.set(IMAGE_PATH, telling(code, { location }));
      const ended = await imported("--download --trust-index");
      expect([ended.code, ended.err]).toEqual([1, expect.stringContaining("is not a public address")]);
    }
    expect(fixture.target.connections()).toBe(0);
  });

  test("as the vendor's list of hashes, which is fetched even without a download", async () => {
    const [digest] = vendor.artifact.integrity!.digests!;
    const url = `https://[::ffff:7f00:1]:${fixture.target.port}/SHA256SUMS`;
    const source = { ...digest!.source!, url };
    vendor.artifact = { ...vendor.artifact, integrity: { digests: [{ ...digest!, source }] } };
    const { code, err } = await imported();
    expect([code, err]).toEqual([1, expect.stringContaining("is not a public address")]);
    expect(fixture.target.connections()).toBe(0);
  });

  test("unless the operator's setting or the environment variable allows the network", async () => {
    const allow = async (value: readonly string[]) =>
      expect((await opsctl(`config set fetch.allowed_private ${JSON.stringify(value)}`)).code).toBe(0);
    located(`http://127.0.0.1:${fixture.target.port}/image`);
    await allow(["127.0.0.0/8"]);
    await imported("--download");
    expect(fixture.target.connections()).toBeGreaterThan(0);
    await allow([]);
    const before = fixture.target.connections();
    await imported("--download", { BERTH_FETCH_ALLOWED_PRIVATE: "127.0.0.0/8" });
    expect(fixture.target.connections()).toBeGreaterThan(before);
    const refused = await imported("--download", { BERTH_FETCH_ALLOWED_PRIVATE: "loopback" });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("BERTH_FETCH_ALLOWED_PRIVATE must be")]);
  });
});

test("S-47: the user's index may be at a private address, but an import of an image with a private location is refused", async () => {
  const { code, err } = await imported();
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining("source_url: must have a public address")]);
  expect(code).not.toBe(0);
  expect(vendor.asked.some((asked) => asked.startsWith(SUMS_PATH))).toBe(true);
  expect(await images()).toEqual([]);
});

test(
  "S-25: the program connects to the address that it checked, even if the resolver changes its answer",
  async (context) => {
    const isolated = ["--net", "--mount", "--propagation", "private"];
    const possible = spawnSync("unshare", [...isolated, "ip", "link", "set", "lo", "up"]).status === 0;
    context.skip(!possible, "this machine does not permit namespaces");
    const site = join(folder.path, "index");
    await mkdir(join(site, "v1"), { recursive: true });
    located("https://rebinding.example/image");
    await writeFile(join(site, "v1/images.json"), vendor.files.get("/v1/images.json")!);
    const resolv = join(folder.path, "resolv.conf");
    await writeFile(resolv, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    await cp("/etc/nsswitch.conf", join(folder.path, "nsswitch.conf")).catch(() => {});
    const prepared =
      `ip link set lo up && ip addr add 93.184.216.34/32 dev lo && mount --bind ${resolv} /etc/resolv.conf`;
    const argv = [
      "image",
      "download",
      "ubuntu/lts",
      "--index",
      site,
      "--to",
      folder.path,
      "--trust-index",
      "--no-verify",
    ];
    const program = [
      process.execPath,
      "run",
      "-A",
      "tests/support/programs/rebinding-site.ts",
      join(ROOT, "dist/opsctl"),
    ];
    const { stdout, stderr } = spawnSync("unshare", [
      ...isolated,
      "sh",
      "-c",
      `${prepared} && exec "$@"`,
      "sh",
      ...program,
      ...argv,
    ], {
      cwd: ROOT,
      encoding: "utf8",
    });
    const seen = JSON.parse(stdout || `{"said": ${JSON.stringify(stderr)}}`);
    expect(seen).toMatchObject({
      public_connections: 1,
      loopback_connections: 0,
      said: expect.stringContaining("rebinding.example resolves to 127.0.0.1, which is not a public address"),
    });
    expect(seen.questions).toBeGreaterThan(1);
  },
  SLOW_MS,
);
