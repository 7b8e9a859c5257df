// Tests the guide to a Linux node. The machine has only a Debian root, which debootstrap installs, and the packages of
// a release. apt fetches the other packages that the guide names. Everything runs as the guide describes, in the
// system's own folders.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tinyGuest } from "../../src/dev/tiny-guest.ts";
import { serveImage } from "../compute/image-server.ts";
import { TEST_NETWORKS } from "../compute/instance-fixture.ts";
import { ROOT, runGuides, SESSION } from "../guides/run.ts";
import { openSite } from "../guides/site.ts";
import { TENANT } from "../machines/guide-tenant.ts";
import { openNodes } from "../machines/nodes.ts";
import { debianRoot, whyNoDebianRoot } from "../release/debian-root.ts";
import { releaseKeyIn } from "../release/small-release.ts";
import { needs, present } from "../support/optional-programs.ts";

const run = promisify(execFile);
const DISK_BYTES = 2 ** 20;
/** The packages that the machine gets from the release: the agent, and the programs of the operator and the tenant. */
const PACKAGES = ["nodeagent", "opsctl", "tenantctl"] as const;
const FOLDER = "/root/day";

test("a machine with only Debian becomes a node with a virtual machine", async (context) => {
  const reason = whyNoDebianRoot();
  context.skip(reason !== null, reason ?? "");
  needs(context, ...SESSION, "dpkg", "ip", "nsenter", "unshare");
  await using open = new AsyncDisposableStack();
  const place = await openNodes(1);
  open.defer(() => place.close());
  const site = await openSite({ HOST: place.address, BERTH_FETCH_ALLOWED_PRIVATE: JSON.stringify(TEST_NETWORKS) });
  open.defer(() => site.close());
  const images = await serveImage(tinyGuest(DISK_BYTES), place.address);
  open.defer(() => images.close());
  const proxy = await archiveProxy(place.address);
  open.defer(() => void proxy.server.close());

  const release = join(site.folder, "release");
  const architecture = (await run(present("dpkg"), ["--print-architecture"])).stdout.trim();
  const wanted = ["--architecture", architecture, ...PACKAGES.flatMap((name) => ["--package", name])];
  const key = await releaseKeyIn(site.folder);
  await run(process.execPath, ["run", "-A", "cli/release/main.ts", "--key", key, "--out", release, ...wanted], {
    cwd: ROOT,
    maxBuffer: 2 ** 26,
  });
  const root = await debianRoot(join(site.folder, "debian"));
  open.defer(() => root.remove());
  const inside = join(root.path, FOLDER);
  await mkdir(inside);
  await writeFile(join(root.path, "etc/apt/apt.conf.d/proxy"), `Acquire::http::Proxy "${proxy.url}";\n`);
  await writeFile(join(inside, "image.raw"), images.bytes);
  for (const name of (await readdir(release)).filter((each) => each.endsWith(".deb"))) {
    await copyFile(join(release, name), join(inside, name));
  }

  const enter = [present("nsenter"), ...place.nodes[0]!.enter.slice(1)];
  await runGuides(["linux-node"], {
    folder: inside,
    wrap: (argv) => {
      const [program, ...words] = [...enter, ...root.wrap(argv.map((word) => word.replace(inside, FOLDER)), FOLDER)];
      return [program!, ...words];
    },
    env: { ...site.env, IMAGE_FILE: `${FOLDER}/image.raw`, IMAGE_URL: images.url, HOME: FOLDER },
    before: `${INSTALL}\n${TENANT}`,
    // Adds a UUID to the guide's options, because a machine in a cloud may have none in its firmware.
    instead: { "--driver qemu": "--driver qemu --server-uuid 3f2a9c1e-0000-4000-8000-00000000c0df" },
  });
  expect(await readdir(join(root.path, "var/lib/berth/vm"))).toEqual([]);
});

/** The operator's and the tenant's programs, which are on other machines than the node in a real site. */
const INSTALL = `
mount -t sysfs sysfs /sys
apt-get update
apt-get install --yes --no-install-recommends ./opsctl_*.deb ./tenantctl_*.deb curl
`;

/** Starts a proxy for Debian's archive: the node is in a network that does not lead to the internet. */
async function archiveProxy(host: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { method, headers, url = "" } = request;
    const asked = httpRequest(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.once("error", () => response.destroy());
    request.pipe(asked);
  });
  server.listen(0, host);
  await once(server, "listening");
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, server };
}
