import { execFile } from "node:child_process";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import * as openpgp from "openpgp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publish, readPublished, siteAt } from "../../index-builder/publish/site.ts";
import { readFiles } from "../../index-builder/tree/load.ts";
import { index, T0 } from "./publish-fixture.ts";
import { webFolder } from "./recorded-vendor.ts";
import { needs, present } from "../support/optional-programs.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "index-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const day = (date: string) => ["--at", `${date}T05:17:00Z`];

test("a second run with the same responses changes no byte, keeps first_seen and writes no new generation", async () => {
  const site = join(folder, "same");
  expect((await index("all", "--site", site, ...T0, ...day("2026-10-09"))).code).toBe(0);
  const [before, generation] = [await readFiles(await realpath(site)), await readlink(site)];
  const second = await index("all", "--site", site, ...T0, ...day("2026-10-10"));
  expect(second).toMatchObject({ code: 0, output: expect.stringContaining("nothing changed") });
  expect(await readFiles(await realpath(site))).toEqual(before);
  expect(await readlink(site)).toBe(generation);
  expect(before.get("v1/images.json")).toContain(`"first_seen": "2026-10-09T05:17:00.000Z"`);
  expect((await index("verify", site)).code).toBe(0);
});

test("a failed vendor keeps its files, the other vendors are published, and the exit code is 1", async () => {
  const site = join(folder, "partly");
  await index("all", "--site", site, ...T0, ...day("2026-10-09"));
  const before = (await readFiles(await realpath(site))).get("v1/distros/debian/index.json");
  const empty = join(folder, "empty-web");
  await mkdir(empty, { recursive: true });
  await writeFile(
    join(empty, "responses.json"),
    JSON.stringify({ "GET https://ftp.debian.org/debian/dists/stable/Release": { status: 500 } }),
  );
  const run = await index(
    "all",
    "--site",
    site,
    "--recorded",
    empty,
    "--recorded",
    webFolder("t0"),
    "--vendor",
    "debian",
    "--vendor",
    "ubuntu",
  );
  expect(run.code).toBe(1);
  expect(run.output).toContain("debian: failed: transient");
  const after = await readFiles(await realpath(site));
  expect(after.get("v1/distros/debian/index.json")).toBe(before);
  expect(after.has("v1/distros/ubuntu/index.json")).toBe(true);
});

test("a fragment replaces only its distro; a folder without v1/ is skipped; a failed vendor leaves no fragment", async () => {
  const [site, fragment, nothing] = [join(folder, "assembled"), join(folder, "fragment"), join(folder, "nothing")];
  await mkdir(nothing);
  await index(
    "all",
    "--site",
    site,
    "--recorded",
    webFolder("t0"),
    "--vendor",
    "debian",
    "--vendor",
    "ubuntu",
    ...day("2026-10-09"),
  );
  const before = await readFiles(await realpath(site));
  const made = await index(
    "vendor",
    "debian",
    "--previous",
    site,
    "--out",
    fragment,
    "--recorded",
    webFolder("t0"),
    ...day("2026-10-12"),
  );
  expect(made.code).toBe(0);
  expect((await index("assemble", "--site", site, fragment, nothing)).code).toBe(0);
  expect(await readFiles(await realpath(site))).toEqual(before);
  const failed = await index(
    "vendor",
    "debian",
    "--previous",
    site,
    "--out",
    fragment,
    "--recorded",
    webFolder("wide/debian"),
  );
  expect(failed.code).toBe(1);
  await expect(readdir(fragment)).rejects.toThrow();
  expect((await index("assemble", "--site", site, fragment)).code).toBe(3);
});

test("an unreadable tree stops `all` and `vendor` before they write, and `verify` fails", async () => {
  const site = join(folder, "broken");
  await index("all", "--site", site, ...T0, ...day("2026-10-09"));
  const real = await realpath(site);
  const path = join(real, "v1/distros/debian/releases/trixie/index.json");
  for (const break_it of [() => writeFile(path, "{"), () => rm(path)]) {
    await break_it();
    const before = await readFiles(real);
    expect((await index("all", "--site", site, ...T0)).code).toBe(3);
    expect(
      (await index("vendor", "debian", "--previous", site, "--out", join(folder, "x"), "--recorded", webFolder("t0")))
        .code,
    ).toBe(3);
    expect(await readFiles(real)).toEqual(before);
    expect((await index("verify", site)).code).toBe(1);
  }
});

test("an operator's plain folder becomes a generation, and its builds keep their first_seen", async () => {
  const [made, site] = [join(folder, "made"), join(folder, "plain")];
  await index("all", "--site", made, ...T0, ...day("2026-09-01"));
  await cp(await realpath(made), site, { recursive: true });
  expect((await index("all", "--site", site, ...T0, ...day("2026-10-09"))).code).toBe(0);
  expect(await readlink(site)).toBe(".plain.generations/1/site");
  expect(await readFile(join(site, "v1/images.json"), "utf8")).toContain("2026-09-01");
});

test("the next run restores a site after a crash between moving its folder away and creating the link", async () => {
  const site = join(folder, "died");
  await index("all", "--site", site, ...T0, ...day("2026-09-01"));
  const generations = siteAt(site).generations;
  await mkdir(join(generations, "0"));
  await cp(await realpath(site), join(generations, "0/site"), { recursive: true });
  await rm(site);
  expect((await index("all", "--site", site, ...T0, ...day("2026-10-09"))).code).toBe(0);
  expect(await readFile(join(site, "v1/images.json"), "utf8")).toContain("2026-09-01");
});

test("a site that is a link to another place is refused", async () => {
  const site = join(folder, "elsewhere");
  await symlink("/etc", site);
  expect((await index("all", "--site", site, ...T0)).code).toBe(3);
});

test("readers see the old or the new generation during a publication, never a mixture", async () => {
  const site = siteAt(join(folder, "read"));
  await mkdir(site.generations);
  const files = (mark: number) => new Map(Array.from({ length: 20 }, (_, i) => [`v1/${i}.json`, `${mark}`]));
  const trust = { vendors: {} };
  await publish(site, { files: files(0), trust }, () => {});
  const read = async () => {
    const root = await realpath(site.link);
    const seen = await Promise.all(
      Array.from({ length: 20 }, (_, i) => readFile(join(root, `v1/${i}.json`), "utf8")),
    );
    return new Set(seen);
  };
  for (let mark = 1; mark <= 30; mark++) {
    const found: Set<string>[] = [];
    let done = false;
    const published = publish(site, { files: files(mark), trust }, () => {}).finally(() => void (done = true));
    // A publication keeps the previous generation, so a reader that has opened this generation can finish.
    do found.push(await read()); while (!done);
    await published;
    for (const seen of found) expect([[`${mark - 1}`], [`${mark}`]]).toContainEqual([...seen]);
  }
  expect((await readdir(site.generations)).sort()).toEqual(["30", "31"]);
});

test("an old generation that cannot be removed is reported and does not stop a publication", async (context) => {
  if (process.getuid!() === 0) needs(context, "mount", "umount");
  const site = siteAt(join(folder, "stuck"));
  await mkdir(site.generations);
  const next = (mark: string) => ({ files: new Map([["v1/a.json", mark]]), trust: { vendors: {} } });
  const lines: string[] = [];
  const publishNext = (mark: string) => publish(site, next(mark), (line) => void lines.push(line));
  const first = join(site.generations, String(await publishNext("1")));
  const release = await makeStuck(first);
  try {
    for (const mark of ["2", "3", "4"]) await publishNext(mark);
    expect(await readFile(join(site.link, "v1/a.json"), "utf8")).toBe("4");
    expect((await readdir(site.generations)).sort()).toEqual(["1", "3", "4"]);
    const report = expect.stringContaining(`${first} could not be removed: `);
    expect(lines, "one report for each publication that could not remove the generation").toEqual([report, report]);
  } finally {
    await release();
  }
  await publishNext("5");
  expect((await readdir(site.generations)).sort()).toEqual(["4", "5"]);
  expect(lines).toHaveLength(2);
});

/** Prevents the removal of a folder, even by root. Returns a function that permits the removal again. */
async function makeStuck(path: string): Promise<() => Promise<unknown>> {
  if (process.getuid!() !== 0) {
    await chmod(path, 0o500);
    return () => chmod(path, 0o700);
  }
  const inner = join(path, "mounted");
  await mkdir(inner);
  await promisify(execFile)(present("mount"), ["-t", "tmpfs", "none", inner]);
  return () => promisify(execFile)(present("umount"), [inner]);
}

test("a signed tree verifies with its key, keeps its signature while unchanged, and fails after a change or with another key", async () => {
  const { privateKey, publicKey } = await openpgp.generateKey({
    userIDs: [{ name: "Index" }],
    type: "curve25519",
    format: "armored",
  });
  const [secret, open] = [join(folder, "sign.asc"), join(folder, "sign.pub")];
  await writeFile(secret, privateKey);
  await writeFile(open, publicKey);
  const site = join(folder, "signed");
  await index("all", "--site", site, ...T0, "--sign-key", secret);
  const before = await readFiles(await realpath(site));
  expect((await index("verify", site, "--key", open)).output).toContain("no problems");
  expect((await index("all", "--site", site, ...T0, "--sign-key", secret)).output).toContain("nothing changed");
  expect(await readFiles(await realpath(site))).toEqual(before);
  const signature = join(await realpath(site), "v1/SHA256SUMS.asc");
  await writeFile(signature, (await readFile(signature, "utf8")).slice(0, -100));
  expect((await index("all", "--site", site, ...T0, "--sign-key", secret)).output).not.toContain("nothing changed");
  expect((await index("verify", site, "--key", open)).output).toContain("no problems");
  const page = join(await realpath(site), "docs/index.html");
  await writeFile(page, `${await readFile(page, "utf8")} `);
  expect((await index("verify", site, "--key", open)).output).toContain("v1/SHA256SUMS: does not match the files");
  const other = await openpgp.generateKey({ userIDs: [{ name: "Other" }], type: "curve25519", format: "armored" });
  await writeFile(open, other.publicKey);
  expect((await index("verify", site, "--key", open)).output).toContain("v1/SHA256SUMS.asc: ");
  await writeFile(secret, other.privateKey);
  expect((await index("all", "--site", site, ...T0, "--sign-key", secret)).code).toBe(0);
  expect((await index("verify", site, "--key", open)).output).toContain("no problems");
});

test("an unknown vendor, mode or time is a usage error; the error about a vendor lists the vendors", async () => {
  expect(await index("vendor", "windows", "--previous", folder, "--out", folder)).toMatchObject({
    code: 2,
    output: expect.stringContaining("ubuntu, debian"),
  });
  expect((await index("all", "--site", join(folder, "u"), "--signatures", "maybe")).code).toBe(2);
  expect((await index("all", "--site", join(folder, "u"), "--at", "yesterday")).code).toBe(2);
});

test("with --json, the summary has the generation and the outcome of a vendor", async () => {
  const { output } = await index("all", "--site", join(folder, "json"), ...T0, "--json");
  const summary = JSON.parse(output.slice(output.indexOf("{\n"), output.lastIndexOf("}") + 1));
  expect(summary.site).toEqual({ kind: "published", generation: 1 });
  expect(summary.vendors[0]).toMatchObject({ id: "debian", ok: true, error: null, attempts: 1 });
});

test("a published tree can be read with its trust state", async () => {
  const published = await readPublished(siteAt(join(folder, "json")));
  expect(published.number).toBe(1);
  expect(published.trust).toEqual({ vendors: { debian: { documents: {}, keys: {}, departed: {} } } });
});

test("the responses that --record stored build the same site", async () => {
  const [site, again, record] = [join(folder, "recorded-site"), join(folder, "again"), join(folder, "record")];
  await index("all", "--site", site, ...T0, ...day("2026-10-09"), "--record", record);
  expect((await index("all", "--site", again, "--recorded", record, "--vendor", "debian", ...day("2026-10-09"))).code)
    .toBe(0);
  expect(await readFiles(await realpath(again))).toEqual(await readFiles(await realpath(site)));
});
