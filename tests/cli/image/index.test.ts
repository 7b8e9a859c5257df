// Tests the search of an index, and the selection of one file by a user's reference.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { telling } from "./file-server.ts";
import { newFolder } from "./folder.ts";
import { tenantctl } from "./tenantctl.ts";
import { CONTENT, startVendor, type Vendor } from "./vendor.ts";

let vendor: Vendor;
beforeEach(async () => void (vendor = await startVendor()));
afterEach(() => vendor.close());

function image(...argv: string[]) {
  return tenantctl(["image", ...argv, "--index", vendor.base]);
}

test("`search` lists every file in the order of the index", async () => {
  const ran = await image("search", "-o", "table");
  expect(ran.out()).toBe(
    `IMAGE         VERSION  ALIASES     BUILD      VARIANT  ARCH     FORMAT  SIZE      CHECK
ubuntu/noble  24.04    latest,lts  20261001   server   x86_64   qcow2   293.0KiB  vendor
ubuntu/noble  24.04    latest,lts  20261001   server   aarch64  qcow2   4.9KiB    vendor
alpine/v3.24  3.24.2   latest      3.24.2-r0  server   x86_64   qcow2   -         vendor
`,
  );
  expect((await image("search", "-o", "table", "--no-headers")).out().split("\n")).toHaveLength(4);
});

test.each([
  [["--distro", "alpine"], ["alpine x86_64"]],
  [["--arch", "aarch64"], ["ubuntu aarch64"]],
  [["--alias", "lts"], ["ubuntu x86_64", "ubuntu aarch64"]],
  [["--release", "noble", "--arch", "x86_64"], ["ubuntu x86_64"]],
  [["--release", "3.24"], ["alpine x86_64"]],
  [["--format", "raw"], []],
  [["--variant", "minimal"], []],
])("`search` %j finds %j", async (argv, expected) => {
  const { items } = JSON.parse((await image("search", ...argv)).out());
  const found = (items as typeof vendor.images).flatMap(({ distro, build }) =>
    build.artifacts.map(({ arch }) => `${distro.id} ${arch}`)
  );
  expect(found).toEqual(expected);
});

test("the output contains unknown fields of a later version of the index", async () => {
  vendor.images[0] = { ...vendor.images[0]!, later: 1 } as typeof vendor.images[0];
  vendor.publish();
  expect(JSON.parse((await image("search", "--distro", "ubuntu")).out()).items[0].later).toBe(1);
});

test("`search -q` prints the names of images, and the error for an unknown distribution offers similar names", async () => {
  expect((await image("search", "--distro", "alpine", "-q")).out()).toBe("alpine/v3.24/3.24.2-r0\n");
  const near = await image("search", "--distro", "alpin");
  expect([near.code, near.err()]).toEqual([3, "error: the index has no distro alpin; did you mean alpine?\n"]);
  const far = await image("search", "--distro", "gentoo");
  expect([far.code, far.err()]).toEqual([3, "error: the index has no distro gentoo; it has ubuntu, alpine\n"]);
});

test.each(["ubuntu/noble", "ubuntu/latest", "ubuntu/lts", "ubuntu/24.04", "ubuntu/24", "ubuntu/noble/20261001"])(
  "the reference %s selects the newest build of ubuntu/noble",
  async (reference) => {
    expect(JSON.parse((await image("info", reference)).out()).build.build).toBe("20261001");
  },
);

test.each([
  ["ubuntu", 2, "DISTRO/RELEASE"],
  ["ubuntu/", 2, "DISTRO/RELEASE"],
  ["ubuntu/noble/1/2", 2, "DISTRO/RELEASE"],
  ["gentoo/latest", 3, "it has ubuntu, alpine"],
  ["ubuntu/jammy", 3, "it has noble, latest, lts"],
  ["ubuntu/2", 3, "it has noble"],
  ["ubuntu/noble/1", 3, "it has 20261001"],
])(
  "the reference %s exits %i, and the error states the expected form or the existing names",
  async (reference, code, text) => {
    const ran = await image("info", reference);
    expect(ran.code).toBe(code);
    expect(ran.err()).toContain(text);
  },
);

test("an archived build is found by its id", async () => {
  const archived = { ...vendor.images[0]!.build, build: "20250101" };
  vendor.put("/v1/distros/ubuntu/releases/noble/archive.json", JSON.stringify({ builds: [archived] }));
  expect(JSON.parse((await image("info", "ubuntu/noble/20250101")).out()).build.build).toBe("20250101");
});

test("of several files, the default variant for x86_64 is selected; if no variant is the default, the user must choose", async () => {
  const to = newFolder();
  const { artifact } = vendor;
  const [build] = vendor.images;
  const minimal = { ...artifact, variant: "minimal", default_variant: false };
  vendor.images[0] = { ...build!, build: { ...build!.build, artifacts: [minimal, ...build!.build.artifacts] } };
  vendor.publish();
  const ran = await image("download", "ubuntu/noble", "--to", to);
  expect(JSON.parse(ran.out())).toMatchObject({ variant: "server", arch: "x86_64" });

  const none = vendor.images[0]!.build.artifacts.map((each) => ({ ...each, default_variant: null }));
  vendor.images[0] = { ...build!, build: { ...build!.build, artifacts: none } };
  vendor.publish();
  const asked = await image("download", "ubuntu/noble", "--to", to);
  expect(asked.code).toBe(2);
  expect(asked.err()).toContain("minimal x86_64 qcow2, server x86_64 qcow2");
  const chosen = await image("download", "ubuntu/noble", "--to", `${to}/m.img`, "--variant", "minimal");
  expect(JSON.parse(chosen.out()).variant).toBe("minimal");
});

test("`verify` names the image of a file, and fails for any other file", async () => {
  const file = join(newFolder(), "disk.img");
  writeFileSync(file, CONTENT);
  const ran = await image("verify", file, "-o", "table");
  expect(ran.out()).toBe(
    `${file}: ubuntu/noble/20261001 server x86_64 qcow2, verified against the vendor's checksums\n`,
  );
  expect((await image("verify", file, "--image", "alpine/latest")).err()).toContain("for alpine/v3.24/3.24.2-r0");
  writeFileSync(file, CONTENT.subarray(1));
  expect((await image("verify", file)).code).toBe(1);
  expect((await image("verify", `${file}.none`)).code).toBe(1);
  expect((await image("verify", dirname(file))).code).toBe(1);
});

test("the index may be a folder or a file URL, or come from a variable or the control plane", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "v1"));
  writeFileSync(join(folder, "v1/images.json"), vendor.files.get("/v1/images.json")!);
  const search = ["image", "search", "--distro", "alpine", "-o", "table", "--no-headers"];
  const expected = (await tenantctl([...search, "--index", vendor.base])).out();
  expect(expected).toContain("alpine/v3.24");
  expect((await tenantctl([...search, "--index", folder])).out()).toBe(expected);
  expect((await tenantctl([...search, "--index", `file://${folder}`])).out()).toBe(expected);
  expect((await tenantctl(search, { env: { TENANTCTL_INDEX: `${vendor.base}/` } })).out()).toBe(expected);
  expect((await tenantctl([...search, "--endpoint", vendor.base])).out()).toBe(expected);
  const none = await tenantctl(search);
  expect(none.code).toBe(2);
  expect(none.err()).toContain("TENANTCTL_INDEX");
});

test.each([
  ["is missing", null, "not an image index"],
  ["is not JSON", "<html>", "not JSON"],
  ["is another JSON value", "[]", "not a valid document of an image index"],
  ["has a path as an id", JSON.stringify({ images: [{ distro: { id: "../x" } }] }), "plain name"],
])("an index that %s is rejected with a reason", async (_name, text, reason) => {
  if (text === null) vendor.files.delete("/v1/images.json");
  else vendor.put("/v1/images.json", text);
  const ran = await image("search");
  expect(ran.code).not.toBe(0);
  expect(ran.err()).toContain(reason);
});

test("if the server of an index is busy, the command requests the index three times", async () => {
  vendor.wrong.set("/v1/images.json", telling(503, {}));
  expect((await image("search")).code).toBe(1);
  expect(vendor.asked).toHaveLength(3);
});

test("an index whose response does not end is rejected", async () => {
  vendor.wrong.set("/v1/images.json", (_request, response) => {
    const more = () => {
      while (response.write(new Uint8Array(1_000_000)));
      response.once("drain", more);
    };
    response.writeHead(200);
    more();
    return true;
  });
  const ran = await image("search");
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("more than");
});

test("names in an index cannot move the terminal's cursor", async () => {
  const [first] = vendor.images;
  vendor.images[0] = { ...first!, release: { ...first!.release, title: "\u001b[2Jx\u202e", version: "\u001b[2J" } };
  vendor.publish();
  for (const argv of [["search"], ["info", "ubuntu/noble"]]) {
    for (const format of ["table", "json", "yaml"]) {
      const ran = await image(...argv, "-o", format);
      expect(ran.code).toBe(0);
      // deno-lint-ignore no-control-regex -- this pattern must match control bytes
      expect(ran.out()).not.toMatch(/[\u001b\u202e]/);
    }
  }
});
