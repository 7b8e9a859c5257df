// install.sh verifies the signature and the digests before it installs packages, and dpkg can remove the packages.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readReleaseKey } from "../../cli/release/signature.ts";
import { SIGNATURE, SUMS, writeSums } from "../../cli/release/release.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { lacking, pathOf } from "../support/optional-programs.ts";
import { DPKG_FORCE, makeEmptyRoot, whyNoInstallation } from "./empty-root.ts";
import { writeReleaseKey } from "./release-key.ts";
import { flipBit, releaseKeyIn, smallRelease, TIME_S } from "./small-release.ts";
import { type Ended, rootWords, run } from "./tools.ts";

const why_not = await whyNoInstallation();
const asRoot = await rootWords();
const overHttp = pathOf("wget") !== null || lacking("curl") === null;

/** dpkg starts many programs, and the machine may be busy. */
const LIMIT_MS = 120_000;

describe.skipIf(why_not !== null)("install.sh", { timeout: LIMIT_MS }, () => {
  let folder: TemporaryFolder;
  let architecture: "amd64" | "arm64";
  let root: string;
  let key_path: string;
  const at = (...parts: string[]) => join(folder.path, ...parts);
  const debOf = (name: string, version: string) => `${name}_${version}_${architecture}.deb`;

  beforeAll(async () => {
    folder = await temporaryFolder("install");
    const { stdout } = await run("dpkg", ["--print-architecture"]);
    architecture = stdout.trim() === "arm64" ? "arm64" : "amd64";
    key_path = await releaseKeyIn(folder.path);
    await smallRelease({ folder: at("new"), version: "1.10.0", architecture, key_path });
    const packages = ["opsctl", "booter"] as const;
    await smallRelease({ folder: at("old"), version: "1.9.0", architecture, key_path, packages });
  }, LIMIT_MS);
  afterAll(() => folder.remove());

  beforeEach(async () => {
    root = at("root");
    await makeEmptyRoot(root);
  });

  const rooted = (program: string, argv: readonly string[]): Promise<Ended> => {
    const [first = "", ...rest] = [...asRoot!, program, ...argv];
    return run(first, rest, { DPKG_FORCE });
  };
  const install = (release: string, ...argv: string[]) =>
    rooted("sh", [at(release, "install.sh"), "--root", root, ...argv]);
  const dpkg = (...argv: string[]) => rooted("dpkg", [`--root=${root}`, ...argv]);
  const versionOf = async (name: string) =>
    (await run("dpkg-query", [`--admindir=${root}/var/lib/dpkg`, "-W", "-f", "${Status} ${Version}", name])).stdout;

  /** Lists the files below the root, without dpkg's database. */
  async function filesIn(): Promise<string[]> {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries.filter((each) => each.isFile()).map((each) =>
      join(each.parentPath, each.name).slice(root.length + 1)
    )
      .filter((path) => !path.startsWith("var/lib/dpkg/") && !/^etc\/[^/]*$/.test(path)).sort();
  }

  async function expectRefused(ended: Promise<Ended>, why: string): Promise<void> {
    const { code, stderr } = await ended;
    expect(stderr).toContain(why);
    expect(code).toBe(1);
    expect(await filesIn()).toEqual([]);
  }

  test("installs every package and creates its users; a purge leaves only the control plane's keys", async () => {
    const names = ["berth-control-plane", "opsctl", "tenantctl", "nodeagent", "booter", "index-builder"];
    const installed = await install("new", ...names);
    expect(installed.stderr).toContain("Creating user 'berth'");
    expect(installed.code).toBe(0);
    for (const name of names) expect(await versionOf(name)).toBe("install ok installed 1.10.0");
    expect((await run(join(root, "usr/bin/opsctl"), [])).stdout).toBe("opsctl 1.10.0\n");
    const users = (await readFile(join(root, "etc/passwd"), "utf8")).split("\n").map((line) => line.split(":")[0]);
    expect(users.filter((name) => name !== "").sort()).toEqual(["berth", "berth-booter", "berth-index-builder"]);
    expect(await readFile(join(root, "etc/berth/control-plane.keys"), "utf8"))
      .toMatch(/\nBERTH_SECRET_KEY=[0-9a-f]{64}\n.*\nBERTH_ROOT_KEY=opsk_[0-9a-f]{12}_[0-9a-f]{32}\n$/);

    expect((await dpkg("--remove", ...names)).code).toBe(0);
    const kept = ["booter.toml", "control-plane.env", "control-plane.keys", "index-builder.env", "nodeagent.env"];
    expect(await filesIn()).toEqual(kept.map((name) => `etc/berth/${name}`));
    expect((await dpkg("--purge", ...names)).code).toBe(0);
    expect(await filesIn()).toEqual(["etc/berth/control-plane.keys"]);
  });

  test("upgrades a package and keeps the operator's settings and the generated keys", async () => {
    expect((await install("old", "booter")).code).toBe(0);
    await writeFile(join(root, "etc/berth/booter.toml"), "# mine\n");
    expect((await install("new", "booter", "berth-control-plane")).code).toBe(0);
    const keys = await readFile(join(root, "etc/berth/control-plane.keys"), "utf8");
    expect((await install("new", "booter", "berth-control-plane")).code).toBe(0);
    expect(await versionOf("booter")).toBe("install ok installed 1.10.0");
    expect(await readFile(join(root, "etc/berth/booter.toml"), "utf8")).toBe("# mine\n");
    expect(await readFile(join(root, "etc/berth/control-plane.keys"), "utf8")).toBe(keys);
  });

  test("S-42: refuses a version older than the installed version, unless --allow-downgrade is passed", async () => {
    expect((await install("new", "opsctl")).code).toBe(0);
    const refused = await install("old", "booter", "opsctl");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("opsctl 1.10.0 is installed and 1.9.0 is older");
    expect(await versionOf("opsctl")).toBe("install ok installed 1.10.0");
    expect(await versionOf("booter")).toBe("");
    expect((await install("old", "--allow-downgrade", "opsctl")).code).toBe(0);
    expect(await versionOf("opsctl")).toBe("install ok installed 1.9.0");
  });

  test("installs an older version after the package was removed and its settings were kept", async () => {
    expect((await install("new", "booter")).code).toBe(0);
    expect((await dpkg("--remove", "booter")).code).toBe(0);
    expect(await versionOf("booter")).toBe("deinstall ok config-files 1.10.0");
    const { code, stderr } = await install("old", "booter");
    expect(code, stderr).toBe(0);
    expect(await versionOf("booter")).toBe("install ok installed 1.9.0");
  });

  describe.skipIf(!overHttp)("over HTTP", () => {
    let server: Server;
    let url: string;
    /** Files of which the server sends only the first half. */
    const cut = new Set<string>();
    beforeAll(async () => {
      server = createServer((request, response) => {
        const name = (request.url ?? "/").slice(1);
        readFile(at("old", name)).then((bytes) => {
          response.end(cut.has(name) ? bytes.subarray(0, bytes.length / 2) : bytes);
        }, () => response.writeHead(404).end());
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => new Promise((done) => server.close(done)));
    beforeEach(() => cut.clear());

    test("fetches, verifies and installs a release", async () => {
      expect((await install("old", "--from", url, "opsctl")).code).toBe(0);
      expect(await versionOf("opsctl")).toBe("install ok installed 1.9.0");
    });

    test("refuses a truncated package, a truncated list of checksums and a missing release", async () => {
      cut.add(debOf("opsctl", "1.9.0"));
      await expectRefused(install("old", "--from", url, "opsctl"), "does not have the signed digest");
      cut.add(SUMS);
      await expectRefused(install("old", "--from", url, "opsctl"), "the signature of the release is not valid");
      await expectRefused(install("old", "--from", `${url}/elsewhere`, "opsctl"), "cannot fetch");
    });
  });

  describe("refuses", () => {
    const broken = (name: string) => at("broken", name);
    beforeEach(async () => {
      await rm(at("broken"), { recursive: true, force: true });
      await mkdir(at("broken"));
      const names = [SUMS, SIGNATURE, "install.sh", debOf("opsctl", "1.9.0"), debOf("booter", "1.9.0")];
      for (const name of names) await writeFile(broken(name), await readFile(at("old", name)));
    });

    test("the list of checksums with a changed bit", async () => {
      const bytes = await readFile(at("old", SUMS));
      for (let place = 0; place < bytes.length; place += 41) {
        await flipBit(broken(SUMS), bytes, place);
        await expectRefused(install("broken", "opsctl"), "the signature of the release is not valid");
      }
    });

    test("S-42: a package with a changed bit", async () => {
      const name = debOf("opsctl", "1.9.0");
      const bytes = await readFile(at("old", name));
      for (let place = 0; place < bytes.length; place += Math.ceil(bytes.length / 12)) {
        await flipBit(broken(name), bytes, place);
        await expectRefused(install("broken", "opsctl"), `${name} does not have the signed digest`);
      }
    });

    test("an intact package, if another requested package is damaged", async () => {
      const name = debOf("booter", "1.9.0");
      await flipBit(broken(name), await readFile(at("old", name)), 100);
      await expectRefused(install("broken", "opsctl", "booter"), `${name} does not have the signed digest`);
    });

    test("a damaged or missing signature", async () => {
      const text = await readFile(at("old", SIGNATURE), "utf8");
      const lines = text.split("\n");
      const body = lines.findIndex((line) => line === "") + 1;
      lines[body] = lines[body]!.split("").toReversed().join("");
      await writeFile(broken(SIGNATURE), lines.join("\n"));
      await expectRefused(install("broken", "opsctl"), "the signature of the release is not valid");
      await rm(broken(SIGNATURE));
      await expectRefused(install("broken", "opsctl"), `cannot read ${broken(SIGNATURE)}`);
    });

    test("a release signed by another key, unless --keyring names that key", async () => {
      const other = at("other.key");
      await writeReleaseKey(other);
      const key = await readReleaseKey(other, null);
      await writeSums(at("broken"), key, new Date(TIME_S * 1_000));
      await expectRefused(install("broken", "opsctl"), "the signature of the release is not valid");
      await writeFile(at("other.gpg"), key.toPublic().write());
      expect((await install("broken", "--keyring", at("other.gpg"), "opsctl")).code).toBe(0);
    });

    test("a package whose file has the name of another package", async () => {
      await writeFile(broken(debOf("opsctl", "1.9.0")), await readFile(at("old", debOf("booter", "1.9.0"))));
      await expectRefused(install("broken", "opsctl"), "does not have the signed digest");
    });

    test("a package outside the release, and an invalid name", async () => {
      await expectRefused(install("broken", "tenantctl"), "the release has no package tenantctl");
      await expectRefused(install("broken", "../opsctl"), "unknown package ../opsctl");
      await expectRefused(install("broken", "opsctl_1.9.0"), "unknown package opsctl_1.9.0");
    });
  });

  test("shows its usage if no package is named", async () => {
    const { code, stderr } = await install("new");
    expect(code).toBe(2);
    expect(stderr).toContain("--allow-downgrade");
    expect(await filesIn()).toEqual([]);
  });
});

describe("the release's key", () => {
  let folder: TemporaryFolder;
  beforeAll(async () => void (folder = await temporaryFolder("release-key")));
  afterAll(() => folder.remove());

  test("a key with a passphrase needs that passphrase", async () => {
    const path = join(folder.path, "locked.key");
    await writeReleaseKey(path, "correct horse");
    expect((await readReleaseKey(path, "correct horse")).isDecrypted()).toBe(true);
    await expect(readReleaseKey(path, null)).rejects.toThrow("needs a passphrase");
    await expect(readReleaseKey(path, "wrong")).rejects.toThrow();
  });

  test("a key with an algorithm that gpgv does not support is refused", async () => {
    const path = join(folder.path, "new-kind.key");
    await writeReleaseKey(path, undefined, "curve25519");
    await expect(readReleaseKey(path, null)).rejects.toThrow("does not support");
  });
});
