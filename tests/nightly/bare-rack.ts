// Starts a rack with one bare machine for the test of the Linux node image:
// - a network namespace with the compiled booter on the real ports
// - a control plane and an install channel outside the namespace
// - a QEMU machine with two empty disks that boots from the network
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import process from "node:process";
import { armoredPublicKey, readReleaseKey } from "../../cli/release/signature.ts";
import { bareQemuArgv } from "../../src/dev/rack/bare-qemu.ts";
import { hasVirtualization } from "../../nodeagent/qemu/host.ts";
import { type BooterProcess, serveControlPlane, startBooter } from "../booter/booter-process.ts";
import { openWire } from "../booter/wire.ts";
import { run } from "../release/tools.ts";
import { releaseKeyIn, TIME_S } from "../release/small-release.ts";
import { putPolicy } from "../setup/machine.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BOOTER = "10.78.0.1";
const MAC = "52:54:00:78:00:01";
export const UUID = "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c78";
/** The image is in the machine's memory twice while it boots: as downloaded, and as the kernel has unpacked it. */
const MEMORY_MIB = 3_072;
/** The pool must be at least twice as large as the memory. */
const DISK_BYTES = 9 * 2 ** 30;
const POLL_MS = 1_000;

export type BareRack = {
  readonly t: TestControlPlane;
  readonly booter: BooterProcess;
  /** The control plane's URL. */
  readonly url: string;
  /** Runs opsctl on the operator's machine. */
  opsctl(...argv: string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** Turns the machine on. Cuts its power first if it is on. */
  power(): Promise<void>;
  /** Waits until the machine turns itself off or restarts. */
  ended(): Promise<void>;
  console(): Promise<string>;
  close(): Promise<void>;
};

/** Builds an image in the folder and signs it with the key. Returns the image's stamp and the output of the build. */
export async function buildImage(folder: string, key: string) {
  const argv = ["run", "-A", "cli/release/node-image.ts", "--key", key, "--out", folder];
  const made = await run(process.execPath, argv, { SOURCE_DATE_EPOCH: String(TIME_S) });
  if (made.code !== 0) throw new Error(made.stderr);
  return { stamp: basename(made.stdout.split("\n", 1)[0]!), output: made.stdout };
}

export async function openBareRack(): Promise<BareRack> {
  const folder = await temporaryFolder("bare-rack");
  const at = (...parts: string[]) => join(folder.path, ...parts);
  const closers: (() => Promise<unknown>)[] = [folder.remove];
  const close = async () => {
    for (const each of closers.reverse()) await each();
  };
  const ip = async (command: string) => {
    const { code, stderr } = await run(present("ip"), command.split(" "));
    if (code !== 0) throw new Error(`ip ${command}: ${stderr}`);
  };
  const space = `berth-rack-${process.pid}`;
  try {
    const key_path = await releaseKeyIn(folder.path);
    const key = await readReleaseKey(key_path, null);
    await writeFile(at("key.asc"), armoredPublicKey(key));
    const release = ["run", "-A", "cli/release/main.ts", "--key", key_path, "--out", at("release")];
    const part = ["--architecture", "amd64", "--package", "nodeagent", "--package", "booter"];
    const made = await run(process.execPath, [...release, ...part], { SOURCE_DATE_EPOCH: String(TIME_S) });
    if (made.code !== 0) throw new Error(made.stderr);
    const { stamp } = await buildImage(at("files/os"), key_path);
    await copyFile(present("iPXE for BIOS"), at("files/undionly.kpxe"));
    await writeFile(at("files/snponly.efi"), "not used by this machine");

    await ip(`netns add ${space}`);
    closers.push(() => ip(`netns del ${space}`));
    await ip(`-n ${space} link set lo up`);
    await ip(`-n ${space} link add br0 type bridge`);
    await ip(`-n ${space} addr add ${BOOTER}/24 dev br0`);
    await ip(`-n ${space} link set br0 up`);
    await ip(`-n ${space} tuntap add dev tap0 mode tap`);
    await ip(`-n ${space} link set tap0 master br0 up`);
    const wire = await openWire(space, `br${process.pid}`);
    closers.push(wire.close);
    // The machine reaches the control plane through the namespace.
    await run(present("ip"), ["netns", "exec", space, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
    await ip(`route add 10.78.0.0/24 via ${wire.there}`);

    const t = await openTestControlPlane();
    closers.push(() => t.close());
    const admin_network = {
      ipv4_block: "10.78.0.0/24",
      provision_start_ipv4: "10.78.0.10",
      provision_end_ipv4: "10.78.0.99",
      gateway: BOOTER,
      resolvers: [BOOTER],
    };
    okOf(await putPolicy(t, { enrollment_pi: stamp, admin_network }));
    const socket = await serveControlPlane(t, wire.here);
    closers.push(socket.close);
    const channel = await served(at("release/channel"), wire.here);
    closers.push(channel.close);
    await writeFile(at("key"), `${(await t.mintKey("booter")).secret}\n`, { mode: 0o600 });
    const { secret } = await t.mintKey("full");
    await writeFile(
      at("booter.toml"),
      `state_dir = "${at("state")}"
files_dir = "${at("files")}"
image_key_file = "${at("key.asc")}"
console = "ttya"
[control_plane]
url = "${socket.url}"
key_file = "${at("key")}"
[[segment]]
address = "${BOOTER}"
prefix_len = 24
[metrics]
port = 0
[ur]
[ur.setup]
install_sh_url = "${channel.url}/install.sh"
agent_endpoint = "${socket.url}"
platform_stamp = "${stamp}"
upstream_channel_url = "${channel.url}/channel.json"
upstream_key_file = "${at("key.asc")}"
`,
    );
    await mkdir(at("programs"));
    const tarball = (await run("sh", ["-c", `ls ${at("release/channel")}/booter-*.tar.gz`])).stdout.trim();
    await run(present("tar"), ["-xzf", tarball, "-C", at("programs")]);
    const prefix = [present("ip"), "netns", "exec", space];
    const booter = await startBooter({ config: at("booter.toml"), prefix, executable: at("programs/bin/booter") });
    closers.push(() => booter.kill());
    for (const disk of ["disk0", "disk1"]) {
      await writeFile(at(disk), "");
      await truncate(at(disk), DISK_BYTES);
    }

    const kvm = existsSync("/dev/kvm") && hasVirtualization(await readFile("/proc/cpuinfo", "utf8"));
    let machine = { off: () => Promise.resolve(), ended: Promise.resolve() };
    closers.push(() => machine.off());
    return {
      t,
      booter,
      url: socket.url,
      opsctl: (...argv) =>
        run(process.execPath, ["run", "-A", "--quiet", "cli/opsctl/main.ts", ...argv], {
          OPSCTL_ENDPOINT: socket.url,
          OPSCTL_API_KEY: secret,
        }),
      async power() {
        await machine.off();
        await rm(at("console"), { force: true });
        machine = started(space, at, kvm);
      },
      ended: () => machine.ended,
      console: () => readFile(at("console"), "latin1").catch(() => ""),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function started(space: string, at: (name: string) => string, kvm: boolean) {
  const machine = { uuid: UUID, mac: MAC, tap: "tap0", memory_mib: MEMORY_MIB, processors: 2, kvm };
  const disks = { disk0: at("disk0"), disk1: at("disk1") };
  const argv = [...bareQemuArgv({ ...machine, console: at("console"), disks }), "-no-reboot"];
  const child = spawn(present("ip"), ["netns", "exec", space, present("qemu-system-x86_64"), ...argv], {
    stdio: ["ignore", 2, 2],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  return { ended, off: async () => void (child.kill("SIGKILL"), await ended) };
}

/** Serves the files of a folder. */
async function served(folder: string, address: string) {
  const server = createServer((request, response) => {
    readFile(join(folder, basename(request.url ?? "")))
      .then((bytes) => void response.end(bytes), () => void response.writeHead(404).end());
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((done) => server.close(done)),
  };
}

/** Waits until the condition holds. Throws with the last text of the machine's console after the time limit. */
export async function until(rack: BareRack, limit_ms: number, condition: () => Promise<boolean>): Promise<void> {
  const end_ms = performance.now() + limit_ms;
  while (!await condition()) {
    if (performance.now() > end_ms) {
      throw new Error(
        `timed out; the console:\n${(await rack.console()).slice(-4_000)}\n${rack.booter.text().slice(-3_000)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
