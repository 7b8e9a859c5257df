// Tests the guides for a running site: the rotation of keys, and troubleshooting.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { startVendor, type Vendor } from "../cli/image/vendor.ts";
import { needs } from "../support/optional-programs.ts";
import { runGuides, SESSION } from "./run.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
let vendor: Vendor;
beforeEach(async () => {
  site = await openSite();
  vendor = await startVendor();
}, 300_000);
afterEach(async () => {
  await vendor?.close();
  await site?.close();
});

const NODE = `
nodeagent run --endpoint "$OPSCTL_ENDPOINT" --state-dir agent --hostname rack1-n1 --re-register \\
  --error-retry-ms 100 --heartbeat-ms 500 --status-check-ms 500 --status-full-ms 1000 > agent.log 2>&1 &
until [ -s agent/claim-code ]; do sleep 0.2; done
opsctl cn approve --yes "$(cat agent/claim-code)"
until opsctl cn doctor rack1-n1; do sleep 0.2; done
opsctl silo create acme
opsctl tenant create web --silo acme
opsctl project create shop --tenant web
opsctl api-key create --tenant web --description "web team" > tenant.key
`;

test("the commands of the guide to the rotation of keys work", async (context) => {
  needs(context, ...SESSION);
  const before = `${NODE}
head -c 24 /dev/urandom | base64 > first.password
opsctl user create carol --tenant web --password-stdin < first.password
`;
  await runGuides(["rotating-keys"], { folder: site.folder, env: site.env, before });
}, 300_000);

test("the commands of the troubleshooting guide work for an operation, a node and a booter", async (context) => {
  needs(context, ...SESSION);
  await writeFile(join(site.folder, "booter.toml"), bootConfig(site));
  const before = `${NODE}
opsctl image import ubuntu/lts --name ubuntu
tenantctl login --endpoint "$OPSCTL_ENDPOINT" --api-key-stdin < tenant.key
export TENANTCTL_PROJECT=shop
tenantctl vpc create --name main --ipv4-block 10.0.0.0/16
tenantctl subnet create --vpc main --name front --ipv4-block 10.0.1.0/24
echo '{"slow_ms": 600000}' > agent/trouble.json
tenantctl instance create --name web1 --image ubuntu --vpc main --subnet front \\
  --cpu 1 --memory 1GiB --no-wait
until opsctl job list --status in_progress | grep -q provision; do sleep 0.2; done
opsctl api-key create --scope booter --description booter > booter.key
chmod 600 booter.key
`;
  await runGuides(["trouble"], { folder: site.folder, env: { ...site.env, OPSCTL_INDEX: vendor.base }, before });
}, 300_000);

function bootConfig({ folder, server }: Site): string {
  return `state_dir = "${folder}/booter-state"
files_dir = "${folder}"
[control_plane]
url = "${server.url}"
key_file = "${folder}/booter.key"
[[segment]]
address = "127.0.0.1"
prefix_len = 24
[dhcp]
port = 6767
[tftp]
port = 6969
`;
}
