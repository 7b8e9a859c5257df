// Boots a Debian with the real cloud-init on a real node. The guest gets its hostname, its network, the tenant's key
// and user data.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { imageBody } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import { builtCloudImage } from "../guest/guest.ts";
import { withMachine } from "../machines/machine.ts";
import { openSite, type Site } from "../machines/site.ts";
import { okOf } from "../support/control-plane.ts";
import { present } from "../support/optional-programs.ts";

const run = promisify(execFile);
/** Time for Debian to boot without KVM on a busy machine. */
const BOOT = { timeout: 1_200_000, interval: 1_000 };
const MEMORY_BYTES = 640 * 2 ** 20;
const USER_DATA = `#cloud-config
write_files:
  - path: /srv/written
    content: written by user data
runcmd:
  - [sh, -c, "echo ran by user data > /srv/ran"]
`;

let site: Site;
let image_id: string;
let key: string;

withMachine(
  async () => {
    const image = await builtCloudImage();
    site = await openSite();
    const images = await serveImage(await readFile(image.path), site.address);
    const body = imageBody({ ...image, url: images.url });
    image_id = okOf(await site.call("POST", `/v1/tenants/${site.tenant_id}/images`, { body })).id;
    key = join(site.folder, "key");
    await run(present("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    return async () => {
      await site.close();
      await images.close();
    };
  },
  ...["debootstrap", "chroot", "nft", "ssh", "ssh-keygen"] as const,
);

test("Debian's cloud-init gives the guest its hostname, network, key and user data", async () => {
  await site.tenantctl(["ssh-key", "create", "--name", "laptop", "--public-key-file", `${key}.pub`]);
  const user_data = join(site.folder, "user-data");
  await writeFile(user_data, USER_DATA);
  const created = await site.tenantctl([
    ...["instance", "create", "--name", "web1", "--image-id", image_id, "--primary-subnet-id", site.subnet_id],
    ...["--cpu", "1", "--memory-bytes", String(MEMORY_BYTES), "--ssh-key-id", "laptop"],
    ...["--user-data-file", user_data],
  ]);
  expect([created.code, created.err]).toEqual([0, ""]);
  const begun_ms = performance.now();
  const { id } = await site.show("web1");
  const [nic] = okOf(await site.call("GET", `/v1/nics?instance=${id}`)).items;
  const { vni } = okOf(await site.call("GET", `/v1/vpcs/${nic.vpc_id}`));
  const options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=10"];
  const ssh = (command: string) =>
    site.nodes[0]!.run(
      ...["ip", "netns", "exec", `berth-${vni}`, "ssh", ...options.flatMap((option) => ["-o", option])],
      ...["-o", "LogLevel=ERROR", "-i", key, `debian@${nic.primary_ipv4}`, command],
    );
  await expect.poll(() => ssh("hostname").catch(() => ""), BOOT).toBe("web1\n");
  console.log(`ssh after ${Math.round((performance.now() - begun_ms) / 1_000)} s`);
  // The command exits with 1 if a module of cloud-init failed. With --long, its output names the module.
  expect(await ssh("cloud-init status --wait --long || true")).toContain("status: done");
  console.log(`cloud-init ended after ${Math.round((performance.now() - begun_ms) / 1_000)} s`);
  expect(await ssh("cat /run/cloud-init/cloud-id")).toBe("nocloud\n");
  expect(await ssh("cat /srv/written /srv/ran")).toBe("written by user dataran by user data\n");
  expect(await ssh("ip -4 -o addr show scope global")).toContain(` ${nic.primary_ipv4}/24 `);
  expect(await ssh("cat /sys/class/net/e*/mtu")).toBe("1450\n");
  // The guest agent of Debian reports the same address.
  await expect.poll(async () => (await site.show("web1")).guest_interfaces, BOOT).toEqual([
    { mac: nic.mac, addresses: [nic.primary_ipv4] },
  ]);
});

test("the power button turns Debian off, and a delete of the instance leaves nothing on the node", async () => {
  expect((await site.tenantctl(["instance", "log", "web1"])).out).toContain("web1 login:");
  expect((await site.tenantctl(["instance", "stop", "web1"])).code).toBe(0);
  expect((await site.tenantctl(["instance", "log", "web1"])).out).not.toContain("ignored the power button");
  expect((await site.tenantctl(["instance", "delete", "web1"])).code).toBe(0);
  await expect.poll(() => site.left(), BOOT).toEqual([]);
});
