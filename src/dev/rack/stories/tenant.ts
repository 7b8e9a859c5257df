// The story "tenant": a tenant with a network, a NAT gateway, a floating IP, and a virtual machine on each node. The
// machines run the test guest, a small Linux with ssh and a web server.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { builtGuest } from "../build.ts";
import { operate, operateJson } from "../command-line.ts";
import { isSignedIndex } from "../index-site.ts";
import { DEBIAN, EXTERNAL, MACHINES } from "../plan.ts";
import { must, until } from "../processes.ts";
import { check, say } from "../report.ts";
import { INTERNET, makeSshKey, PROJECT, rent, saveKey, ssh, sshUntil, tenantctl, waitFor } from "../tenant.ts";

/**
 * Without KVM, QEMU emulates the node's processor, and the QEMU on the node emulates the guest's processor. Then a boot
 * takes 1 to 5 minutes on two cores.
 */
export const GUEST_LIMIT_MS = 1_200_000;
const PLACE_LIMIT_MS = 300_000;
const GUEST_MEMORY = "160MiB";
const [FIRST, SECOND] = MACHINES.map(({ hostname }) => hostname) as [string, string];

/** The guest writes a growing number to its disk, so that a later story sees whether the guest has lost data. */
const COUNTER = `#!/bin/sh
(i=0; while :; do i=$((i+1)); echo $i > /persist/count.new; sync; mv /persist/count.new /persist/count; sleep 1; done) &
`;

export async function tenant(): Promise<void> {
  await site();
  await network();
  await instances();
  const address = await publicAddress();
  await reach(address);
}

/** The operator's part: a tenant, and a network for public addresses. */
async function site(): Promise<void> {
  await operate("nic-tag", "create", EXTERNAL.tag, "--mtu", "1500");
  await operate(
    ...["external-subnet", "create", "internet", "--nic-tag", EXTERNAL.tag, "--ipv4-block", EXTERNAL.block],
  );
  for (const { hostname } of MACHINES) await operate("cn", "label", "set", hostname, "--role", "both");
  await operate("silo", "create", "acme");
  await operate("tenant", "create", "web", "--silo", "acme");
  await operate("project", "create", PROJECT, "--tenant", "web");
  await operate(
    "quota",
    "set",
    `web/${PROJECT}`,
    "--cpu",
    "8",
    "--memory",
    "4GiB",
    "--disk",
    "8GiB",
    "--instances",
    "8",
  );
  await saveKey(await operate("api-key", "create", "--tenant", "web", "--description", "web team"));
  check("the control plane serves the image index with a good signature", await isSignedIndex());
  const found = await rent("image", "search", "--distro", "debian");
  check("the tenant finds Debian in the image index", JSON.stringify(found).includes("debian"), found);
}

async function network(): Promise<void> {
  await rent("vpc", "create", "--name", "main", "--ipv4-block", "10.0.0.0/16");
  await rent("subnet", "create", "--vpc", "main", "--name", "front", "--ipv4-block", "10.0.1.0/24");
  const rule = ["--action", "allow", "--direction", "in", "--priority", "100", "--protocol", "tcp"];
  await rent("firewall-rule", "create", "--vpc", "main", "--name", "ssh", ...rule, "--destination-ports", "22");
  await rent("firewall-rule", "create", "--vpc", "main", "--name", "http", ...rule, "--destination-ports", "80");
  await rent("nat-gateway", "create", "--vpc", "main", "--name", "out");
  const route = ["--route-table", "main", "--destination", "0.0.0.0/0", "--target-nat-gateway", "out"];
  await rent("route", "create", "--vpc", "main", "--name", "default", ...route);
  check("the tenant has a VPC with rules, and a NAT gateway for its default route", true);
}

/**
 * Uploads the guest's image, and creates an instance on each node. While an instance is placed, the other node is
 * cordoned.
 */
async function instances(): Promise<void> {
  const guest = await builtGuest();
  await cp(guest, join(DEBIAN, "root/guest.qcow2"));
  const size_bytes = JSON.parse(await must(["qemu-img", "info", "--output=json", guest]))["virtual-size"];
  const about = ["--name", "guest", "--os", "linux", "--image-version", "1", "--content-size", String(size_bytes)];
  await rent("image", "upload", "/root/guest.qcow2", ...about);
  await rent("ssh-key", "create", "--name", "laptop", "--public-key-file", await makeSshKey());
  for (const [name, host, other] of [["web1", FIRST, SECOND], ["web2", SECOND, FIRST]] as const) {
    await operate("cn", "cordon", other);
    await create(name);
    const placed = await until(`${name} is placed`, PLACE_LIMIT_MS, async () => {
      return (await rent("instance", "show", name)).host_cn_uuid as string | null;
    });
    const { server_uuid } = await operateJson("cn", "show", host);
    check(`${name} is placed on ${host}`, placed === server_uuid, placed);
    await operate("cn", "uncordon", other);
  }
  for (const name of ["web1", "web2"]) {
    await waitFor(name, "running", GUEST_LIMIT_MS);
    check(`${name} runs`, true);
  }
}

async function create(name: string): Promise<void> {
  const { code, stderr } = await tenantctl([
    ...["instance", "create", "--name", name, "--image", "guest", "--vpc", "main", "--subnet", "front", "--cpu", "1"],
    ...["--memory", GUEST_MEMORY, "--ssh-key", "laptop", "--no-wait", "--user-data-file", "-"],
  ], COUNTER);
  check(`the tenant orders ${name}`, code === 0, stderr);
}

async function publicAddress(): Promise<string> {
  const { address } = await rent("floating-ip", "create", "--name", "www");
  const { items: [nic] } = await rent("nic", "list", "--instance", "web1");
  await rent("floating-ip", "attach", "www", "--nic", nic.id);
  say(`the floating IP of web1 is ${address}`);
  return address;
}

/**
 * Reaches the first guest from the internet, the second guest from the first guest, and the internet from both guests.
 */
async function reach(address: string): Promise<void> {
  const name = await sshUntil(address, "hostname", /^web1\n$/, GUEST_LIMIT_MS);
  check("ssh from the internet with the tenant's key reaches web1", name === "web1\n", name);
  const fetched = await ssh(address, `wget -q -O - ${INTERNET}`);
  check("web1 reaches the internet with its floating IP", fetched.stdout.trim() === address, fetched);
  const { items: [nic] } = await rent("nic", "list", "--instance", "web2");
  const other = await sshUntil(address, `wget -q -O - http://${nic.primary_ipv4}/`, /web2/, GUEST_LIMIT_MS);
  check("web1 reaches web2 on the other node", other.trim() === "web2", other);
  const gateway = await rent("nat-gateway", "show", "out", "--vpc", "main");
  const typed = await tenantctl(["instance", "console", "web2"], `echo seen as $(wget -q -O - ${INTERNET})\n`);
  const seen = /seen as (\d+\.\d+\.\d+\.\d+)/.exec(typed.stdout)?.[1];
  check("web2 reaches the internet through the NAT gateway", JSON.stringify(gateway).includes(`"${seen}"`), typed);
}
