// The packaged control plane serves the index of the packaged builder. Instead of systemd, the tests use the packages'
// files, start script and settings, the limits of both units, and two users.
import { spawn } from "node:child_process";
import { chmod, chown, copyFile, cp, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiled } from "../support/compiled.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { lacking } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { webFolder } from "../index-builder/recorded-vendor.ts";
import { readDeb } from "./read-deb.ts";
import { releaseKeyIn, smallRelease } from "./small-release.ts";
import { run } from "./tools.ts";
import { parseUnit, type Unit } from "./unit.ts";

const LIMIT_MS = 60_000;
const LISTENING = /"message":"listening".*"url":"([^"]+)"/;
/** User ids that this machine does not use. */
const BUILDER_ID = 64_101;
const SERVER_ID = 64_102;
const STATE = "var/lib/berth-images";
const missing = process.getuid?.() === 0 ? lacking("unshare", "setpriv", "chroot", "mount") : "this user is not root";

/**
 * Shell script that runs a command with the restrictions of a unit with ProtectSystem=strict, ProtectHome, PrivateTmp,
 * NoNewPrivileges and an empty CapabilityBoundingSet: a read-only system, no home, an empty /tmp, one writable folder.
 * $1 is the root, $2 the folder, $3 the user id.
 */
const ENTER = `set -eu
root=$1 own=$2 id=$3; shift 3
mount --bind "$root" "$root"
for place in usr/bin usr/lib/x86_64-linux-gnu usr/lib/aarch64-linux-gnu bin lib lib64 etc/ssl; do
  [ -d "/$place" ] || continue
  mkdir -p "$root/$place"
  mount --bind "/$place" "$root/$place"
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$root/$own" "$root/$own"
mount -o remount,bind,ro "$root"
mount -o remount,bind,rw "$root/$own"
exec chroot "$root" setpriv --reuid "$id" --regid "$id" --clear-groups --no-new-privs --bounding-set=-all "$@"`;

describe.skipIf(missing !== null)("the packaged control plane", { timeout: LIMIT_MS }, () => {
  let folder: TemporaryFolder;
  let database: FreshDatabase;
  let root: string;
  const units = new Map<string, Unit>();
  const settings: string[] = [];

  beforeAll(async () => {
    [folder, database] = await Promise.all([temporaryFolder("packaged-index"), freshDatabase()]);
    await chmod(folder.path, 0o711);
    root = join(folder.path, "root");
    const out = join(folder.path, "release");
    const key_path = await releaseKeyIn(folder.path);
    const packages = ["berth-control-plane", "index-builder"] as const;
    await smallRelease({ folder: out, version: "1.2.3", key_path, packages, tree: "whole" });
    for (const name of packages) {
      for (const each of readDeb(await readFile(join(out, `${name}_1.2.3_amd64.deb`))).data.values()) {
        const path = join(root, each.path);
        if (each.isFolder) await mkdir(path, { recursive: true });
        else {
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, each.bytes, { mode: parseInt(each.mode, 8) });
        }
        if (each.path.endsWith(".service")) units.set(each.path.split("/").at(-1)!, parseUnit(each.bytes.toString()));
        if (each.path === "etc/berth/control-plane.env") settings.push(...each.bytes.toString().split("\n"));
      }
    }
    for (const each of ["proc", "dev", "tmp", STATE]) await mkdir(join(root, each), { recursive: true });
    // Replaces the small release's dummy programs by the compiled builder and the Deno that runs this test.
    const builder = await compiled("index-builder", join(folder.path, "bin"));
    await copyFile(builder.path, join(root, "usr/lib/berth/bin/index-builder"));
    await copyFile(process.execPath, join(root, "usr/lib/berth/bin/deno"));
    for (const name of ["deno", "index-builder"]) await chmod(join(root, "usr/lib/berth/bin", name), 0o755);
    await chown(join(root, STATE), BUILDER_ID, BUILDER_ID);
    await chmod(join(root, STATE), parseInt(units.get("berth-index-builder.service")!.one("StateDirectoryMode"), 8));
  }, LIMIT_MS);
  afterAll(async () => {
    await database?.drop();
    await folder?.remove();
  });

  const limited = (own: string, id: number, ...argv: string[]): string[] => [
    ...[
      "unshare",
      "--mount",
      "--pid",
      "--fork",
      "--kill-child=SIGTERM",
      "sh",
      "-c",
      ENTER,
      "sh",
      root,
      own,
      String(id),
    ],
    ...argv,
  ];

  async function publish(day: string): Promise<void> {
    const web = join(root, STATE, "web");
    await cp(webFolder("t0"), web, { recursive: true });
    const unit = units.get("berth-index-builder.service")!;
    const [, ...argv] = unit.one("ExecStart").replace(" $INDEX_BUILDER_OPTIONS", "").split(" ");
    const script = `umask ${unit.one("UMask")}; exec "$@"`;
    const [program = "", ...rest] = limited(
      STATE,
      BUILDER_ID,
      ...["sh", "-c", script, "sh", "/usr/lib/berth/bin/index-builder", ...argv, "--vendor", "debian"],
      ...["--recorded", `/${STATE}/web`, "--at", `${day}T05:17:00Z`],
    );
    const { code, stderr, stdout } = await run(program, rest);
    expect([code, code === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
  }

  /**
   * Returns the variables in the package's settings file, with these values. Includes INDEX_SITE, although the file has
   * it in a comment.
   */
  function environment(values: Readonly<Record<string, string>>): Record<string, string> {
    const lines = settings.map((line) => line.replace(/^#(?=INDEX_SITE=)/, "")).filter((line) => /^\w+=/.test(line));
    const given = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    return { ...given, ...values };
  }

  test("serves the site of the packaged builder from INDEX_SITE", async () => {
    const unit = units.get("berth-control-plane.service")!;
    expect([
      unit.one("ProtectSystem"),
      unit.one("ProtectHome"),
      unit.one("PrivateTmp"),
      unit.one("CapabilityBoundingSet"),
    ])
      .toEqual(["strict", "yes", "yes", ""]);
    await publish("2026-10-09");
    const cache = `var/cache/${unit.one("CacheDirectory")}`;
    await mkdir(join(root, cache), { recursive: true, mode: 0o700 });
    await chown(join(root, cache), SERVER_ID, SERVER_ID);
    const own = Object.fromEntries(unit.one("Environment").split(" ").map((pair) => pair.split("=")));
    const env = environment({
      DATABASE_URL: database.url,
      BERTH_OWNER_DATABASE_URL: database.url,
      PORT: "0",
      BERTH_ROOT_KEY: ROOT_KEY,
      BERTH_SECRET_KEY: "5e".repeat(32),
    });
    expect(env.INDEX_SITE).toBe(`/${STATE}/site`);
    const [program = "", ...argv] = limited(
      cache,
      SERVER_ID,
      ...["sh", "-c", `umask ${unit.one("UMask")}; exec ${unit.one("ExecStart")}`],
    );
    const child = spawn(program, argv, {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...own, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => log += text);
    const ended = new Promise<string>((done) => child.once("close", (code, signal) => done(String(signal ?? code))));
    try {
      let how: string | null = null;
      void ended.then((each) => how = each);
      for (const end = Date.now() + 60_000; !LISTENING.test(log);) {
        if (how !== null || Date.now() > end) throw new Error(`it does not listen (${how}):\n${log}`);
        await new Promise((wake) => setTimeout(wake, 100));
      }
      const url = LISTENING.exec(log)![1]!;
      const first = await fetch(`${url}/v1/images.json`);
      expect([first.status, log.includes("NotCapable")]).toEqual([200, false]);
      expect(await first.text()).toContain(`"first_seen": "2026-10-09T05:17:00.000Z"`);
      expect((await fetch(`${url}/v1/distros/debian/index.json`)).status).toBe(200);
      expect((await fetch(`${url}/v1/trust.json`)).status).toBe(404);
    } finally {
      // Signals the server itself: `child` is outside the server's PID namespace.
      const pid = await pidOf(join(root, "usr/lib/berth/bin/deno"));
      if (pid === null) child.kill("SIGKILL");
      else process.kill(pid, "SIGTERM");
      await ended;
    }
  });
});

/** Returns the id of a process that runs this program, or null. */
async function pidOf(program: string): Promise<number | null> {
  for (const name of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    if (await readlink(`/proc/${name}/exe`).catch(() => "") === program) return Number(name);
  }
  return null;
}
