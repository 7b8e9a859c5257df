// Installs the packages of a release on a Debian machine with systemd, as docs/guides/install.md describes: a control
// plane with Debian's PostgreSQL, a node with QEMU, a booter, and the image index builder with recorded answers of the
// vendors. The services run with all the limits of their units.
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PACKAGES } from "../../cli/release/packages.ts";
import { buildConsole } from "../../console/bundle.ts";
import { TINY_GUEST_LINE, tinyGuest } from "../../src/dev/tiny-guest.ts";
import { settingsIn } from "../guides/guide.ts";
import { ROOT, runBlocks } from "../guides/run.ts";
import { TENANT } from "../machines/guide-tenant.ts";
import { releaseKeyIn } from "../release/small-release.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { INSIDE_PATH, needsDebianMachine, openDebianMachine } from "./debian-machine.ts";

const run = promisify(execFile);
/** Packages of a Debian server beside those that the guide to a Linux node installs. */
const SERVER = ["postgresql", "curl", "gpgv", "ca-certificates"];
/** The packages of Debian that the guide to a Linux node installs. */
const NODE_PACKAGES = /nodeagent_\*\.deb (.*)/;
const ENDPOINT = "http://127.0.0.1:8080";
const FOLDER = "/root/day";
const DISK_BYTES = 2 ** 20;
/** The test takes about two and a half minutes on two cores. */
const LIMIT_MS = 600_000;
/** The node's identity. The test sets it, because a machine in a cloud may have no UUID in its firmware. */
const SERVER_UUID = "3f2a9c1e-0000-4000-8000-00000000c0de";

/** The recorded answers of all vendors. The folder is outside of /root, because services see no file below /root. */
const RECORDING = "/srv/vendor-web";

const INSTALL = `
cd release
sh install.sh ${PACKAGES.join(" ")}
cd ..
until systemctl is-active postgresql@15-main; do sleep 1; done
su postgres -c 'psql --set ON_ERROR_STOP=1' < database.sql
mkdir config
`;

const CONTROL_PLANE = `
echo BERTH_IMAGE_DIR=/var/lib/berth-control-plane/images >> /etc/berth/control-plane.env
systemctl enable --now berth-control-plane
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/readyz
set -a; . /etc/berth/control-plane.keys; set +a
printf %s "$BERTH_ROOT_KEY" | opsctl --endpoint http://127.0.0.1:8080 login --api-key-stdin
opsctl doctor
`;

const NODE = `
sed -i 's|^BERTH_ENDPOINT=.*|BERTH_ENDPOINT=http://127.0.0.1:8080|' /etc/berth/nodeagent.env
echo 'NODEAGENT_OPTIONS=--server-uuid ${SERVER_UUID}' >> /etc/berth/nodeagent.env
systemctl enable --now berth-nodeagent
until [ -s /var/lib/berth-nodeagent/claim-code ]; do sleep 0.2; done
opsctl cn approve --yes "$(cat /var/lib/berth-nodeagent/claim-code)"
until opsctl cn doctor ${SERVER_UUID}; do sleep 1; done
${TENANT}
tenantctl image upload image.raw --name small --os linux --image-version 1
tenantctl instance create --name web1 --image small --vpc main --subnet front --cpu 1 --memory 192MiB -o table
systemctl is-active 'berth-vm-*'
until tenantctl instance log web1 | grep -F '${TINY_GUEST_LINE}'; do sleep 1; done
`;

/** The virtual machine continues to run while its agent is killed, and while an upgrade restarts the services. */
const SURVIVES = `
pid() { systemctl show --property=MainPID --value "$1"; }
restarted() { until [ "$(pid "$1")" -ne 0 ] && [ "$(pid "$1")" -ne "$2" ]; do sleep 1; done; }
vm="$(systemctl list-units --plain --no-legend 'berth-vm-*' | awk '{ print $1 }')"
qemu="$(pid "$vm")"
agent="$(pid berth-nodeagent)"
systemctl kill --signal=KILL berth-nodeagent
restarted berth-nodeagent "$agent"
agent="$(pid berth-nodeagent)"
server="$(pid berth-control-plane)"
dpkg --install release/*.deb
restarted berth-nodeagent "$agent"
restarted berth-control-plane "$server"
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/readyz
until opsctl cn doctor ${SERVER_UUID}; do sleep 1; done
[ "$(pid "$vm")" = "$qemu" ]
tenantctl instance show web1 -o table | grep -E '^state: +running'
`;

const STOP = `
tenantctl instance stop web1
tenantctl instance start web1
tenantctl instance stop web1
tenantctl instance delete web1
ls /var/lib/berth/vm > left
systemctl list-units --plain --no-legend 'berth-vm-*' >> left
`;

const BOOTER = `
ip link add admin type bridge
ip address add 10.77.0.1/24 dev admin
ip link set admin up
opsctl api-key create --scope booter --description "booter of rack 1" > booter.key
install --owner=berth-booter --mode=600 booter.key /etc/berth/booter.key
sed -i 's|^url = .*|url = "http://127.0.0.1:8080"|' /etc/berth/booter.toml
mkdir -p /srv/berth-booter
su -s /bin/sh berth-booter -c 'booter check' > checked || true
systemctl enable --now berth-booter
until ss --no-header --listening --udp --numeric | grep -E ':67 '; do sleep 1; done
ss --no-header --listening --udp --numeric | grep -E ':69 '
systemctl is-active berth-booter
`;

const INDEX_BUILDER = `
cp -r vendor-web ${RECORDING}
sed -i 's|^INDEX_BUILDER_OPTIONS=.*|INDEX_BUILDER_OPTIONS=--recorded ${RECORDING}|' /etc/berth/index-builder.env
systemctl start berth-index-builder
index-builder verify /var/lib/berth-images/site
grep -F debian /var/lib/berth-images/site/v1/index.json
systemctl enable --now berth-index-builder.timer
systemctl is-active berth-index-builder.timer
`;

const REMOVE = `
systemctl stop berth-nodeagent berth-booter berth-control-plane berth-index-builder.timer
systemctl show --property=Result --value berth-nodeagent berth-booter berth-control-plane berth-index-builder | grep . | sort -u > results
dpkg --purge ${PACKAGES.join(" ")}
systemctl list-units --all --type=service,timer --plain --no-legend 'berth*' > units
`;

test("the packages run a site on a machine with systemd, and no unit remains after their removal", async (context) => {
  needsDebianMachine(context);
  needs(context, "dpkg");
  await using open = new AsyncDisposableStack();
  const folder = await temporaryFolder("packages");
  open.defer(() => folder.remove());
  const packages = NODE_PACKAGES.exec(await guide("linux-node"))![1]!.split(" ");
  const machine = await openDebianMachine(join(folder.path, "machine"), [...SERVER, ...packages]);
  open.defer(() => machine.close());
  const inside = join(machine.root, FOLDER);
  await mkdir(inside);
  await writeFile(join(inside, "database.sql"), settingsIn(await guide("install"), "sql").join("\n"));
  await writeFile(join(inside, "image.raw"), tinyGuest(DISK_BYTES));
  await cp(await release(folder.path), join(inside, "release"), { recursive: true });
  await cp(join(ROOT, "tests/fixtures/vendor-web/t0"), join(inside, "vendor-web"), { recursive: true });

  const session = {
    folder: inside,
    env: { PATH: INSIDE_PATH, HOME: FOLDER, XDG_CONFIG_HOME: `${FOLDER}/config`, OPSCTL_ENDPOINT: ENDPOINT },
    wrap: (argv: readonly string[]) => machine.wrap(argv.map((word) => word.replace(inside, FOLDER)), FOLDER),
  };
  const steps = { INSTALL, CONTROL_PLANE, NODE, SURVIVES, STOP, BOOTER, INDEX_BUILDER, REMOVE };
  for (const [name, script] of Object.entries(steps)) {
    await runBlocks([{ line: 0, script, shown: null, place: name }], session).catch(async (error) => {
      const { stdout } = await machine.inside("journalctl", "--no-pager", "--lines=60", "--unit=berth-*");
      throw new Error(`${error.message}\n-- journal\n${stdout}`);
    });
  }
  const left = (name: string) => readFile(join(inside, name), "utf8");
  expect(await left("left")).toBe("");
  expect(await left("checked")).not.toMatch(/^fail.*(key|control plane)/m);
  expect(await left("results")).toBe("success\n");
  expect(await left("units")).toBe("");
}, LIMIT_MS);

function guide(name: string): Promise<string> {
  return readFile(join(ROOT, `docs/guides/${name}.md`), "utf8");
}

/** Builds a release with the packages of this machine's architecture, and returns its folder. */
async function release(folder: string): Promise<string> {
  await buildConsole(join(ROOT, "console/dist"));
  const out = join(folder, "release");
  const architecture = (await run(present("dpkg"), ["--print-architecture"])).stdout.trim();
  const argv = ["--key", await releaseKeyIn(folder), "--out", out, "--architecture", architecture];
  const wanted = PACKAGES.flatMap((name) => ["--package", name]);
  await run(process.execPath, ["run", "-A", "cli/release/main.ts", ...argv, ...wanted], {
    cwd: ROOT,
    maxBuffer: 2 ** 26,
  });
  return out;
}
