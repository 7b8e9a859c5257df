// A tenant uses a real VM: the compiled tenantctl, a server as `task start` starts it, the compiled agent, and a guest
// in QEMU. See docs/instances.md.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isPng } from "../../src/lib/console/png.ts";
import { BOOT, MEMORY_BYTES, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

/** The offset of the picture's width in a PNG file, in bytes. The height follows the width. */
const PNG_WIDTH_AT = 16;
const SECTOR_BYTES = 512;
const MIB = 2 ** 20;
const FILLED_MIB = 256;
/** The number of times that the test tries to kill the agent during a copy. */
const KILLS_MAX = 5;
/** The number of packets that a guest sends, and the number of bytes in each packet. */
const PINGS = 30;
const PING_BYTES = 1_400;
let site: Site;
let id: string;

withMachine(async () => {
  site = await openSite();
  id = await site.create("web1");
  return site.close;
});

const tenantctl = (argv: readonly string[], typed?: string) => site.tenantctl(argv, typed);

test("instance log prints what the guest wrote, and instance console types into its shell", async () => {
  await site.logged("web1", /ready host=web1/);
  const { code, out, err } = await tenantctl(["instance", "console", "web1"], "echo the answer is $((6 * 7))\n");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("the answer is 42");
});

test("instance show prints the addresses that the guest reports", async () => {
  const { items: [nic] } = JSON.parse((await tenantctl(["nic", "list", "--instance", "web1", "-o", "json"])).out);
  await expect.poll(async () => (await site.show("web1")).guest_interfaces, BOOT).toEqual([
    { mac: nic.mac, addresses: [nic.primary_ipv4] },
  ]);
  const { out } = await tenantctl(["instance", "show", "web1", "-o", "table"]);
  expect(out).toMatch(new RegExp(`^the guest reports: +${nic.primary_ipv4}$`, "m"));
});

test("a running guest sees its grown disk without a reboot", async () => {
  const { items: [disk] } = JSON.parse((await tenantctl(["disk", "list", "--instance", "web1", "-o", "json"])).out);
  const size_bytes = disk.size_bytes + 2 ** 26;
  const grown = await tenantctl([
    ...["disk", "resize", disk.name, "--instance", "web1", "--size-bytes", String(size_bytes)],
  ]);
  expect([grown.code, grown.err]).toEqual([0, ""]);
  const sectors = async () => (await tenantctl(["instance", "console", "web1"], "cat /sys/block/vda/size\n")).out;
  await expect.poll(sectors, BOOT).toContain(`${size_bytes / SECTOR_BYTES}\r\n`);
  const shown = JSON.parse((await tenantctl(["disk", "list", "--instance", "web1", "-o", "json"])).out);
  expect(shown.items[0]).toMatchObject({ size_bytes, applied_bytes: size_bytes });
});

test("instance metrics shows what the guest uses", async () => {
  const samples = async () => JSON.parse((await tenantctl(["instance", "metrics", "web1", "-o", "json"])).out).samples;
  await expect.poll(async () => (await samples()).length, BOOT).toBeGreaterThan(1);
  const all = await samples();
  const [last, before] = [all.at(-1), all.at(-2)];
  expect(last.cpu_seconds).toBeGreaterThanOrEqual(before.cpu_seconds);
  expect(last.cpu_seconds).toBeGreaterThan(1);
  expect(last.memory_bytes).toBeGreaterThan(MEMORY_BYTES / 4);
  // The guest has read its operating system from the disk.
  expect(last.disk_read_bytes).toBeGreaterThan(2 ** 20);
  // The guest sent packets when it configured its network.
  expect(last.network_sent_bytes).toBeGreaterThan(0);
  expect((await tenantctl(["instance", "metrics", "web1", "-o", "table"])).out).toMatch(
    /^TIME .*\n20\S+ +\d+ % +\d+ MiB/,
  );
});

test("usage counts what the guest sends and receives", async () => {
  await site.logged("web1", /ready host=web1/);
  const today = async () => {
    const { code, out, err } = await tenantctl(["usage", "-o", "json"]);
    expect([code, err]).toEqual([0, ""]);
    const [day = { network_in_bytes: 0, network_out_bytes: 0 }] = JSON.parse(out).days.toReversed();
    return day;
  };
  const before = await today();
  const command = `ping -q -c ${PINGS} -i 0.1 -s ${PING_BYTES} $(ip route | awk '/^default/ {print $3}')`;
  await tenantctl(["instance", "console", "web1"], `${command}\n`);
  await site.logged("web1", new RegExp(`${PINGS} packets received`));
  // The agent of this site reports the counters each second.
  for (const field of ["network_out_bytes", "network_in_bytes"] as const) {
    const more = async () => (await today())[field] - before[field];
    await expect.poll(more, BOOT).toBeGreaterThanOrEqual(PINGS * PING_BYTES);
    expect(await more()).toBeLessThan(2 * PINGS * PING_BYTES);
  }
  const csv = await tenantctl(["usage", "-o", "csv"]);
  expect(csv.out.split("\n")[0]).toContain("network_out");
});

test("a tenant and an operator save the screen", async () => {
  for (
    const [name, take] of [
      ["tenant.png", (to: string) => tenantctl(["instance", "screenshot", "web1", "--to", to])],
      ["operator.png", (to: string) => site.opsctl(["instance", "screenshot", id, "--to", to])],
    ] as const
  ) {
    const file = join(site.folder, name);
    const { code, err } = await take(file);
    expect([code, err]).toEqual([0, ""]);
    const picture = await readFile(file);
    expect(isPng(picture)).toBe(true);
    // The size of the BIOS's text mode.
    expect([picture.readUInt32BE(PNG_WIDTH_AT), picture.readUInt32BE(PNG_WIDTH_AT + 4)]).toEqual([720, 400]);
  }
});

test("a reset boots the guest again in the same QEMU process", async () => {
  await site.logged("web1", /ready host=web1/);
  const before = await site.machines();
  const { code, out, err } = await tenantctl(["instance", "reset", "web1", "-o", "table"]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^state: +running$/m);
  await site.logged("web1", /ready host=web1[^]*ready host=web1/);
  expect(await site.machines()).toEqual(before);
  const operator = await site.opsctl(["instance", "reset", id]);
  expect([operator.code, operator.out]).toEqual([0, "Instance web1 was reset.\n"]);
  await site.logged("web1", /(ready host=web1[^]*){3}/);
  // The console is open before the reset, so it shows the first lines of the guest.
  const console = await tenantctl(["instance", "console", "web1", "--reset"], "");
  expect([console.code, console.err]).toEqual([0, ""]);
  await site.logged("web1", /(ready host=web1[^]*){4}/);
});

test("a data disk appears in the running guest, keeps its data while it is detached, and is deleted", async () => {
  const disk = async (...argv: string[]) => {
    const { code, out, err } = await tenantctl(["disk", ...argv, "--instance", "web1", "-o", "json"]);
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out);
  };
  const guest = async (command: string) => (await tenantctl(["instance", "console", "web1"], `${command}\n`)).out;
  const has = (pattern: RegExp, command: string) => expect.poll(() => guest(command), BOOT).toMatch(pattern);
  const { id: disk_id } = await disk("create", "--name", "data", "--size", "64MiB");
  const sectors = 64 * 2 ** 20 / 512;
  await has(new RegExp(`^sectors ${sectors}\\r?$`, "m"), "echo sectors $(cat /sys/block/sda/size)");
  // Page 0x80 of the device is its serial number.
  await has(new RegExp(`serial .*${disk_id}`), "echo serial $(tail -c 36 /sys/block/sda/device/vpd_pg80)");
  await guest("echo kept data | dd of=/dev/sda conv=sync; sync");
  expect(await disk("detach", "data")).toMatchObject({ attached: false });
  await has(/^disks 0\r?$/m, "echo disks $(ls /dev | grep -c ^sda)");
  expect(await disk("attach", "data")).toMatchObject({ attached: true });
  await has(/^found kept data/m, "echo found $(head -c 9 /dev/sda)");
  await disk("detach", "data");
  expect((await tenantctl(["disk", "delete", "data", "--instance", "web1"])).code).toBe(0);
  const { items } = JSON.parse((await tenantctl(["disk", "list", "--instance", "web1", "-o", "json"])).out);
  expect(items).toHaveLength(1);
});

test("an agent that is killed during the copy of a disk takes the snapshot after its restart; the guest can still write", async () => {
  const run = async (...argv: string[]) => {
    const { code, out, err } = await tenantctl([...argv, "--instance", "web1", "-o", "json"]);
    expect([argv, code, err]).toEqual([argv, 0, ""]);
    return out;
  };
  const type = (command: string) => tenantctl(["instance", "console", "web1"], `${command}\n`);
  await run("disk", "create", "--name", "filled", "--size", `${FILLED_MIB}MiB`);
  // The shell loses what is typed before its first prompt.
  await site.logged("web1", /ready host=web1[^]*# /);
  // Data that cannot be compressed, so that a copy takes a while.
  await type(`dd if=/dev/urandom of=/dev/sda bs=1M count=${FILLED_MIB} conv=fsync && echo filled $((6 * 7))`);
  await site.logged("web1", /filled 42/);
  for (let tries = 1, isKilled = false; !isKilled; tries++) {
    expect(tries).toBeLessThanOrEqual(KILLS_MAX);
    const name = `copied-${tries}`;
    const taken = run("snapshot", "create", "filled", "--name", name);
    isKilled = await killAgentDuringCopy(taken);
    expect(JSON.parse(await taken)).toMatchObject({ name, size_bytes: FILLED_MIB * MIB });
    expect(await draftSizes()).toEqual([]);
  }
  await type("dd if=/dev/zero of=/dev/sda bs=1M count=1 conv=fsync && echo wrote $((6 * 7))");
  await site.logged("web1", /wrote 42/);
  await run("disk", "detach", "filled");
  await run("disk", "delete", "filled");
});

/** Returns whether the agent was killed during the copy. A busy machine can miss the moment. Starts the next agent. */
async function killAgentDuringCopy(taken: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  void taken.catch(() => {}).finally(() => isOver = true);
  // Reads without a pause, because QEMU copies the disk in less than a second.
  while (!(await draftSizes()).some((size) => size > 4 * MIB)) if (isOver) return false;
  await site.killAgent();
  const isLeft = (await draftSizes()).length === 1;
  site.startAgent();
  return isLeft;
}

/** Returns the sizes of the incomplete copies of web1's disks, in bytes. */
async function draftSizes(): Promise<number[]> {
  const folder = join(site.folderOf(0), "lib/vm", id);
  const drafts = (await readdir(folder)).filter((name) => name.endsWith(".copy"));
  return await Promise.all(drafts.map(async (name) => (await stat(join(folder, name)).catch(() => null))?.size ?? 0));
}

test("a stopped instance gets a second processor and more memory, and its guest has both after the start", async () => {
  const run = async (...argv: string[]) => {
    const { code, err } = await tenantctl(["instance", ...argv]);
    expect([argv, code, err]).toEqual([argv, 0, ""]);
  };
  await run("stop", "web1");
  await run("resize", "web1", "--cpu", "2", "--memory", String(2 * MEMORY_BYTES));
  await run("start", "web1");
  await site!.logged("web1", /ready host=web1/);
  const { out } = await tenantctl(
    ["instance", "console", "web1"],
    "echo size $(nproc) $(free -m | awk '/Mem/ {print $2}')\n",
  );
  const [, cpu, memory_mib] = /^size ([0-9]+) ([0-9]+)/m.exec(out)!;
  expect(cpu).toBe("2");
  expect(Number(memory_mib) * 2 ** 20).toBeGreaterThan(1.5 * MEMORY_BYTES);
});

test("an instance whose guest panics after each start is failed each time, and shows the reason", async () => {
  for (let round = 1; round <= 2; round += 1) {
    await tenantctl(["instance", "console", "web1"], "echo c > /proc/sysrq-trigger\n");
    await expect.poll(async () => (await site.show("web1")).lifecycle, BOOT).toEqual({
      state: "failed",
      reason: "the guest's kernel panicked; see the console's last output",
    });
    const { code, out } = await tenantctl(["instance", "log", "web1"]);
    expect(code).toBe(0);
    expect(out).toMatch(/Kernel panic[^]*\[berth: the guest's kernel panicked/);
    expect(await site.machines()).toEqual([]);
    expect((await tenantctl(["instance", "screenshot", "web1"])).err).toContain(
      "web1 is failed; a screenshot needs a running instance",
    );
    expect((await tenantctl(["instance", "retry", "web1"])).code).toBe(0);
    await site.logged("web1", /ready host=web1/);
  }
});

test("when a guest floods its console, the console of another guest on the node still works", async () => {
  await site.create("web2");
  await site.logged("web2", /ready host=web2/);
  // The flood begins after tenantctl has ended: with piped input, tenantctl runs until the guest is silent.
  await tenantctl(["instance", "console", "web1"], "(sleep 3; yes 0123456789 > /dev/ttyS0) &\n");
  await site.logged("web1", /(0123456789\r?\n){100}/);
  const { code, out } = await tenantctl(["instance", "console", "web2"], "echo the answer is $((6 * 7))\n");
  expect(code).toBe(0);
  expect(out).toContain("the answer is 42");
  // The log contains at most the last 1 MiB of the output.
  expect((await tenantctl(["instance", "log", "web1", "--raw"])).out.length).toBeLessThanOrEqual(2 ** 20);
  expect((await site.show("web1")).lifecycle).toEqual({ state: "running" });
});
