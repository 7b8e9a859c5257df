// Runs the complete setup script on scratch roots with fake platform tools and a fake booter. Some tests make a call of
// the script fail once and run the script again. `deno task trial` does this for every kind of call.
import { access, readlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { lacking, needs } from "../support/optional-programs.ts";
import { LAYOUT } from "./platform-tools.ts";
import {
  type Ended,
  failedOnce,
  HASH,
  KEY,
  kindsOfCalls,
  NEEDED,
  NEXT_STAMP,
  openScratchMachine,
  type ScratchMachine,
  type ScratchMachineFixture,
  STAMP,
  UUID,
} from "./scratch-machine.ts";

const why_not = lacking(...NEEDED);
let fixture: ScratchMachineFixture;
/** A run without failures. Several tests check it. */
let plain: ScratchMachine;
let ended: Ended;
/** A run with a value for every option of the setup. */
let chosen: ScratchMachine;
let chosen_calls: readonly string[];
const CHOICES = {
  cache: "false",
  exclude: "c9t0d0,c9t1d0",
  spares: "0",
  width: "3",
  compress: "lz4",
  ntp_server: "ntp.example",
};
beforeAll(async () => {
  if (why_not !== null) return;
  fixture = await openScratchMachine();
  [plain, chosen] = [await fixture.machine(), await fixture.machine()];
  for (const [key, value] of Object.entries(CHOICES)) chosen.values.set(key, value);
  [ended, { calls: chosen_calls }] = await Promise.all([plain.start(), chosen.start()]);
});
afterAll(() => fixture?.close());
beforeEach((context) => needs(context, ...NEEDED));

describe("a bare machine", () => {
  test("is set up in the specified order, and the run exits with 113", async () => {
    const { code, calls, err } = ended;
    expect([code, err.includes("made to fail"), await plain.state("unknown")]).toEqual([113, false, null]);
    expect(plain.reports.map(({ kind, step }) => kind === "progress" ? step : `${kind} ${step}`)).toEqual([
      "clock",
      "images",
      "refuse_existing_pool",
      "layout",
      "capacity_floor",
      "dry_run",
      "create_pool",
      "create_pool",
      "stamp",
      "datasets",
      "boot_tree",
      "node_config",
      "agent",
      "boot_loader",
      "complete complete",
    ]);
    const work = calls.filter((each) => !/^(zfs list|digest|mount -p|swap -l)/.test(each));
    expect(work.map((each) => each.replaceAll(plain.root, "ROOT"))).toMatchSnapshot();
  });

  test("gets a pool with exactly the arguments of the dry run: mirrors, log, cache and, at the end, the spares", async () => {
    expect(await chosen.state("dry")).toBe(
      `-f -B -o ashift=12 -O org.smartos:server_uuid=${UUID} -O compression=lz4 zones ` +
        "mirror c1t0d0 c1t1d0 mirror c1t2d0 c1t3d0 log c2t9d0 cache c2t0d0 c2t1d0 spare c1t4d0",
    );
  });

  test("has its boot files, name, keys and agent on disk", async () => {
    expect(await plain.disk(`zones/boot/platform-${STAMP}/i86pc/kernel/amd64/unix`)).toBe("the kernel");
    expect(await plain.disk("zones/boot/platform/i86pc/kernel/amd64/unix")).toBe("the kernel");
    expect(await plain.disk(`zones/boot/os/${STAMP}/platform/i86pc/kernel/amd64/unix`)).toBe("the kernel");
    expect(await plain.disk("zones/boot/etc/version/boot")).toBe(`${STAMP}\n`);
    expect(await plain.disk("zones/boot/boot/loader.conf")).toBe(
      `fstype="ufs"\nconsole="text"\nos_console="text"\nroot_shadow='${HASH}'\n`,
    );
    expect(await plain.disk("zones/config/node.config")).toBe(`hostname='node-7'\nserver_uuid='${UUID}'\n`);
    // The script must not run a value that looks like a command.
    expect(await plain.disk("zones/config/authorized_keys")).toBe(
      "ssh-ed25519 AAAA operator's key $(reboot) `reboot`\n",
    );
    expect(JSON.parse(await plain.disk("opt/nodeagent/state/credentials.json"))).toEqual({
      server_uuid: UUID,
      api_key: KEY,
      console_ticket_key_hex: "aa",
      imds_token_key_hex: "bb",
      migrate_ticket_key_hex: "cc",
    });
    expect(await plain.disk("opt/nodeagent/installed")).toBe(
      `nodeagent|https://berth.example|${join(plain.root, "disk/opt/nodeagent/state")}|`,
    );
    await expect(access(join(plain.root, "disk/var/tmp/setup"))).rejects.toThrow();
  });

  test("S-23: has no secret in the arguments of platform tools or in the output of the script", () => {
    for (const secret of [KEY, plain.token, HASH]) {
      expect(ended.calls.join("\n")).not.toContain(secret);
      expect(ended.err).not.toContain(secret);
    }
  });

  test("gets the boot loader once on every device of its pool, including log, cache and spare devices", () => {
    const disks = ended.calls.filter((each) => each.startsWith("installboot ")).map((each) => each.split("/").at(-1));
    expect(disks).toEqual(["c1t0d0s1", "c1t1d0s1", "c2t9d0s1", "c2t0d0s1", "c2t1d0s1", "c1t4d0s1"]);
  });

  test("gets its layout from the operator's choices, including the choice of 0 spares", () => {
    expect(chosen_calls).toContain("disklayout -c -e c9t0d0,c9t1d0 -s 0 -w 3 mirror");
  });

  test("sets its clock from the configured time server, and otherwise from the booter", () => {
    expect(ended.calls).toContain("date -u 112112452026.14");
    expect(chosen_calls).toContain("ntpdate -b -u ntp.example");
    expect(chosen_calls.some((each) => each.startsWith("date"))).toBe(false);
  });
});

describe("a run fails and changes no disk if", () => {
  const refusals: readonly [string, (machine: ScratchMachine) => Promise<unknown> | unknown, string, RegExp, number][] =
    [
      [
        "the machine runs another image",
        ({ put }) => put("running", "joyent_other\n"),
        "images",
        /runs joyent_other/,
        1,
      ],
      [
        "the platform archive is wrong",
        ({ values }) => values.set("platform_image_sha256", "0".repeat(64)),
        "images",
        /has SHA-256/,
        1,
      ],
      [
        "the boot archive is wrong",
        ({ values }) => values.set("boot_image_sha256", "0".repeat(64)),
        "images",
        /has SHA-256/,
        1,
      ],
      [
        "the layout tool finds no layout",
        ({ put }) => put("layout_error", "no acceptable raidz layout"),
        "layout",
        /no acceptable raidz/,
        1,
      ],
      [
        "the pool would have less than twice the memory",
        ({ put }) => put("layout.json", JSON.stringify({ ...LAYOUT, capacity: 2 * 1_024 * 1_048_576 - 1 }, null, "\t")),
        "capacity_floor",
        /twice the memory/,
        1,
      ],
      ["the dry run fails", ({ put }) => put("refuse_layout"), "dry_run", /cannot be created/, 1],
      [
        "the layout tool returns an invalid disk name",
        ({ put }) => put("layout.json", JSON.stringify({ ...LAYOUT, logs: [{ name: "-f x" }] }, null, "\t")),
        "dry_run",
        /invalid disk name/,
        1,
      ],
      [
        "another machine's pool exists",
        async ({ put }) => {
          await put("pool");
          await put("datasets/zones", "11111111-2222-3333-4444-555555555555");
        },
        "refuse_existing_pool",
        /not this machine's/,
        20,
      ],
      [
        "a pool without a stamp exists",
        async ({ put }) => {
          await put("pool");
          await put("datasets/zones");
          await put("datasets/zones+var");
        },
        "refuse_existing_pool",
        /its stamp: -/,
        20,
      ],
      [
        "an exported pool belongs to another machine",
        async ({ put }) => {
          await put("exported");
          await put("datasets/zones", "11111111-2222-3333-4444-555555555555");
        },
        "refuse_existing_pool",
        /not this machine's/,
        20,
      ],
      [
        "a pool exists that cannot be imported",
        async ({ put }) => {
          await put("exported");
          await put("damaged");
        },
        "refuse_existing_pool",
        /cannot be imported/,
        20,
      ],
      [
        "the approval has ended",
        (machine) => machine.answer = (step) => step === "create_pool" ? 409 : 200,
        "create_pool",
        /could not be confirmed/,
        1,
      ],
    ];
  test.concurrent.for(refusals)("%s", async ([_name, arrange, step, message, status], { expect }) => {
    const machine = await fixture.machine();
    await arrange(machine);
    const { code, calls } = await machine.start();
    expect([code, await machine.created(), await machine.state("unknown")]).toEqual([status, 0, null]);
    expect(calls.some((each) => /^(zfs create|zfs set|installboot|zpool create (?!-n))/.test(each))).toBe(false);
    const last = machine.reports.at(-1)!;
    expect([last.kind, last.step]).toEqual(["failed", step]);
    expect(last.text).toMatch(message);
  });
});

test.concurrent("a pool with a capacity of exactly twice the memory is accepted", async ({ expect }) => {
  const machine = await fixture.machine();
  await machine.put("layout.json", JSON.stringify({ ...LAYOUT, capacity: 2 * 1_024 * 1_048_576 }, null, "\t"));
  expect((await machine.start()).code).toBe(113);
});

describe("a pool of this machine", () => {
  test.concurrent.for([["imported", "pool"], ["exported", "exported"]] as const)(
    "that is %s is reused, and no existing dataset is created again",
    async ([_state, where], { expect }) => {
      const machine = await fixture.machine();
      const { put } = machine;
      await put(where);
      await put("datasets/zones", UUID);
      await put("datasets/zones+var", UUID);
      await put("datasets/zones+opt");
      const { code, calls } = await machine.start();
      expect([code, await machine.created()]).toEqual([113, 0]);
      expect(
        calls.some((each) =>
          each.startsWith("disklayout") || each.endsWith(" zones/opt") && each.startsWith("zfs create")
        ),
      ).toBe(false);
    },
  );
});

test.concurrent("a machine that is set up again with later images boots these images", async ({ expect }) => {
  const machine = await fixture.machine();
  expect((await machine.start()).code).toBe(113);
  await machine.put("running", `joyent_${NEXT_STAMP}\n`);
  machine.values.set("platform_stamp", NEXT_STAMP).set("boot_image_stamp", NEXT_STAMP);
  expect((await machine.start()).code).toBe(113);
  const boot = join(machine.root, "disk/zones/boot");
  expect([await readlink(join(boot, "platform")), await readlink(join(boot, "boot"))]).toEqual([
    `./platform-${NEXT_STAMP}`,
    `./boot-${NEXT_STAMP}`,
  ]);
  expect(await machine.disk(`zones/boot/boot-${NEXT_STAMP}/loader.conf`)).toContain("console=");
  // The setup does not change the earlier images.
  await expect(readlink(join(boot, `platform-${STAMP}/platform-${NEXT_STAMP}`))).rejects.toThrow("ENOENT");
});

describe("after a failed call the failure is reported, the next run succeeds, and the pool was created once:", () => {
  // These calls fail: a call before the pool is created, the creation of the pool, the first `zfs create`, the first
  // `installboot`, and the last call, `sync`. The failure of `sync` can be reported only if `sync` runs before the
  // report of the end.
  const PREFIXES = ["disklayout", "zpool create -f", "zfs create", "installboot", "sync"];
  test.concurrent.for(PREFIXES)("%s", async (prefix, { expect }) => {
    const failing = ended.calls.findIndex((each) => each.startsWith(prefix));
    expect(failing).toBeGreaterThanOrEqual(0);
    expect(await failedOnce(fixture, { call: prefix, at: failing + 1 })).toBeNull();
  });
});

// setup-stress.ts makes one call of each kind fail. If few kinds were found, it would test little.
test("a run has more than 18 kinds of calls", () => {
  expect(kindsOfCalls(ended.calls).length).toBeGreaterThan(18);
});

test.concurrent("a run that cannot report its end exits with 1, so the machine does not restart", async ({ expect }) => {
  const machine = await fixture.machine();
  machine.answer = (step) => step === "complete" ? 503 : 200;
  const { code } = await machine.start();
  expect(code).toBe(1);
});
