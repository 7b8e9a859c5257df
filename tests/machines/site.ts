// Starts a whole site with real VMs:
// - a server as `task start` starts it
// - compiled agents with QEMU, each on its own node and with the limits of the packaged service
// - the compiled opsctl and tenantctl
// Instances run the test guest.
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { openPool } from "../../src/db/pool.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import { builtGuest } from "../guest/guest.ts";
import { call, until } from "../processes/console-fixture.ts";
import { buildExecutables, type Ended, run, type Running, start } from "../processes/executables.ts";
import { AS_AGENT_SERVICE } from "../release/agent-unit.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BOOT, MEMORY_BYTES, processes } from "./machine.ts";
import { openNodes } from "./nodes.ts";

export type Site = Awaited<ReturnType<typeof openSite>>;

/** The network devices of a node without VMs. */
const OWN_DEVICES = /^(?:lo|eth[01]|br-ext)$/;

export type SiteOptions = {
  /** The number of nodes. Default: 1. */
  readonly nodes?: number;
  /** Additional arguments of the agents. */
  readonly agent_argv?: readonly string[];
  /** Opens a proxy between the agents and the server, and returns its URL. By default agents connect directly. */
  readonly between?: (server_url: string, address: string) => Promise<string>;
  /** Environment variables of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Opens the server's database. By default a database of the test run. */
  readonly database?: () => Promise<FreshDatabase>;
};

export async function openSite(options: SiteOptions = {}) {
  const stack = new AsyncDisposableStack();
  try {
    return { ...await openAll(options, stack), close: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Opens the parts of a site. The stack closes them in reverse order. */
async function openAll(options: SiteOptions, stack: AsyncDisposableStack) {
  const { nodes = 1, agent_argv = [], between, env: server_env = {}, database: openDatabase = freshDatabase } = options;
  await buildExecutables(["nodeagent", "tenantctl", "opsctl"]);
  const guest = await builtGuest();
  const folder = await temporaryFolder("vm");
  stack.defer(folder.remove);
  // The users of the QEMU processes must be able to enter the folder.
  await chmod(folder.path, 0o711);
  const database = await openDatabase();
  stack.defer(database.drop);
  const place = await openNodes(nodes);
  stack.defer(place.close);
  const images = await serveImage(await readFile(guest.path), place.address);
  stack.defer(images.close);
  const startHere = (PORT: string) =>
    startServer({ env: { DATABASE_URL: database.url, HOST: place.address, PORT, ...server_env }, as_task: true });
  let server: ServerProcess = await startHere("0");
  stack.defer(() => server.kill());
  const { url, port } = server;
  const endpoint = await between?.(url, place.address) ?? url;
  const operator = (method: string, path: string, options?: CallOptions) => call(url, method, path, options);
  const g: InstanceFixture = await openInstanceFixture({ call: operator }, { ...guest, url: images.url });
  const env = { HOME: folder.path, NO_COLOR: "1" };
  const uuids = place.nodes.map(() => randomUUID());
  const folderOf = (index: number) => join(folder.path, `n${index}`);
  const agents = new Map<number, Running>();
  const db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  stack.defer(() => db.close());
  /** Returns the QEMU processes of the nodes as "PID COMMAND". */
  const machines = async () => (await processes()).filter((line) => line.includes(folder.path) && / -uuid /.test(line));
  stack.defer(async () => {
    for (const index of place.nodes.keys()) await killAgent(index);
    for (const line of await machines()) process.kill(Number(line.split(" ", 1)[0]), "SIGKILL");
  });

  function startAgent(index = 0): Running {
    const agent = start("nodeagent", [
      ...["run", "--driver=qemu", `--endpoint=${endpoint}`, `--state-dir=${join(folderOf(index), "state")}`],
      ...[`--machine-dir=${join(folderOf(index), "lib")}`, `--run-dir=${join(folderOf(index), "run")}`],
      ...[`--server-uuid=${uuids[index]}`, `--hostname=node${index}`],
      ...["--heartbeat-ms=200", "--status-check-ms=100", "--metrics-ms=1000", "--config-ms=1000"],
      ...["--error-retry-ms=50", "--job-poll-ms=50", "--pending-retry-ms=100", ...agent_argv],
    ], { env, prefix: [...place.nodes[index]!.enter, ...AS_AGENT_SERVICE] });
    agents.set(index, agent);
    return agent;
  }

  async function killAgent(index = 0): Promise<void> {
    agents.get(index)?.signal("SIGKILL");
    await agents.get(index)?.ended;
  }

  for (const index of place.nodes.keys()) {
    await mkdir(folderOf(index), { mode: 0o711 });
    const agent = startAgent(index);
    const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
    okOf(await operator("POST", "/v1/cn-approvals", { body: { code } }));
    await agent.says(/reports to/);
  }
  // Placement needs the nodes' capacity.
  await until(async () => (await db.query("select from cn_capacity")).rowCount === nodes);

  const instances = async (): Promise<{ id: string; lifecycle: { state: string } }[]> =>
    okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items;
  const tenantctl = (argv: readonly string[], typed?: string): Promise<Ended> =>
    run("tenantctl", [...argv, "--project", g.project_id], {
      env: { ...env, TENANTCTL_ENDPOINT: url, TENANTCTL_API_KEY: g.key },
      ...(typed !== undefined && { typed }),
    });

  return {
    ...g,
    url,
    /** The URL that the agents use for the server. */
    endpoint,
    folder: folder.path,
    folderOf,
    nodes: place.nodes,
    address: place.address,
    uuids,
    db,
    operator,
    tenantctl,
    opsctl: (argv: readonly string[]): Promise<Ended> =>
      run("opsctl", argv, { env: { ...env, OPSCTL_ENDPOINT: url, OPSCTL_API_KEY: ROOT_KEY } }),
    startAgent,
    killAgent,
    /**
     * Pauses an agent, as if its node lost power: the agent's connections stay open. `continueAgent` lets the agent
     * continue.
     */
    pauseAgent: (index: number) => agents.get(index)!.signal("SIGSTOP"),
    continueAgent: (index: number) => agents.get(index)!.signal("SIGCONT"),
    /** The output of the agents, for failure messages. */
    said: () => [...agents.values()].map((agent) => agent.said()).join("\n"),
    killServer: () => server.kill(),
    startServer: async () => void (server = await startHere(String(port))),
    /** Creates an instance of the guest. The request returns when the instance runs. */
    make: (fields: object = {}): Promise<Answer> => makeInstance(g, { memory_bytes: MEMORY_BYTES, ...fields }),
    /** Creates a running instance and returns its id. */
    create: async (name: string): Promise<string> =>
      okOf(await makeInstance(g, { name, memory_bytes: MEMORY_BYTES })).id,
    instances,
    machines,
    /** Returns what `instance show` prints. */
    show: async (name: string) => JSON.parse((await tenantctl(["instance", "show", name, "-o", "json"])).out),
    /** Waits until the log of the instance matches, and returns it. */
    logged: async (name: string, pattern: RegExp): Promise<string> => {
      let log = "";
      const read = async () => log = (await tenantctl(["instance", "log", name])).out;
      await expect.poll(read, BOOT).toMatch(pattern);
      return log;
    },
    /** Lists what the nodes keep for VMs: files, sockets, namespaces, devices, firewall rules, jobs, processes. */
    left: async (): Promise<readonly string[]> => {
      const found = await Promise.all(place.nodes.map(async (node, index) => [
        ...await filesIn(join(folderOf(index), "lib/vm")),
        ...await filesIn(join(folderOf(index), "run/vm")),
        ...(await filesIn(join(folderOf(index), "state/network"))).filter((path) =>
          !path.endsWith("/underlay-address")
        ),
        ...(await filesIn(join(folderOf(index), "state"))).filter((path) => path.endsWith(".tmp")),
        ...(await node.networks()).map((name) => `namespace ${name}`),
        ...(await node.devices()).filter((name) => !OWN_DEVICES.test(name)).map((name) => `device ${name}`),
        ...(await node.run("nft", "list", "ruleset")).split("\n").filter((line) => line !== ""),
        ...JSON.parse(await readFile(join(folderOf(index), "state/jobs.json"), "utf8").catch(() => "[]"))
          .map((entry: { job: { id: string } }) => `job ${entry.job.id}`),
      ]));
      return [...found.flat(), ...await machines()];
    },
  };
}

/** Lists everything below a folder that may not exist. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.map((name) => join(folder, name));
}
