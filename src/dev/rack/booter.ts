// Runs the booter of the rack. It uses the program and the configuration file of the package berth-booter, the Linux
// node image and Debian's iPXE.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operator } from "./control-plane.ts";
import { ADMIN, API_URL, at, CHANNEL_URL, DEBIAN } from "./plan.ts";
import { daemon, must, until } from "./processes.ts";

const CONFIG = "etc/berth/booter.toml";
const KEY = "etc/berth/booter.key";
const FILES = "srv/berth-booter";
const STATE = "var/lib/berth-booter";
const START_LIMIT_MS = 60_000;
/** Runs a program as the package's systemd unit does: as the same user, and with the same single capability. */
const SERVE = ["setpriv", "--reuid=berth-booter", "--regid=berth-booter", "--init-groups", "--no-new-privs"];
const BIND = ["--inh-caps=-all,+net_bind_service", "--ambient-caps=+net_bind_service"];

/** Prepares the booter's files and configuration. Returns the stamp of the image. */
export async function prepareBooter(image: string): Promise<string> {
  const stamp = image.split("/").at(-1) ?? "";
  await mkdir(join(DEBIAN, FILES, "os"), { recursive: true });
  await cp(image, join(DEBIAN, FILES, "os", stamp), { recursive: true });
  await cp(join(DEBIAN, "usr/lib/ipxe/undionly.kpxe"), join(DEBIAN, FILES, "undionly.kpxe"));
  await cp(join(DEBIAN, "usr/lib/ipxe/snponly.efi"), join(DEBIAN, FILES, "snponly.efi"));
  await writeFile(
    join(DEBIAN, CONFIG),
    `state_dir = "/${STATE}"
files_dir = "/${FILES}"
console = "ttya"
[control_plane]
url = "${API_URL}"
key_file = "/${KEY}"
[[segment]]
address = "${ADMIN.booter}"
prefix_len = ${ADMIN.prefix_len}
[metrics]
port = 0
[ur]
[ur.setup]
install_sh_url = "${CHANNEL_URL}/install.sh"
agent_endpoint = "${API_URL}"
platform_stamp = "${stamp}"
upstream_channel_url = "${CHANNEL_URL}/channel.json"
`,
  );
  return stamp;
}

/** Creates the booter's key, checks the configuration with `booter check`, and starts the booter. */
export async function startBooter(): Promise<void> {
  const argv = ["opsctl", "api-key", "create", "--scope", "booter", "--description", "booter of the rack"];
  const key = await must(argv, { user: "root", env: await operator() });
  await writeFile(join(DEBIAN, KEY), key, { mode: 0o600 });
  await must(["chown", "berth-booter", `/${KEY}`], { user: "root" });
  const folder = ["-o", "berth-booter", "-g", "berth-booter", "-m", "700", `/${STATE}`];
  await must(["install", "-d", ...folder], { user: "root" });
  const place = { space: "booter", user: "root" } as const;
  await must([...SERVE, ...BIND, "booter", "check", "--config", `/${CONFIG}`], place);
  await serveBooter();
}

export async function serveBooter(): Promise<void> {
  const log = at("log/booter.log");
  const before = (await readFile(log, "utf8").catch(() => "")).length;
  await daemon("booter", [...SERVE, ...BIND, "booter", "serve", "--config", `/${CONFIG}`], {
    space: "booter",
    user: "root",
  });
  await until("the booter serves", START_LIMIT_MS, async () => {
    return / booter\.started /.test((await readFile(log, "utf8").catch(() => "")).slice(before)) ? true : null;
  }, () => readFile(log, "utf8").catch(() => ""));
}
