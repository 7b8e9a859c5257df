// Tests the guides to the maintenance of a rack and to a dead node. Simulated machines run in the session. Two of them
// have a BMC that switches the machine's agent off and on.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { type Bmc, openBmcMock, PASSWORD } from "../booter/redfish-mock.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { startVendor, type Vendor } from "../cli/image/vendor.ts";
import { needs } from "../support/optional-programs.ts";
import { runGuides, SESSION } from "./run.ts";
import { openSite, type Site } from "./site.ts";

/** The nodes that have a BMC. */
const WITH_BMC = ["rack1-n1", "rack1-n2"] as const;
/** The interval at which the test switches the agents off or on, to match the state that the BMCs show. */
const FOLLOW_MS = 100;

let site: Site;
let vendor: Vendor;
let bmcs: Bmc[];
let follower: ReturnType<typeof setInterval>;
let db: Db;
beforeEach(async () => {
  site = await openSite();
  vendor = await startVendor();
  bmcs = await Promise.all(WITH_BMC.map(() => openBmcMock()));
  await writeFile(join(site.folder, "bmc-password"), `${PASSWORD}\n`, { mode: 0o600 });
  db = openPool({ url: site.database_url, connectionsMax: 1 });
  const [url, authorization] = [`${site.env.OPSCTL_ENDPOINT}/v2/platform-images`, `Bearer ${site.env.OPSCTL_API_KEY}`];
  const headers = { authorization, "content-type": "application/json" };
  const staged = await fetch(url, { method: "PUT", headers, body: JSON.stringify({ stamps: [OLD, NEW] }) });
  if (!staged.ok) throw new Error(await staged.text());
  follower = setInterval(() => void Promise.all([followPower(), enrol()]), FOLLOW_MS);
}, 300_000);
afterEach(async () => {
  clearInterval(follower);
  await db?.close();
  for (const bmc of bmcs ?? []) await bmc.close();
  await vendor?.close();
  await site?.close();
});

/** Keeps a file NAME.off while the BMC of the machine NAME shows that the machine is off. */
async function followPower(): Promise<void> {
  for (const [index, name] of WITH_BMC.entries()) {
    const file = join(site.folder, `${name}.off`);
    if (bmcs[index]!.state.power === "Off") await writeFile(file, "");
    else await rm(file, { force: true });
  }
}

/** The image that simulated machines run, and the image to which the guide upgrades them. */
const [OLD, NEW] = ["20261001T000000Z", "20261121T000000Z"];

/** Gives each approved node with a BMC an enrolled boot record, as if the node had been set up by netboot. */
async function enrol(): Promise<void> {
  await db.query(
    "insert into boot_record (mac, incarnation, version, state, provenance, server_uuid, assigned_pi, rescue, " +
      "created_at, updated_at) select '02:00:5e:00:53:0' || right(hostname, 1), gen_random_uuid(), 1, 'enrolled', '{}', " +
      "server_uuid, $2, false, berth_now(), berth_now() from cn where hostname = any($1) and state = 'approved' " +
      "on conflict do nothing",
    [WITH_BMC, OLD],
  ).catch(() => {});
}

// A machine runs its agent while it has power. A machine that hangs runs no agent until it has been switched off.
const MACHINES = `
machine() {
  while :; do
    nodeagent run --endpoint "$OPSCTL_ENDPOINT" --state-dir "$1" --hostname "$1" \\
      --error-retry-ms 100 --heartbeat-ms 500 --status-check-ms 500 --status-full-ms 1000 >> "$1.log" 2>&1 &
    agent=$!
    until [ -e "$1.off" ] || [ -e "$1.hangs" ]; do sleep 0.1; done
    kill -9 "$agent" || true
    until [ -e "$1.off" ]; do sleep 0.1; done
    rm -f "$1.hangs"
    while [ -e "$1.off" ]; do sleep 0.1; done
  done
}
for node in rack1-n1 rack1-n2 rack2-n1; do
  machine "$node" &
  until [ -s "$node/claim-code" ]; do sleep 0.2; done
  opsctl cn approve --yes "$(cat "$node/claim-code")"
  until opsctl cn doctor "$node"; do sleep 0.2; done
done
opsctl silo create acme
opsctl tenant create web --silo acme
opsctl project create shop --tenant web
opsctl api-key create --tenant web --description "web team" > tenant.key
opsctl image import ubuntu/lts --name ubuntu
tenantctl login --endpoint "$OPSCTL_ENDPOINT" --api-key-stdin < tenant.key
export TENANTCTL_PROJECT=shop
tenantctl vpc create --name main --ipv4-block 10.0.0.0/16
tenantctl subnet create --vpc main --name front --ipv4-block 10.0.1.0/24
opsctl cn cordon rack1-n2
opsctl cn cordon rack2-n1
tenantctl instance create --name web1 --image ubuntu --vpc main --subnet front --cpu 1 --memory 1GiB
opsctl cn uncordon rack1-n2
opsctl cn uncordon rack2-n1
`;
// The node hangs. It sends no requests, and its BMC shows that it is on.
const DIES = `
touch rack1-n1.hangs
while opsctl cn doctor rack1-n1; do sleep 1; done
`;

const run = (guide: string, before: string) =>
  runGuides([guide], {
    folder: site.folder,
    env: { ...site.env, OPSCTL_INDEX: vendor.base },
    before,
    instead: Object.fromEntries(WITH_BMC.map((name, index) => [`bmc-${name}`, bmcs[index]!.url])),
  });

test("the commands of the guide to the maintenance of a rack work", async (context) => {
  needs(context, ...SESSION, "openssl");
  await run("rack-maintenance", MACHINES);
}, 300_000);

test("the commands of the guide to a dead node work", async (context) => {
  needs(context, ...SESSION);
  await run("dead-node", `${MACHINES}${DIES}`);
}, 300_000);
