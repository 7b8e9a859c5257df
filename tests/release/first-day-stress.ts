// `deno run -A tests/release/first-day-stress.ts` tests an operator's first day with Berth on a clean Debian. It builds
// the release, installs it in a root made by debootstrap, and starts the installed control plane with a PostgreSQL
// outside the root. Then it follows the guides with the installed executables until an instance runs, and removes the
// packages. It needs root, debootstrap and access to Debian's archive. Without root or debootstrap, it prints the
// reason and ends with 0. --release FOLDER uses an existing release.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { openClient } from "../../src/db/pool.ts";
import { startEmbedded } from "../../src/db/embedded.ts";
import { startVendor } from "../cli/image/vendor.ts";
import { runGuides } from "../guides/run.ts";
import { databaseUrl } from "../support/database-url.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type DebianRoot, debianRoot, whyNoDebianRoot } from "./debian-root.ts";
import { startUnit } from "./installed-unit.ts";
import { releaseKeyIn } from "./small-release.ts";
import { run } from "./tools.ts";

const PACKAGES = ["berth-control-plane", "opsctl", "tenantctl", "nodeagent"];
const ENV_FILE = "etc/berth/control-plane.env";
const KEYS_FILE = "etc/berth/control-plane.keys";
const PASSWORD = "set-by-the-operator";

const { values } = parseArgs({ options: { release: { type: "string" } } });

/** Throws an Error with a command's output if its exit code is not 0. */
async function must(subject: string, ended: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`${subject} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

function check(subject: string, holds: boolean, seen: unknown): void {
  if (!holds) throw new Error(`${subject}: ${JSON.stringify(seen)}`);
  console.log(`ok  ${subject}`);
}

async function build(folder: string): Promise<string> {
  const out = join(folder, "release");
  const argv = ["run", "-A", "cli/release/main.ts", "--key", await releaseKeyIn(folder), "--out", out];
  const architecture = (await must("dpkg", run("dpkg", ["--print-architecture"]))).trim();
  const wanted = PACKAGES.flatMap((name) => ["--package", name]);
  await must("the web console", run(process.execPath, ["run", "-A", "console/build.ts"]));
  await must("the release", run(process.execPath, [...argv, "--architecture", architecture, ...wanted]));
  return out;
}

async function install(root: DebianRoot, release: string): Promise<void> {
  await must("copying", run("cp", ["-r", release, join(root.path, "root/release")]));
  await must("install.sh", root.run(["sh", "/root/release/install.sh", ...PACKAGES]));
  check("the packages are installed", true, null);
}

/** Creates a database and its owner on a fresh PostgreSQL server. Returns the database's URL. */
async function makeDatabase(server_url: string): Promise<string> {
  const client = await openClient({ url: server_url });
  try {
    await client.query(`create role site login createrole password '${PASSWORD}'`);
    await client.query("create database site owner site");
  } finally {
    await client.end();
  }
  const url = new URL(databaseUrl(server_url, "site"));
  url.username = "site";
  url.password = PASSWORD;
  return url.href;
}

async function configure(root: DebianRoot, settings: Readonly<Record<string, string>>): Promise<void> {
  const path = join(root.path, ENV_FILE);
  let text = await readFile(path, "utf8");
  for (const [name, value] of Object.entries(settings)) {
    const line = new RegExp(`^${name}=.*$`, "m");
    if (!line.test(text)) throw new Error(`${ENV_FILE} has no line ${name}=`);
    text = text.replace(line, () => `${name}=${value}`);
  }
  await writeFile(path, text);
}

async function firstDay(root: DebianRoot, url: string): Promise<void> {
  const keys = await readFile(join(root.path, KEYS_FILE), "utf8");
  const key = /^BERTH_ROOT_KEY=(.*)$/m.exec(keys)![1]!;
  const env = { OPSCTL_ENDPOINT: url, OPSCTL_API_KEY: key };
  const health = await fetch(`${url}/v1/health`);
  check("health answers", health.status === 200, await health.text());
  const listed = await must("opsctl cn list", root.run(["opsctl", "cn", "list"], env));
  check("opsctl of the package lists no node yet", listed.includes("no compute nodes"), listed);
  const vendor = await startVendor();
  const folder = join(root.path, "root/day");
  await mkdir(folder);
  try {
    await runGuides(["first-node", "first-instance"], {
      folder,
      env: { ...env, OPSCTL_INDEX: vendor.base, HOME: "/root/day" },
      // Replaces the folder's path by its path inside the root.
      wrap: (argv) => root.wrap(argv.map((word) => word.replace(folder, "/root/day")), "/root/day"),
    });
  } finally {
    await vendor.close();
  }
  check("the guides lead to a running instance", true, null);
  const nodes = JSON.parse(await must("opsctl cn list", root.run(["opsctl", "cn", "list", "--json"], env)));
  const items = Array.isArray(nodes) ? nodes : nodes.items;
  check("opsctl of the package lists the node", items.length === 1 && items[0].state === "approved", nodes);
}

async function remove(root: DebianRoot): Promise<void> {
  await must("dpkg --purge", root.run(["dpkg", "--purge", ...PACKAGES]));
  const argv = ["etc/berth", "usr/lib/berth", "usr/bin/opsctl", "var/cache/berth-control-plane"];
  const left = await run("find", [...argv.map((word) => join(root.path, word)), "-type", "f"]);
  const paths = left.stdout.split("\n").filter((path) => path !== "").map((path) => path.slice(root.path.length + 1));
  check("only the keys are left", paths.join() === KEYS_FILE, paths);
}

async function trial(): Promise<void> {
  const folder = await temporaryFolder("first-day");
  const postgres = await startEmbedded({ dataDir: join(folder.path, "postgres"), superuser: true });
  const release = values.release ?? await build(folder.path);
  console.log(`ok  the release is ${values.release === undefined ? "built" : "there"}`);
  const root = await debianRoot(join(folder.path, "debian"));
  try {
    await install(root, release);
    // Port 0 chooses a free port, which the log shows.
    const database = await makeDatabase(postgres.superuserUrl!);
    await configure(root, { DATABASE_URL: database, BERTH_OWNER_DATABASE_URL: database, PORT: "0" });
    const service = await startUnit(root, "berth-control-plane.service");
    try {
      console.log(`ok  the service runs as ${service.user} with ${service.permissions}`);
      await firstDay(root, service.url);
    } finally {
      check("the service ends with 0", await service.stop() === 0, service.log());
    }
    await remove(root);
  } finally {
    await root.remove();
    await postgres.stop();
    await folder.remove();
  }
}

const why = whyNoDebianRoot();
if (why === null) await trial();
else console.log(`the first day was not tested: ${why}`);
