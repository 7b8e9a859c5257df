// Two more nodes join, each with its own network. An instance moves between them while its guest runs.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startAgent } from "../node-agent.ts";
import { missingProgram, openNodeNamespaces } from "../node-namespaces.ts";
import { check, type Run, say } from "../stage.ts";
import { TINY_GUEST_LINE } from "../tiny-guest.ts";

export type Place = {
  /** The URLs of the control plane and of the image server, both on the loopback address. */
  readonly endpoint: string;
  readonly image_server: string;
  /** A folder for the state of the agents. */
  readonly folder: string;
};

const NODES = ["demo-node-2", "demo-node-3"] as const;
/**
 * The scenario waits until the nodes are ready, and later until the guest has printed its line on the console. Each
 * wait has at most TRIES_MAX checks, with PAUSE_MS between two checks.
 */
const TRIES_MAX = 60;
const PAUSE_MS = 500;

/** `on` runs tenantctl as a tenant that has the image `demo`, and the VPC `main` with the subnet `front`. */
export async function liveMigration(opsctl: Run, on: Run, { endpoint, image_server, folder }: Place): Promise<void> {
  const missing = await missingProgram();
  if (missing !== null) return say(`No live migration is shown, because the program ${missing} is missing`);
  say("Two more nodes join, each in a network namespace of its own");
  const ports = [endpoint, image_server].map((url) => Number(new URL(url).port));
  const namespaces = await openNodeNamespaces(ports);
  const agents = namespaces.nodes.map(({ address, enter }, index) =>
    startAgent(endpoint, join(folder, NODES[index]!), { hostname: NODES[index]!, enter, address })
  );
  try {
    await opsctl("cn", "approve", "--yes", ...await Promise.all(agents.map((agent) => agent.claimCode)));
    await Promise.all(agents.map((agent) => agent.enrolled));
    await opsctl("cn", "cordon", "demo-node");
    const ready = await until(
      () => opsctl("cn", "list", "--columns", "name,ready", "--no-headers"),
      (list) => NODES.every((name) => new RegExp(`^${name}\\s+yes`, "m").test(list)),
    );
    check("both nodes are ready", ready);

    say("The tenant creates an instance, and the operator moves the running instance");
    await on(
      ...["instance", "create", "--name", "web2", "--image", "demo", "--vpc", "main"],
      ...["--subnet", "front", "--cpu", "1", "--memory", "256MiB", "--disk", "1GiB"],
    );
    const wrote = await until(() => on("instance", "log", "web2"), (log) => log.includes(TINY_GUEST_LINE));
    check("the guest runs", wrote);
    const hostOf = async () => /demo-node-[23]/.exec(await opsctl("instance", "list", "--filter", "name=web2"))?.[0];
    const from = await hostOf();
    const to = NODES.find((name) => name !== from) ?? "";
    await opsctl("instance", "migrate", "web2", "--target", to);
    check(`the instance runs on ${to}, and no longer on ${from}`, await hostOf() === to);
    check("the migration is completed", /completed/.test(await opsctl("instance", "migrations", "web2")));
    check("the instance is running", /running/.test(await on("instance", "show", "web2")));

    say("The tenant deletes the instance, and the operator removes the nodes");
    await on("instance", "stop", "web2");
    await on("instance", "delete", "web2");
    await opsctl("cn", "uncordon", "demo-node");
    for (const name of NODES) {
      await opsctl("cn", "disable", name, "--yes");
      await opsctl("cn", "remove", name, "--yes");
    }
  } finally {
    for (const agent of agents) await agent.stop();
    await namespaces.close();
  }
}

async function until(look: () => Promise<string>, holds: (text: string) => boolean): Promise<boolean> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    if (holds(await look())) return true;
    await sleep(PAUSE_MS);
  }
  return false;
}
