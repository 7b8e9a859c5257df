// Tests the commands `tenantctl disk` and `tenantctl nic`.
import { expect, test } from "vitest";
import { DISK, INSTANCE, PRIMARY_NIC, PROJECT, SUBNET, TENANT, VPC } from "./records.ts";
import { requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

const env = { ...TOKEN_ENV, TENANTCTL_PROJECT: PROJECT };
const INSTANCES = `GET /v1/instances?tenant=${TENANT}&project=${PROJECT}`;
const GROWN = { ...DISK, size_bytes: 34_359_738_368 };
const ANSWERS = {
  "GET /v1/instances": { items: [INSTANCE] },
  "GET /v1/subnets": { items: [SUBNET] },
  "GET /v1/disks": { items: [DISK] },
  [`GET /v1/disks/${DISK.id}`]: DISK,
  "GET /v1/nics": { items: [PRIMARY_NIC] },
  [`GET /v1/nics/${PRIMARY_NIC.id}`]: PRIMARY_NIC,
};
const server = serving(ANSWERS);
const run = (...argv: string[]) => tenantctl(argv, { env, server });

const DISKS = `NAME  ID        INSTANCE  KIND  SIZE   ATTACHED\nboot  dddddddd  99999999  boot  20GiB  yes\n`;
const DISK_LINES = `id:          ${DISK.id}\nname:        boot\ninstance:    ${INSTANCE.id}\nkind:        boot\n` +
  `size_bytes:  21474836480\nattached:    true\n`;
const NICS = `NAME     ID        INSTANCE  IPV4      IPV6  MAC                FLOATING_IPS\n` +
  `primary  cccccccc  99999999  10.0.1.2  -     02:08:20:00:00:01  -\n`;
const NIC_LINES = `id:              ${PRIMARY_NIC.id}\nname:            primary\ninstance:        ${INSTANCE.id}\n` +
  `vpc:             ${VPC.id}\nsubnet:          ${SUBNET.id}\nmac:             02:08:20:00:00:01\n` +
  `primary_ipv4:    10.0.1.2\nprimary_ipv6:    -\nadditional_ips:  -\nallowed_cidrs:   -\nfloating_ips:    -\n`;

test.each([
  {
    argv: ["disk", "list", "--instance", INSTANCE.id],
    asks: [`GET /v1/disks?instance=${INSTANCE.id}`],
    prints: DISKS,
  },
  {
    argv: ["disk", "list", "--instance", "web-1"],
    asks: [INSTANCES, `GET /v1/disks?instance=${INSTANCE.id}`],
    prints: DISKS,
  },
  { argv: ["disk", "show", DISK.id], asks: [`GET /v1/disks/${DISK.id}`], prints: DISK_LINES },
  {
    argv: ["disk", "show", "boot", "--instance", INSTANCE.id],
    asks: [`GET /v1/disks?instance=${INSTANCE.id}`, `GET /v1/disks/${DISK.id}`],
    prints: DISK_LINES,
  },
  {
    argv: ["nic", "list", "--instance", "web-1"],
    asks: [INSTANCES, `GET /v1/nics?instance=${INSTANCE.id}`],
    prints: NICS,
  },
  {
    argv: ["nic", "list", "--subnet", "dmz", "--vpc", VPC.id],
    asks: [`GET /v1/subnets?vpc=${VPC.id}`, `GET /v1/nics?subnet=${SUBNET.id}`],
    prints: NICS,
  },
  { argv: ["nic", "list"], asks: [`GET /v1/nics?tenant=${TENANT}&project=${PROJECT}`], prints: NICS },
  { argv: ["nic", "list", "--ip", "10.0.1.2"], asks: ["GET /v1/nics?ip=10.0.1.2"], prints: NICS },
  { argv: ["nic", "show", PRIMARY_NIC.id], asks: [`GET /v1/nics/${PRIMARY_NIC.id}`], prints: NIC_LINES },
  {
    argv: ["nic", "show", "primary", "--instance", INSTANCE.id],
    asks: [`GET /v1/nics?instance=${INSTANCE.id}`, `GET /v1/nics/${PRIMARY_NIC.id}`],
    prints: NIC_LINES,
  },
])("the command sends the expected requests and prints the result: $argv", async ({ argv, asks, prints }) => {
  const ran = await run(...argv);
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran)).toEqual(asks);
  expect(ran.out()).toBe(prints);
});

test("-o json prints lists and records unchanged", async () => {
  const json = async (...argv: string[]) => JSON.parse((await run(...argv, "-o", "json")).out());
  expect(await json("disk", "list", "--instance", INSTANCE.id)).toEqual({ items: [DISK] });
  expect(await json("disk", "show", DISK.id)).toEqual(DISK);
  expect(await json("nic", "list", "--ip", "10.0.1.2")).toEqual({ items: [PRIMARY_NIC] });
  expect(await json("nic", "show", PRIMARY_NIC.id)).toEqual(PRIMARY_NIC);
});

test.each([
  { reboot_required: true, line: "Reboot required: the running instance sees the new size after a reboot." },
  { reboot_required: false, line: "The larger disk is available on the next start." },
])(
  "`resize` prints the new size and the time at which it takes effect: reboot_required $reboot_required",
  async ({ line, ...more }) => {
    const answers = { ...ANSWERS, [`POST /v1/disks/${DISK.id}/resize`]: { ...GROWN, ...more } };
    const at = (...argv: string[]) => tenantctl(["disk", "resize", ...argv], { env, server: serving(answers) });
    for (const size of [["--size-bytes", "34359738368"], ["--size-bytes", "32GiB"], ["--size", "32GiB"]]) {
      const ran = await at(DISK.id, ...size);
      expect(requestsOf(ran)).toEqual([`POST /v1/disks/${DISK.id}/resize`]);
      expect(ran.asked[0]!.body).toEqual({ size_bytes: 34_359_738_368 });
      expect(ran.out()).toBe(`Disk ${DISK.id} resized to 34359738368 bytes.\n${line}\n`);
    }
    const by_name = await at("boot", "--instance", "web-1", "--size-bytes", "32GiB", "-o", "json");
    expect(JSON.parse(by_name.out())).toEqual({ ...GROWN, ...more });
  },
);

test.each([
  { argv: ["disk", "show", "boot"], says: "boot is not the id of a disk; to find it by name, also pass --instance" },
  { argv: ["disk", "resize", DISK.id], says: "--size-bytes" },
  {
    argv: ["disk", "resize", DISK.id, "--size-bytes", "big"],
    says: "--size must be a number of bytes or a size",
  },
  {
    argv: ["disk", "resize", DISK.id, "--size", "20"],
    says: "--size 20 has no unit and would be 20B; did you mean 20GiB?",
  },
  { argv: ["disk", "create", "--name", "d", "--instance", "web-1", "--size", "10"], says: "did you mean 10GiB?" },
  { argv: ["instance", "resize", "web-1", "--memory", "8"], says: "did you mean 8GiB?" },
  { argv: ["nic", "show", "primary"], says: "also pass --instance" },
])("a wrong command is rejected before any request: $argv", async ({ argv, says }) => {
  const ran = await run(...argv);
  expect([ran.code, ran.asked]).toEqual([2, []]);
  expect(ran.err()).toContain(says);
});

test("completion offers the disks and NICs of the instance that the command line names", async () => {
  const complete = async (...argv: string[]) =>
    (await run("__complete", "--", ...argv)).out().split("\n").filter((line) => line !== "").map((line) =>
      line.split("\t")[0]
    );
  expect(await complete("disk", "show", "--instance", "web-1", "")).toEqual(["boot", DISK.id]);
  expect(await complete("nic", "show", "--instance=web-1", "p")).toEqual(["primary"]);
  expect(await complete("disk", "list", "--instance", "")).toEqual(["web-1", INSTANCE.id]);
  expect(await complete("disk", "show", "")).toEqual([]);
});
