// Tests the image commands of opsctl and tenantctl, with a real control plane and with an image index and a vendor on
// this machine.
import { randomUUID } from "node:crypto";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../../cli/internal/run.ts";
import type { Environment } from "../../cli/internal/environment.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { runTenantctl } from "../../cli/tenantctl/program.ts";
import { serverOf } from "../cli/at-control-plane.ts";
import { ENDPOINT, type FakeEnvironment, fakeEnvironment } from "../cli/fake-environment.ts";
import { CONTENT, hexOf, IMAGE_PATH, pattern, startVendor, SUMS_PATH, type Vendor } from "../cli/image/vendor.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { insertInstance } from "../support/instance-row.ts";
import { needs, present } from "../support/optional-programs.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

let t: TestControlPlane;
let acme: TestTenant;
let vendor: Vendor;
beforeAll(async () => {
  t = await openTestControlPlane({ env: LOOPBACK_ALLOWED });
  acme = await openTenant(t, "acme");
});
afterAll(() => t.close());
beforeEach(async () => {
  for (const { id } of await publicImages()) okOf(await t.call("DELETE", `/v1/images/${id}`));
  vendor = await startVendor();
  return () => vendor.close();
});

type Ran = Pick<FakeEnvironment, "out" | "err"> & { readonly code: number };

/** Returns an environment that reaches the control plane without sockets, and the vendor at a loopback address. */
function environmentAt(env: Record<string, string>): FakeEnvironment {
  const fake = fakeEnvironment({ env: { ...env, NO_COLOR: "1" }, server: serverOf(t), newId: randomUUID, isTTY: true });
  const environment: Environment = {
    ...fake.environment,
    fetch: (url, init) => url.startsWith(ENDPOINT) ? fake.environment.fetch(url, init) : fetch(url, init),
  };
  return { ...fake, environment };
}

async function opsctl(argv: string): Promise<Ran> {
  const fake = environmentAt({ OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_API_KEY: ROOT_KEY, OPSCTL_INDEX: vendor.base });
  const line = argv.split(" ");
  return { ...fake, code: await runCommand(await buildProgram(line), line, fake.environment) };
}

async function tenantctl(argv: string, env: Record<string, string> = {}): Promise<Ran> {
  const fake = environmentAt({ TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: acme.key, ...env });
  return { ...fake, code: await runTenantctl(argv.split(" "), fake.environment) };
}

async function printed(ran: Promise<Ran>): Promise<string> {
  const { code, out, err } = await ran;
  expect(code, err()).toBe(0);
  return out();
}

const publicImages = async () => okOf(await t.call("GET", "/v1/images?scope=public")).items;
const UBUNTU = "ubuntu-noble-20261001-x86_64";

describe("opsctl image import", () => {
  test("stores digest, size and address of a build that the vendor's list confirms", async () => {
    const made = JSON.parse(await printed(opsctl("image import ubuntu/lts --min-platform 20260101T000000Z --json")));
    expect(made).toMatchObject({
      name: UBUNTU,
      os: "ubuntu",
      version: "24.04",
      size_bytes: CONTENT.length,
      sha256: hexOf("sha256", CONTENT),
      source_url: vendor.base + IMAGE_PATH,
      scope: { kind: "public" },
      compatibility: { brand: "bhyve", arch: "x86_64", min_platform: "20260101T000000Z" },
      already_there: false,
      digest_from: "vendor",
      signed_by: [],
    });
    const { already_there: _there, digest_from: _from, signed_by: _by, ...record } = made;
    expect(await publicImages()).toEqual([record]);
    expect(vendor.asked.some((asked) => asked.startsWith(SUMS_PATH))).toBe(true);
    expect(vendor.asked.some((asked) => asked.startsWith(IMAGE_PATH))).toBe(false);
  });

  test("accepts a release, an alias or a build; an import of the same build again succeeds with a note", async () => {
    const first = await printed(opsctl("image import ubuntu/noble/20261001"));
    const [{ id }] = await publicImages();
    expect(first).toBe(
      `Imported ubuntu/noble/20261001 as ${UBUNTU} (${id}), verified against the vendor's checksums\n`,
    );
    for (const argv of ["ubuntu/latest", "ubuntu/24.04 --name other", "ubuntu/noble --download"]) {
      const again = await printed(opsctl(`image import ${argv}`));
      expect(again).toBe(`ubuntu/noble/20261001 is already imported as ${UBUNTU} (${id})\n`);
    }
    expect(JSON.parse(await printed(opsctl("image import ubuntu/lts --json")))).toMatchObject({
      id,
      already_there: true,
    });
    expect(await publicImages()).toHaveLength(1);
    await printed(opsctl("image import ubuntu/lts --arch aarch64 --name arm --brand kvm --description d"));
    expect(await publicImages()).toContainEqual(expect.objectContaining({
      name: "arm",
      description: "d",
      compatibility: { brand: "kvm", arch: "aarch64" },
    }));
  });

  test("rejects an image if the vendor lists another hash for it or does not list it", async () => {
    const sums = vendor.files.get(SUMS_PATH)!;
    vendor.put(SUMS_PATH, `${"0".repeat(64)} *noble-amd64.qcow2\n`);
    const differing = await opsctl("image import ubuntu/lts");
    expect([differing.code, differing.err()]).toEqual([
      1,
      expect.stringContaining("the vendor and the index disagree"),
    ]);
    vendor.files.delete(SUMS_PATH);
    expect((await opsctl("image import ubuntu/lts")).code).not.toBe(0);
    vendor.files.set(SUMS_PATH, sums);
    vendor.artifact = { ...vendor.artifact, integrity: { digests: [], signatures: [] } };
    for (const argv of ["", " --download", " --trust-index", " --download --trust-index"]) {
      const unlisted = await opsctl(`image import ubuntu/lts${argv}`);
      expect([argv, unlisted.code]).toEqual([argv, 1]);
    }
    expect(await publicImages()).toEqual([]);
  });

  test("rejects a hash that only the index lists, unless --trust-index is given", async () => {
    const [digest] = vendor.artifact.integrity!.digests!;
    vendor.artifact = { ...vendor.artifact, integrity: { digests: [{ ...digest!, source: null }] } };
    const refused = await opsctl("image import ubuntu/lts");
    expect([refused.code, refused.err()]).toEqual([1, expect.stringContaining("--trust-index")]);
    expect(await printed(opsctl("image import ubuntu/lts --trust-index"))).toContain("verified against the index");
  });

  test("requires --download if the index lacks SHA-256 or size, and takes both from the verified file", async () => {
    const refused = await opsctl("image import alpine/latest");
    expect([refused.code, refused.err()]).toEqual([1, expect.stringMatching(/SHA-256 and its size; pass --download/)]);
    const before = leftOvers();
    await printed(opsctl("image import alpine/latest --download"));
    const alpine = pattern(9_000, 9);
    expect(await publicImages()).toMatchObject([{ size_bytes: 9_000, sha256: hexOf("sha256", alpine), os: "alpine" }]);
    expect(await printed(opsctl("image import alpine/latest --download"))).toContain("is already imported");
    expect(leftOvers()).toEqual(before);
  });

  test("rejects a download that differs from the vendor's list", async () => {
    vendor.put("/alpine/alpine.qcow2", pattern(9_000, 10));
    const refused = await opsctl("image import alpine/latest --download");
    expect([refused.code, refused.err()]).toEqual([
      1,
      expect.stringContaining("do not match the hash in the index"),
    ]);
    expect(await publicImages()).toEqual([]);
  });

  /** The 200,000 bytes of a raw disk. The tests publish them in each file format. */
  const DISK = pattern(200_000, 11);
  const piped = (program: "bzip2" | "xz") => execFileSync(present(program), ["-c"], { input: DISK });
  const qcow2 = () => {
    const head = Buffer.alloc(64);
    head.writeUInt32BE(0x514649fb, 0);
    head.writeBigUInt64BE(20n * 2n ** 30n, 24);
    return Buffer.concat([head, DISK]);
  };

  /** Publishes this file at the vendor, and lists its digest and size in the index. */
  function publish(file: Uint8Array, compression: string): void {
    vendor.put(IMAGE_PATH, file);
    vendor.put(SUMS_PATH, `${hexOf("sha256", file)} *noble-amd64.qcow2\n`);
    const [digest] = vendor.artifact.integrity!.digests!;
    const digests = [{ ...digest!, value: hexOf("sha256", file) }];
    vendor.artifact = { ...vendor.artifact, compression, size: file.length, integrity: { digests } };
  }

  test.for<[compression: string, make: () => Uint8Array, content_bytes: number]>([
    ["gzip", () => gzipSync(DISK), DISK.length],
    ["zstd", () => zstdCompressSync(DISK), DISK.length],
    ["xz", () => piped("xz"), DISK.length],
    ["bzip2", () => piped("bzip2"), DISK.length],
    ["gzip", () => gzipSync(qcow2()), 20 * 2 ** 30],
    ["none", qcow2, 20 * 2 ** 30],
  ])(
    "measures the disk in a file with the compression %s (%#)",
    async ([compression, make, content_bytes], context) => {
      if (compression === "xz" || compression === "bzip2") needs(context, compression);
      const file = make();
      publish(file, compression);
      if (compression !== "none") {
        const refused = await opsctl("image import ubuntu/lts");
        expect([refused.code, refused.err()]).toEqual([1, expect.stringContaining("the size of the disk in it")]);
        expect(await publicImages()).toEqual([]);
      }
      const before = leftOvers();
      await printed(opsctl("image import ubuntu/lts --download"));
      expect(await publicImages()).toMatchObject([{
        size_bytes: file.length,
        content_bytes,
        sha256: hexOf("sha256", file),
      }]);
      expect(leftOvers()).toEqual(before);
    },
  );

  test("accepts --content-size for an unknown compression", async () => {
    publish(pattern(5_000, 3), "lz4");
    const refused = await opsctl("image import ubuntu/lts --download");
    expect([refused.code, refused.err()]).toEqual([1, expect.stringContaining("cannot decompress lz4")]);
    expect((await opsctl("image import ubuntu/lts --content-size 10GB")).code).toBe(2);
    await printed(opsctl("image import ubuntu/lts --content-size 10GiB"));
    expect(await publicImages()).toMatchObject([{ size_bytes: 5_000, content_bytes: 10 * 2 ** 30 }]);
  });

  test("rejects a file that does not match its compression, and leaves no temporary files", async () => {
    for (const compression of ["gzip", "zstd", "xz", "bzip2"]) {
      publish(pattern(5_000, 3), compression);
      const before = leftOvers();
      const refused = await opsctl("image import ubuntu/lts --download");
      expect([compression, refused.code]).toEqual([compression, 1]);
      expect([await publicImages(), leftOvers()]).toEqual([[], before]);
    }
  });

  test("with --signature, rejects an unsigned image", async () => {
    expect((await opsctl("image import ubuntu/lts --signature")).code).toBe(1);
    expect(await publicImages()).toEqual([]);
  });
});

test("opsctl image list shows the control plane's images, and image delete takes a name or a UUID", async () => {
  await printed(opsctl("image import ubuntu/lts --name first"));
  await printed(opsctl("image import ubuntu/lts --arch aarch64 --name second"));
  const [header, ...rows] = (await printed(opsctl("image list"))).trimEnd().split("\n");
  expect(header).toMatch(/^NAME +ID +OS +VERSION +BRAND +ARCH +SIZE +AGE$/);
  expect(rows.map((row) => row.split(/ {2,}/)[0]).sort()).toEqual(["first", "second"]);
  const { items } = JSON.parse(await printed(opsctl("image list --json")));
  const idOf = (wanted: string) => items.find(({ name }: { name: string }) => name === wanted).id;
  expect(await printed(opsctl("image delete first --yes"))).toBe(`Deleted image first (${idOf("first")})\n`);
  await t.db.query(insertInstance({ image_id: "$1" }), [idOf("second")]);
  const used = await opsctl(`image delete ${idOf("second")} --yes`);
  expect([used.code, used.err()]).toEqual([5, expect.stringContaining("in use by 1 instance")]);
  await t.db.query("delete from instance where image_id = $1", [idOf("second")]);
  await printed(opsctl(`image delete ${idOf("second")} --yes`));
  expect(await printed(opsctl("image list"))).toBe("(no images)\n");
});

test("tenantctl image list shows the images of the site, the tenant and the project; show prints the fields", async () => {
  await printed(opsctl("image import ubuntu/lts --name shared"));
  const body = (name: string) => ({
    name,
    os: "linux",
    version: "1",
    size_bytes: 7,
    sha256: hexOf("sha256", pattern(9, name.length)),
  });
  const tenantPath = `/v1/tenants/${acme.tenant_id}`;
  const own = okOf(await acme.call("POST", `${tenantPath}/images`, { body: body("own") }));
  const inProject = okOf(
    await acme.call("POST", `${tenantPath}/projects/${acme.project_id}/images`, { body: body("project's") }),
  );
  const other = await openTenant(t, "other");
  okOf(await t.call("POST", `/v1/tenants/${other.tenant_id}/images`, { body: body("foreign") }));
  const names = async (argv: string, env?: Record<string, string>) =>
    JSON.parse(await printed(tenantctl(`${argv} -o json`, env))).items.map(({ name }: { name: string }) => name);
  // The tenant has only this project, so the command needs no flag.
  expect(await names("image list")).toEqual(["shared", "own", "project's"]);
  expect(await names("image list", { TENANTCTL_TENANT: acme.tenant_id })).toEqual(["shared", "own", "project's"]);
  expect(await names(`image list --project ${acme.project_id} --tenant ${acme.tenant_id}`))
    .toEqual(["shared", "own", "project's"]);
  const table = await printed(tenantctl("image list"));
  expect(table.split("\n")[0]).toMatch(/^NAME +ID +OS +VERSION +SIZE +SCOPE$/);
  expect(table).toMatch(new RegExp(`^own +${own.id.slice(0, 8)} +linux +1 +7B +tenant$`, "m"));
  for (const name of [inProject.id, inProject.id.toUpperCase()]) {
    expect(await printed(tenantctl(`image show ${name}`))).toBe(
      [
        `id:           ${inProject.id}`,
        "name:         project's",
        "description:  -",
        "scope:        project",
        "os:           linux",
        "version:      1",
        "size:         7B",
        `sha256:       ${inProject.sha256}`,
        "",
      ].join("\n"),
    );
  }
  expect(JSON.parse(await printed(tenantctl("image show own -o json")))).toEqual(own);
  expect((await tenantctl(`image show ${randomUUID()}`)).code).toBe(3);
  const operator = await names("image list", { TENANTCTL_API_KEY: ROOT_KEY });
  expect(operator).toEqual(["shared"]);
});

function leftOvers(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("opsctl-image-")).sort();
}
