// Tests the boot of Linux node images. The booter serves only verified images. Each machine gets a script and its own
// files. The control plane shows the kind of each image.
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openFiles } from "../../booter/files.ts";
import { announce } from "../../nodeagent/netboot/announce.ts";
import { parseProperties } from "../../nodeagent/netboot/boot-files.ts";
import { writeReleaseKey } from "../release/release-key.ts";
import { armoredPublicKey, readReleaseKey } from "../../cli/release/signature.ts";
import { okOf } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { machineRoots, UUID } from "../nodeagent/machine-roots.ts";
import { newMac } from "../setup/machine.ts";
import { LINUX_STAMP, stageLinuxImage } from "./linux-files.ts";
import { discover, dotted, httpAsk, openRelay, openSite, type Relay, scriptPath, type Site, STAMP } from "./site.ts";

describe("the booter refuses an image and states the reason if", () => {
  let folder: TemporaryFolder;
  const image = (name: string) => join(folder.path, "files/os", LINUX_STAMP, name);
  beforeEach(async () => {
    folder = await temporaryFolder("linux-image");
    await stageLinuxImage(folder.path);
    return () => folder.remove();
  });
  const open = () => openFiles(join(folder.path, "files"), () => readFile(join(folder.path, "image-key.asc")));
  const manifest = async (change: (document: Record<string, unknown>) => void) => {
    const document = JSON.parse(await readFile(image("manifest.json"), "utf8"));
    change(document);
    await writeFile(image("manifest.json"), JSON.stringify(document));
  };

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ["a file is damaged", () => writeFile(image("initramfs"), "an initial file systen"), /^initramfs: its SHA-256/],
    ["a file has another size", () => writeFile(image("vmlinuz"), "short"), /^vmlinuz: has 5 bytes, and the manifest/],
    ["a file is missing", () => rm(image("vmlinuz")), /^vmlinuz: is missing/],
    ["the signature is missing", () => rm(image("manifest.json.asc")), /^manifest\.json\.asc: is missing/],
    ["the manifest was changed", () => manifest((each) => each.command_line = ["init=/bin/sh"]), /^manifest\.json: /],
    ["another key signed the manifest", async () => {
      await writeReleaseKey(join(folder.path, "other"));
      const other = await readReleaseKey(join(folder.path, "other"), null);
      await writeFile(join(folder.path, "image-key.asc"), armoredPublicKey(other));
    }, /^manifest\.json: /],
    ["its folder has the name of another image", async () => {
      await rename(image("."), join(folder.path, "files/os/20990101T000000Z"));
    }, /^manifest\.json: belongs to the image 20261101T000000Z, not to /],
  ])("%s", async (_name, damage, reason) => {
    const files = open();
    expect(await files.scan()).toBe(true);
    expect([...files.staged()]).toEqual([LINUX_STAMP]);
    await damage();
    const again = open();
    await again.scan();
    expect([...again.staged()]).toEqual([]);
    expect([...again.refused().values()]).toEqual([expect.stringMatching(reason)]);
    expect(await again.imageFile(`/os/${LINUX_STAMP}/initramfs`)).toBeNull();
  });

  test("the booter stops serving an image that is damaged while the booter runs, and serves it again after its repair", async () => {
    const files = open();
    await files.scan();
    const whole = await readFile(image("initramfs"));
    await writeFile(image("initramfs"), "x");
    expect([await files.scan(), [...files.staged()]]).toEqual([true, []]);
    await writeFile(image("initramfs"), whole);
    expect([await files.scan(), [...files.staged()], files.image(LINUX_STAMP)]).toEqual([
      true,
      [LINUX_STAMP],
      { kind: "linux", architecture: "x86_64", command_line: ["quiet"] },
    ]);
  });
});

describe("a machine that enrols with a Linux node image", () => {
  let site: Site;
  let relay: Relay;
  beforeAll(async () => {
    site = await openSite({ prepare: stageLinuxImage, enrollment_pi: LINUX_STAMP });
    relay = await openRelay(site);
  });
  afterAll(async () => {
    relay.close();
    await site.close();
  });
  const http = (path: string, from: string, more = {}) => httpAsk(site.booter.ports.http, path, { from, ...more });
  async function offered(mac = newMac()) {
    const reply = await relay.ask(discover(mac));
    return { mac, address: dotted(reply.yiaddr), path: scriptPath(reply) };
  }

  test("gets a script without secrets that loads the kernel, the archive and the machine's own files", async () => {
    const { address, path } = await offered();
    const origin = `http://127.0.0.1:${site.booter.ports.http}`;
    const { text } = await http(path, address);
    const [loads, retry] = text.replaceAll(path.slice("/script/".length), "TICKET").split("\nboot\n");
    expect(loads!.split("\n")).toEqual([
      "#!ipxe",
      ":load",
      "imgfree",
      `kernel ${origin}/os/${LINUX_STAMP}/vmlinuz initrd=initramfs initrd=machine.cpio quiet console=tty0 || goto failed`,
      `initrd --name initramfs ${origin}/os/${LINUX_STAMP}/initramfs || goto failed`,
      `initrd --name machine.cpio ${origin}/bootfs/TICKET/machine.cpio || goto failed`,
    ]);
    expect(retry).toMatch(/^:failed\n/);
    expect((await http(`/os/${LINUX_STAMP}/vmlinuz`, address)).text).toBe("a Linux kernel");
    expect((await http(`/os/${LINUX_STAMP}/manifest.json`, address)).status).toBe(404);
  });

  test("gets its own files only once, and another machine never gets them", async () => {
    const { mac, address, path } = await offered();
    const own = `/bootfs/${path.slice("/script/".length)}/machine.cpio`;
    const other = await offered();
    expect((await http(own, other.address)).status).toBe(404);
    const got = await http(own, address);
    expect([got.status, (await http(own, address)).status]).toEqual([200, 404]);
    const files = unpacked(got.body);
    expect([...files.keys()]).toEqual(["etc/berth/boot.properties", "etc/berth/networking.json"]);
    const properties = parseProperties(files.get("etc/berth/boot.properties")!);
    expect(Object.fromEntries(properties)).toMatchObject({
      boot: "enrol",
      boot_mac: mac,
      platform_stamp: LINUX_STAMP,
      rabbitmq: expect.stringMatching(`^${mac.replaceAll(":", "")}:[0-9a-f]{32}:127\\.0\\.0\\.1:\\d+$`),
    });
    expect(JSON.parse(files.get("etc/berth/networking.json")!).vnics[0]).toMatchObject({ mac, ip: address });
  });

  test("is announced by its agent with the machine's disks, and the agent then waits for the setup", async () => {
    const { mac, address, path } = await offered();
    const { body } = await http(`/bootfs/${path.slice("/script/".length)}/machine.cpio`, address);
    const folder = await temporaryFolder("announce");
    const stop = new AbortController();
    const log: string[] = [];
    try {
      for (const [name, text] of unpacked(body)) await writeFile(join(folder.path, basename(name)), text);
      const running = announce({
        boot_folder: folder.path,
        roots: await machineRoots(folder.path, { vda: 4e7, vdb: 4e7 }, mac),
        signal: stop.signal,
        restart: () => Promise.reject(new Error("the machine must not restart")),
        log: (line) => void log.push(line),
      });
      const node = async () => (await site.t.call("GET", `/v1/system/cns/${UUID}`)).body;
      await expect.poll(async () => (await node()).state, { timeout: 30_000 }).toBe("awaiting_setup");
      const { proposal } = okOf(await site.t.call("GET", `/v1/cns/${UUID}/setup-layout-proposal`));
      expect(proposal).toMatchObject({ layout: "mirror", destroys: ["vda", "vdb"] });
      await expect.poll(() => site.booter.enrolment.machines(), { timeout: 30_000 }).toBe(1);
      stop.abort();
      await running;
      expect(log).toEqual(["connected to 127.0.0.1"]);
    } finally {
      stop.abort();
      await folder.remove();
    }
  });

  test("the control plane shows the kind of each image", async () => {
    await expect.poll(async () => okOf(await site.t.call("GET", "/v2/platform-images")).items, { timeout: 30_000 })
      .toMatchObject([{ stamp: STAMP, kind: "smartos" }, { stamp: LINUX_STAMP, kind: "linux" }]);
    const refused = await site.t.call("PUT", "/v2/platform-images", { body: { stamps: [], kinds: { x: "linux" } } });
    expect([refused.status, refused.body.message]).toEqual([400, "kinds: x is not in stamps"]);
  });
});

/** Reads the regular files of an archive in the way that the kernel does, and checks that only root may read them. */
function unpacked(bytes: Uint8Array): Map<string, string> {
  const files = new Map<string, string>();
  const text = new TextDecoder("latin1").decode(bytes);
  const even = (at: number) => at + (4 - at % 4) % 4;
  for (let at = 0;;) {
    expect([at % 4, text.slice(at, at + 6)]).toEqual([0, "070701"]);
    const field = (index: number) => parseInt(text.slice(at + 6 + index * 8, at + 14 + index * 8), 16);
    const [mode, size, name_size] = [field(1), field(6), field(11)];
    const name = text.slice(at + 110, at + 109 + name_size);
    const start = even(at + 110 + name_size);
    if (name === "TRAILER!!!") return files;
    if ((mode & 0o170000) === 0o100000) {
      expect(mode & 0o777).toBe(0o600);
      files.set(name, text.slice(start, start + size));
    }
    at = even(start + size);
  }
}
