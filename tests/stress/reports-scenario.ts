// Runs the scenario in which reports.ts records the reports of nodes. After each stage, the test stops all agents and
// replays recorded reports. At the end of one stage, a job is in progress.
import { randomUUID } from "node:crypto";
import type { Job } from "../../src/contract/job.ts";
import { makeInstance } from "../compute/instance-fixture.ts";
import type { Machine } from "../compute/node-agent.ts";
import { okOf } from "../support/control-plane.ts";
import {
  approveSetup,
  awaitingSetup,
  type Machine as Bare,
  newMachine,
  putPolicy,
  report,
  stageImages,
  takeBundle,
} from "../setup/machine.ts";
import type { ReportsSite } from "./reports-site.ts";
import { until } from "./waiting.ts";

export type Stage = { readonly name: string; readonly run: () => Promise<void> };

/** Makes each step of a job so slow that the job stays in progress. */
const SLOW = { slow_ms: 300_000 };
const FAILING = { fail_at: ["provision:boot"] };
const PATIENCE = { limit_ms: 60_000, look_ms: 20 };
const GROWN_BYTES = 2 ** 31;

/** Returns the stages, in order. */
export function stagesOf(site: ReportsSite): readonly Stage[] {
  const { t, g } = site;
  const bare = newMachine();
  const [first, second] = [randomUUID(), randomUUID()];
  const machines: Record<string, Machine> = {};
  let epoch = 0;
  let api_key = "";

  /** Starts a setup run of the bare machine and reports progress, but not its completion. */
  async function setUpHalf(): Promise<void> {
    okOf(await approveSetup(t, bare));
    ({ epoch, api_key } = okOf(await takeBundle(t, bare)));
    for (const step of ["partition", "pool"]) okOf(await report(t, bare, "progress", { epoch, step }));
  }
  async function setUpWhole(): Promise<void> {
    okOf(await report(t, bare, "complete", { epoch }));
    machines[bare.server_uuid] = await site.give({ server_uuid: bare.server_uuid, api_key });
  }
  const begin = async (...nodes: readonly string[]) => {
    for (const node of nodes) await site.start(machines[node]!);
  };
  const onAll = (trouble: object | null) => Promise.all(Object.values(machines).map((each) => each.trouble(trouble)));

  /** Creates an instance, stops it, resizes its disk, then starts, restarts, stops and deletes it. */
  async function runAllOperations(): Promise<void> {
    const instance = await site.running();
    await site.act(instance, "stop");
    await site.resize(instance, GROWN_BYTES);
    await site.act(instance, "start");
    await site.act(instance, "restart");
    await site.act(instance, "stop");
    await site.remove(instance);
  }
  async function inHand(kind: string): Promise<Job> {
    let found: Job | undefined;
    const isThere = async () => {
      const { items }: { items: Job[] } = okOf(await t.call("GET", "/v1/system/jobs?status=in_progress"));
      found = items.find((job) => job.kind.kind === kind && job.progress !== null);
      return found !== undefined;
    };
    if (!await until(isThere, PATIENCE)) throw new Error(`no node claimed a job ${kind}`);
    return found!;
  }
  /** Starts a create whose job stays in progress. */
  async function stuckCreate() {
    await onAll(SLOW);
    const answer = create();
    return { answer, job: await inHand("provision") };
  }
  const create = () => makeInstance(g);
  let late: Awaited<ReturnType<typeof stuckCreate>>;

  return [
    {
      name: "a machine in the middle of its setup",
      run: async () => {
        okOf(await putPolicy(t));
        await awaitingSetup(t, bare);
        await setUpHalf();
      },
    },
    {
      name: "the setup has failed",
      run: async () => void okOf(await report(t, bare, "failed", { epoch })),
    },
    {
      name: "the next setup has completed, and its node has worked",
      run: async () => {
        await setUpHalf();
        await setUpWhole();
        await begin(bare.server_uuid);
        await runAllOperations();
      },
    },
    {
      name: "the node was reset, and is in the middle of another setup",
      run: async () => {
        okOf(await stageImages(t));
        okOf(await t.call("POST", `/v1/cns/${bare.server_uuid}/factory-reset`));
        await again(bare);
        await setUpHalf();
      },
    },
    {
      name: "the node is approved again, and other nodes work, too",
      run: async () => {
        await setUpWhole();
        for (const node of [first, second]) machines[node] = await site.join(node);
        await begin(bare.server_uuid, first, second);
        const instances = await Promise.all([1, 2, 3].map(() => site.running()));
        await Promise.all([site.moveAddress(instances), site.act(instances[2]!, "stop"), runAllOperations()]);
      },
    },
    {
      name: "creates have failed, and one was cancelled on its node and undone",
      run: async () => {
        await begin(bare.server_uuid, first, second);
        await onAll(FAILING);
        await Promise.all([1, 2, 3].map(() => refused(create())));
        const { answer, job } = await stuckCreate();
        okOf(await t.call("POST", `/v1/operations/${job.operation_id}/abandon`));
        await refused(answer);
        await onAll(null);
      },
    },
    {
      name: "a job is claimed by a node that is away",
      run: async () => {
        await begin(bare.server_uuid, first, second);
        late = await stuckCreate();
      },
    },
    {
      name: "the job was done, and a node has another key",
      run: async () => {
        await onAll(null);
        await begin(bare.server_uuid, first, second);
        okOf(await late.answer);
        await site.stop();
        okOf(await t.call("POST", `/v1/cns/${first}/disable`));
        machines[first] = await site.join(first);
        await begin(bare.server_uuid, first, second);
        await runAllOperations();
      },
    },
  ];

  async function again(machine: Bare): Promise<void> {
    const { server_uuid, hostname, sysinfo } = machine;
    okOf(await t.call("POST", "/v2/booter/announce", { body: { server_uuid, hostname, sysinfo } }));
  }

  async function refused(answer: ReturnType<typeof t.call>): Promise<void> {
    const { status, text } = await answer;
    if (status !== 502) throw new Error(`a create that should fail was answered ${status} ${text}`);
  }
}
