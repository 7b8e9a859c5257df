// Opens a network namespace with a real control plane, a real booter on its usual ports, and QEMU machines that boot
// from the booter. The machines load an iPXE script as their kernel. The script prints on the console that the machine
// booted, and ends the machine.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { lacking, pathOf, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putPolicy } from "../setup/machine.ts";
import { type BooterProcess, serveControlPlane, startBooter } from "./booter-process.ts";
import { LINUX_STAMP, stageLinuxImage } from "./linux-files.ts";
import { SETUP_BLOCK, stageFiles, STAMP } from "./site.ts";
import { flash, stageHttps } from "./firmware.ts";
import { openForeignDhcp } from "./foreign-dhcp.ts";
import { openWire } from "./wire.ts";

const run = promisify(execFile);
const QEMU = "qemu-system-x86_64";
const BOOTER = "10.77.0.1";
const SECOND = "10.77.0.2";
const KERNEL =
  "#!ipxe\necho booted ${net0/mac} ${net0/ip} on ${platform} end\necho the last bytes before it stops may get lost\nreboot\n";

export const MODES = ["bios", "uefi", "uefi_http"] as const;
/** Firmware that only some tests use: ARM64, Secure Boot, and boot by HTTPS. */
export const MORE_MODES = ["arm64", "arm64_http", "secure", "secure_http", "uefi_https"] as const;
export type Mode = (typeof MODES)[number] | (typeof MORE_MODES)[number];

export type Vm = {
  /**
   * Waits until the pattern appears on the machine's console, or the machine ends. Returns whether the pattern
   * appeared.
   */
  prints(pattern: RegExp): Promise<boolean>;
  console(): Promise<string>;
  /** Returns the number of bytes that the machine has received. */
  received(): Promise<number>;
  off(): Promise<void>;
};

export type NetbootFixture = {
  readonly t: TestControlPlane;
  booter(): BooterProcess;
  /** Starts a second booter on the same network. It has its own key, state, files and address (10.77.0.2). */
  second(): Promise<BooterProcess>;
  /** Kills the running booter and starts it again with the same state. */
  restart(): Promise<void>;
  /** Starts a machine. `uuid` is its SMBIOS UUID in text form. */
  power(mac: string, mode: Mode, uuid?: string): Promise<Vm>;
  close(): Promise<void>;
};

/** Returns the reason why the fixture cannot be opened on this machine, or null. */
export async function whyNoNetboot(modes: readonly Mode[]): Promise<string | null> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "emulated machines need root on Linux";
  const reason = lacking(QEMU, "ip", "iPXE for BIOS", "iPXE on QEMU's network card") ??
    (modes.some((each) => each !== "bios") ? lacking("UEFI firmware", "UEFI variables", "iPXE for UEFI") : null);
  if (reason !== null) return reason;
  const tunnels = "/dev/net/tun";
  if (!existsSync(tunnels)) return `${tunnels} is missing`;
  // Root in a container may lack permission to create networks.
  const name = `berth-try-${process.pid}`;
  return await inOrder([`ip netns add ${name}`, `ip -n ${name} tuntap add dev tap0 mode tap`, `ip netns del ${name}`])
    .then(() => null, async () => {
      await inOrder([`ip netns del ${name}`]).catch(() => {});
      return "the permission to create networks is missing";
    });
}

export type NetbootFixtureOptions = {
  /** The boot policy's allowlist. An empty allowlist admits every machine. */
  readonly allowlist?: readonly unknown[];
  /** The kind of the image with which machines enrol. */
  readonly kind?: "smartos" | "linux" | "arm64";
  /** Whether another DHCP server assigns the addresses (10.77.0.150 to 10.77.0.199), and the booter is a proxy. */
  readonly is_proxy?: boolean;
  /** Whether the booter serves HTTPS. The machines trust its certificate. */
  readonly is_https?: boolean;
  /** The path of a compiled booter. By default, the booter runs from its source. */
  readonly executable?: string;
  /** A function that adds files to the folder that the booter serves. */
  readonly prepare?: (files: string) => Promise<void>;
};

export async function openNetbootFixture(
  { allowlist = [], kind = "smartos", is_proxy = false, is_https = false, executable, prepare }: NetbootFixtureOptions =
    {},
): Promise<NetbootFixture> {
  const folder = await temporaryFolder("netboot");
  const space = `berth-boot-${process.pid}`;
  const inside = ["ip", "netns", "exec", space];
  const machines = new Set<Vm>();
  const closers: (() => Promise<unknown>)[] = [folder.remove];
  const close = async () => {
    await Promise.all([...machines].map((each) => each.off()));
    for (const each of closers.reverse()) await each();
  };
  try {
    await stageFiles(folder.path);
    await writeFile(join(folder.path, "files/os", STAMP, "platform/i86pc/kernel/amd64/unix"), KERNEL);
    const top = kind === "smartos"
      ? ""
      : await stageLinuxImage(folder.path, KERNEL, kind === "arm64" ? "arm64" : "x86_64");
    for (const name of ["iPXE for BIOS", "iPXE for UEFI"] as const) {
      const path = pathOf(name);
      if (path !== null) await copyFile(path, join(folder.path, "files", basename(path)));
    }
    await prepare?.(join(folder.path, "files"));
    const t = await openTestControlPlane();
    closers.push(() => t.close());
    const enrollment_pi = kind === "smartos" ? STAMP : LINUX_STAMP;
    okOf(await putPolicy(t, { enrollment_pi, admin_network: NETWORK, allowlist: [...allowlist] }));
    closers.push(() => inOrder([`ip netns del ${space}`]));
    await inOrder([
      `ip netns add ${space}`,
      `ip -n ${space} link set lo up`,
      `ip -n ${space} link add br0 type bridge`,
      `ip -n ${space} addr add ${BOOTER}/24 dev br0`,
      `ip -n ${space} link set br0 up`,
    ]);
    const wire = await openWire(space, `bw${process.pid}`);
    closers.push(wire.close);
    const socket = await serveControlPlane(t, wire.here);
    closers.push(socket.close);
    const { secret } = await t.mintKey("booter");
    await writeFile(join(folder.path, "key"), `${secret}\n`, { mode: 0o600 });
    const config = join(folder.path, "booter.toml");
    await writeFile(
      config,
      `${top}${configText(folder.path, socket.url)}${is_proxy ? PROXY : ""}${is_https ? httpsText(folder.path) : ""}`,
    );
    if (is_https) await stageHttps(folder.path, BOOTER);
    if (is_proxy) closers.push((await openForeignDhcp({ ...FOREIGN, space })).close);
    const start = () => startBooter({ config, prefix: inside, ...(executable === undefined ? {} : { executable }) });
    let booter = await start();
    closers.push(() => booter.kill());

    let taps = 0;
    return {
      t,
      booter: () => booter,
      async restart() {
        await booter.kill();
        booter = await start();
      },
      async second() {
        const own = await secondBooter({ t, space, folder: folder.path });
        closers.push(own.close);
        return own.booter;
      },
      power: (mac, mode, uuid) =>
        power({ mac, mode, uuid, space, tap: `tap${taps += 1}`, folder: folder.path, machines }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type SecondParts = { readonly t: TestControlPlane; readonly space: string; readonly folder: string };

async function secondBooter({ t, space, folder }: SecondParts) {
  const own = `${space}-2`;
  const state = join(folder, "second");
  await inOrder([
    `ip netns add ${own}`,
    `ip -n ${own} link set lo up`,
    `ip -n ${space} link add sb0 type veth peer name eth0 netns ${own}`,
    `ip -n ${space} link set sb0 master br0 up`,
    `ip -n ${own} addr add ${SECOND}/24 dev eth0`,
    `ip -n ${own} link set eth0 up`,
  ]);
  const wire = await openWire(own, `bx${process.pid}`);
  const socket = await serveControlPlane(t, wire.here);
  await mkdir(state);
  await cp(join(folder, "files"), join(state, "files"), { recursive: true });
  await writeFile(join(state, "key"), `${(await t.mintKey("booter")).secret}\n`, { mode: 0o600 });
  const config = join(state, "booter.toml");
  await writeFile(config, configText(state, socket.url).replace(BOOTER, SECOND));
  const booter = await startBooter({ config, prefix: ["ip", "netns", "exec", own] });
  return {
    booter,
    async close() {
      await booter.kill();
      await socket.close();
      await wire.close();
      await inOrder([`ip netns del ${own}`]).catch(() => {});
    },
  };
}

type Power = {
  readonly mac: string;
  readonly mode: Mode;
  readonly uuid: string | undefined;
  readonly space: string;
  readonly tap: string;
  readonly folder: string;
  readonly machines: Set<Vm>;
};

async function power({ mac, mode, uuid, space, tap, folder, machines }: Power): Promise<Vm> {
  await inOrder([
    `ip -n ${space} tuntap add dev ${tap} mode tap`,
    `ip -n ${space} link set ${tap} master br0 up`,
  ]);
  const files = join(folder, tap);
  await mkdir(files);
  const argv = await machineArgv(mode, { mac, tap, files });
  const identity = uuid === undefined ? [] : ["-uuid", uuid];
  const program = mode.startsWith("arm64") ? present("qemu-system-aarch64") : QEMU;
  const child = spawn("ip", ["netns", "exec", space, program, ...argv, ...identity], { stdio: "ignore" });
  let over = false;
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  }).then(() => void (over = true));
  const text = () => readFile(join(files, "console"), "latin1").catch(() => "");
  const vm: Vm = {
    console: text,
    async prints(pattern) {
      for (;;) {
        const last = over;
        if (pattern.test(await text())) return true;
        if (last) return false;
        await pause(100);
      }
    },
    async received() {
      const { stdout } = await run("ip", ["netns", "exec", space, "cat", "/proc/net/dev"]);
      const line = stdout.split("\n").find((each) => each.trim().startsWith(`${tap}:`)) ?? "";
      return Number(line.trim().split(/\s+/)[9] ?? 0);
    },
    async off() {
      child.kill("SIGKILL");
      await ended;
      machines.delete(vm);
      await inOrder([`ip -n ${space} link del ${tap}`]).catch(() => {});
      await rm(files, { recursive: true, force: true });
    },
  };
  machines.add(vm);
  return vm;
}

const NETWORK = {
  ipv4_block: "10.77.0.0/24",
  provision_start_ipv4: "10.77.0.10",
  provision_end_ipv4: "10.77.0.99",
  gateway: "10.77.0.254",
  resolvers: ["10.77.0.2"],
};

function httpsText(folder: string): string {
  return `
[https]
certificate_file = "${folder}/https.pem"
key_file = "${folder}/https.key"
`;
}

const FOREIGN = { bridge: "br0", address: "10.77.0.3/24", range: "10.77.0.150,10.77.0.199" };
const PROXY = `
[dhcp]
mode = "proxy"
`;

function configText(folder: string, server_url: string): string {
  return `state_dir = "${folder}/state"
files_dir = "${folder}/files"
[control_plane]
url = "${server_url}"
key_file = "${folder}/key"
[[segment]]
address = "${BOOTER}"
prefix_len = 24
[metrics]
port = 0
${SETUP_BLOCK}`;
}

const FIRMWARE = {
  uefi: ["UEFI firmware", "UEFI variables", ["-machine", "q35"]],
  // Without `secure=on`, the operating system could change the UEFI variables, which contain the keys of Secure Boot.
  secure: [
    "UEFI firmware with Secure Boot",
    "UEFI variables with test keys",
    ["-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"],
  ],
  arm64: ["UEFI firmware for ARM64", "UEFI variables for ARM64", ["-machine", "virt", "-cpu", "cortex-a57"]],
} as const;

type Resources = { readonly mac: string; readonly tap: string; readonly files: string };

async function machineArgv(mode: Mode, { mac, tap, files }: Resources): Promise<string[]> {
  const common = ["-accel", "tcg", "-m", "512", "-no-reboot", "-nodefaults", "-display", "none", "-monitor", "none"];
  const wire = ["-serial", `file:${files}/console`, "-netdev", `tap,id=n0,ifname=${tap},script=no,downscript=no`];
  // Without graphics, the BIOS uses the serial port. iPXE is in the ROM of the network card.
  if (mode === "bios") {
    return [
      ...common,
      "-machine",
      "graphics=off",
      "-boot",
      "n",
      ...wire,
      "-device",
      `virtio-net-pci,netdev=n0,mac=${mac}`,
    ];
  }
  const [code, variables, machine] = FIRMWARE[mode.replace(/_https?$/, "") as keyof typeof FIRMWARE];
  await copyFile(present(variables), `${files}/variables`);
  const off = (...names: string[]) => names.flatMap((name) => ["-fw_cfg", `name=opt/org.tianocore/${name},string=n`]);
  return [
    ...common,
    ...machine,
    ...(mode === "uefi_https" ? ["-fw_cfg", `name=etc/edk2/https/cacerts,file=${files}/../https.trusted`] : []),
    ...flash(present(code), `${files}/variables`),
    ...off("IPv6PXESupport", "IPv6Support", ...(/_https?$/.test(mode) ? ["IPv4PXESupport"] : [])),
    ...wire,
    "-device",
    // The network card has no ROM, so the firmware uses its own network boot.
    `virtio-net-pci,netdev=n0,mac=${mac},romfile=`,
    "-device",
    "virtio-rng-pci",
  ];
}

async function inOrder(commands: readonly string[]): Promise<void> {
  for (const each of commands) {
    const [program = "", ...argv] = each.split(" ");
    await run(program, argv);
  }
}

const platformOf = (mode: Mode) => mode === "bios" ? "pcbios" : "efi";
const GAVE_UP = /No more network devices|No bootable device|Shell>|BdsDxe: failed to|Could not boot/;

export type Booted = { readonly mac: string; readonly mode: Mode; readonly uuid?: string; readonly running?: Vm };

/**
 * Waits until the machine boots or gives up, and then switches it off. Returns whether it booted. Starts the machine if
 * `running` is missing.
 */
export async function boots(fixture: NetbootFixture, { mac, mode, uuid, running }: Booted): Promise<boolean> {
  const booted = new RegExp(`booted ${mac} 10\\.77\\.0\\.\\d+ on ${platformOf(mode)} end`);
  const vm = running ?? await fixture.power(mac, mode, uuid);
  await vm.prints(new RegExp(`${booted.source}|${GAVE_UP.source}`));
  const ended_well = booted.test(await vm.console());
  await vm.off();
  return ended_well;
}

export function pause(duration_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration_ms));
}
