// Runs the nodes whose reports are recorded: real agents on simulated machines. reports-scenario.ts adds the machine
// that is set up by netboot.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Instance } from "../../src/contract/instance.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import type { JobNode } from "../compute/jobs.ts";
import { type Machine, type RunningAgent, simulatedMachine } from "../compute/node-agent.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeFloatingIp } from "../network/public-addresses.ts";
import { sysinfoOf } from "../setup/machine.ts";
import { until } from "./waiting.ts";

export type ReportsSite = {
  readonly t: TestControlPlane;
  readonly g: InstanceFixture;
  /** Returns the current keys of all nodes. */
  keys(): readonly string[];
  /**
   * Installs an agent with the node's key on its machine, without starting it. The machine's VMs and disks are kept.
   */
  give(node: Pick<JobNode, "server_uuid" | "api_key">): Promise<Machine>;
  /** Registers and approves a node by its claim code. */
  join(server_uuid: string): Promise<Machine>;
  /** Starts the agent and waits until the node has reported its status and capacity. */
  start(machine: Machine): Promise<RunningAgent>;
  /** Stops all agents. */
  stop(): Promise<void>;
  running(fields?: object): Promise<Instance>;
  act(instance: Instance, verb: string): Promise<void>;
  remove(instance: Instance): Promise<void>;
  resize(instance: Instance, size_bytes: number): Promise<void>;
  /** Creates a floating IP, attaches it to each instance in turn, detaches it and deletes it. */
  moveAddress(instances: readonly Instance[]): Promise<void>;
  close(): Promise<void>;
};

const SEEN_LIMIT_MS = 60_000;
const LOOK_MS = 20;
const IMAGE_BYTES = 10_000;

export async function openReportsSite(t: TestControlPlane): Promise<ReportsSite> {
  const folder = await temporaryFolder("reports");
  const images = await serveImage(randomBytes(IMAGE_BYTES));
  const g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  const keys = new Map<string, string>();
  const agents: RunningAgent[] = [];

  async function give(node: Pick<JobNode, "server_uuid" | "api_key">): Promise<Machine> {
    keys.set(node.server_uuid, node.api_key);
    return await simulatedMachine(t, node as JobNode, join(folder.path, "nodes"));
  }

  async function stop(): Promise<void> {
    await Promise.all(agents.splice(0).map((agent) => agent.stop()));
  }

  return {
    t,
    g,
    keys: () => [...keys.values()],
    give,
    async join(server_uuid) {
      const mac = `02:${server_uuid.replaceAll("-", "").slice(0, 10).match(/../g)!.join(":")}`;
      const body = { server_uuid, hostname: `node-${server_uuid.slice(0, 8)}`, sysinfo: sysinfoOf([mac]) };
      const { claim_code: code, poll_token } = okOf(await t.call("POST", "/v1/agent/register", { key: null, body }));
      okOf(await t.call("POST", "/v1/cn-approvals", { body: { code } }));
      const path = `/v1/agent/register/status?poll_token=${poll_token}`;
      const { api_key } = okOf(await t.call("GET", path, { key: null }));
      return await give({ server_uuid, api_key });
    },
    async start(machine) {
      const { rows: [now] } = await t.db.query<{ now: Date }>("select berth_now() as now");
      const agent = machine.start();
      agents.push(agent);
      const isSeen = async () => {
        const { rows } = await t.db.query(
          `select from cn_capacity c join cn_signal s using (server_uuid)
            where server_uuid::text = $1 and reported_at >= $2 and status_at >= $2`,
          [machine.state_dir.split("/").at(-1), now!.now],
        );
        return rows.length > 0;
      };
      if (!await until(isSeen, { limit_ms: SEEN_LIMIT_MS, look_ms: LOOK_MS })) {
        throw new Error(`an agent reported no status or capacity:\n${agent.said()}`);
      }
      return agent;
    },
    stop,
    running: async (fields) => okOf(await makeInstance(g, fields)),
    act: async ({ id }, verb) => void okOf(await g.call("POST", `/v1/instances/${id}/${verb}`)),
    remove: async ({ id }) => void okOf(await g.call("DELETE", `/v1/instances/${id}`)),
    async resize({ id }, size_bytes) {
      const [disk] = okOf(await g.call("GET", `/v1/disks?instance=${id}`)).items;
      okOf(await g.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes } }));
    },
    async moveAddress(instances) {
      const { id } = okOf(await makeFloatingIp(g));
      for (const instance of instances) {
        const [nic] = okOf(await g.call("GET", `/v1/nics?instance=${instance.id}`)).items;
        okOf(await g.call("POST", `/v1/floating-ips/${id}/attach`, { body: { nic_id: nic.id } }));
      }
      okOf(await g.call("POST", `/v1/floating-ips/${id}/detach`));
      okOf(await g.call("DELETE", `/v1/floating-ips/${id}`));
    },
    async close() {
      await stop();
      await images.close();
      await folder.remove();
    },
  };
}
