// Runs node agents whose clocks are wrong and change while the agents work. They must work like agents with a correct
// clock: enrol, count as live, do their jobs, keep their leases, and send reports that the server accepts
// (docs/reliability.md, R-10).
import { randomBytes } from "node:crypto";
import type { Instance } from "../../src/contract/instance.ts";
import type { Job } from "../../src/contract/job.ts";
import type { Db } from "../../src/db/pool.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ClockedAgent, clockedAgent, compileClockedAgent } from "./clocks-agent.ts";
import type { ClocksSite } from "./clocks-site.ts";
import { until } from "./waiting.ts";

const DAY_S = 86_400;
/**
 * The offsets of each agent's clock in seconds. The first applies from the agent's start. The other three begin in the
 * middle of one job each.
 */
const CLOCKS: Readonly<Record<string, readonly [number, number, number, number]>> = {
  "whose clock is right": [0, 0, 0, 0],
  "a day ahead": [DAY_S, DAY_S, DAY_S, DAY_S],
  "a day behind": [-DAY_S, -DAY_S, -DAY_S, -DAY_S],
  "whose clock jumps": [0, DAY_S, 0, -DAY_S],
};
const JOBS = ["stop", "start", "restart"] as const;
/** The offsets of the two servers' clocks, in seconds. */
const SERVERS_AHEAD_S = [3_600, -3_600] as const;
/** A delay of the steps of jobs. It is so long that a job continues only after the delay is reset. */
const SLOW_MS = 300_000;
const WAIT = { limit_ms: 60_000, look_ms: 20 };
const TOLERANCE_S = 300;
const LIVE_S = 60;
/** The lease of a job, several times shorter than the time that an operation waits for its node. */
const LEASE_S = 120;
const LEASE_PARTS = [LEASE_S / 2, LEASE_S / 2, LEASE_S / 2] as const;
const IMAGE_BYTES = 10_000;

type Subject = { readonly site: ClocksSite; readonly db: Db; readonly g: InstanceFixture };

/** Runs the agents and prints one line for each. Returns whether all agents worked correctly. */
export async function agentsByWrongClocks(site: ClocksSite, db: Db): Promise<boolean> {
  await site.set(SERVERS_AHEAD_S);
  const folder = await temporaryFolder("clocked-agents");
  const file = await compileClockedAgent(folder.path);
  const images = await serveImage(randomBytes(IMAGE_BYTES));
  const agents: ClockedAgent[] = [];
  try {
    const call = callsOf(site);
    okOf(await call("PUT", "/v1/config/sweeper.stale_claim_threshold_secs", { body: { value: LEASE_S } }));
    const g = await openInstanceFixture({ call }, { ...images, size_bytes: images.bytes.length });
    let good = true;
    for (const [name, clock] of Object.entries(CLOCKS)) {
      const agent = await clockedAgent({ file, folder: folder.path, endpoint: site.urls()[0]!, ahead_s: clock[0] });
      agents.push(agent);
      const wrong = await liveThrough({ site, db, g }, agent, clock);
      console.log(`an agent ${name}: ${wrong.length === 0 ? "works by the database's clock" : wrong.join(", ")}`);
      good &&= wrong.length === 0;
    }
    return good;
  } finally {
    await Promise.all(agents.map((agent) => agent.kill()));
    await images.close();
    await folder.remove();
  }
}

/** Enrols an agent and runs its jobs. Returns what went wrong. */
async function liveThrough(subject: Subject, agent: ClockedAgent, clock: readonly number[]): Promise<string[]> {
  const { site, db, g } = subject;
  const running = agent.start();
  const [, code] = await running.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  await site.ask({ method: "POST", path: "/v1/cn-approvals", body: { code } });
  await running.says(/reports to/);
  const wrong = await isLive(db, agent) ? [] : ["it does not count as live"];
  const instance: Instance = okOf(await makeInstance(g));
  if (instance.host_cn_uuid !== agent.server_uuid) throw new Error("the instance is on another node");
  // Cordons the node, so that the next instance is placed on the next agent's node.
  await site.ask({
    method: "PATCH",
    path: `/v1/cns/${agent.server_uuid}/placement`,
    body: { cordoned: true },
  });
  for (const [index, verb] of JOBS.entries()) {
    wrong.push(...await jobUnderJump(subject, { agent, instance, verb, ahead_s: clock[index + 1]! }));
  }
  // The agent writes its own clock into the VM's modification time, which shows whether the clock was set.
  const goes_s = (Date.parse((await agent.vm(instance.id)).last_modified) - Date.now()) / 1_000;
  if (Math.abs(goes_s - clock[3]!) > TOLERANCE_S) {
    wrong.push(`its clock is ${Math.round(goes_s)} s ahead, not ${clock[3]} s: the offset was not applied`);
  }
  return [
    ...wrong,
    ...await isBelieved(subject, agent, instance),
    ...await isLive(db, agent) ? [] : ["it sends no heartbeats"],
  ];
}

type Act = {
  readonly agent: ClockedAgent;
  readonly instance: Instance;
  readonly verb: string;
  readonly ahead_s: number;
};

/**
 * Starts a job and changes the agent's clock in the middle of the job. Waits until heartbeats have renewed the lease
 * beyond its original end, then kills and restarts the agent. The agent must complete the job. Returns what went wrong.
 */
async function jobUnderJump({ site, db, g }: Subject, { agent, instance, verb, ahead_s }: Act): Promise<string[]> {
  await agent.slow(SLOW_MS);
  const answer = g.call("POST", `/v1/instances/${instance.id}/${verb}`);
  let job: Job | undefined;
  const isInHand = async () => {
    const path = `/v1/system/jobs?cn=${agent.server_uuid}&status=in_progress`;
    [job] = (await site.ask({ method: "GET", path })).items;
    return job !== undefined;
  };
  if (!await until(isInHand, WAIT)) return [`${verb}: no job came to it`];
  await agent.set(ahead_s);
  for (const part_s of LEASE_PARTS) {
    const now = await site.advance(part_s);
    const sql =
      "select from job join job_signal on job_id = id where id = $1 and state = 'in_progress' and renewed_at >= $2";
    const isRenewed = async () => (await db.query(sql, [job!.id, now])).rows.length > 0;
    if (!await until(isRenewed, WAIT)) return [`${verb}: its lease was not renewed`];
  }
  await agent.kill();
  await agent.slow(0);
  agent.start();
  const { status, text } = await answer;
  return status === 200 ? [] : [`${verb}: answered ${status} ${text}`];
}

/** Checks that the server accepts a report of a halted VM from the restarted agent. Returns what went wrong. */
async function isBelieved({ g }: Subject, agent: ClockedAgent, { id }: Instance): Promise<string[]> {
  await agent.kill();
  await agent.haltVm(id);
  await agent.start().says(/reports to/);
  const isStopped = async () => okOf(await g.call("GET", `/v1/instances/${id}`)).lifecycle.state === "stopped";
  return await until(isStopped, WAIT) ? [] : ["its report of a halted VM has no effect"];
}

/**
 * Waits until the agent's node is approved and live, and its reports have no times in the future of the database's
 * clock. Returns false if the time limit passes.
 */
async function isLive(db: Db, { server_uuid }: ClockedAgent): Promise<boolean> {
  return await until(async () => {
    const { rows } = await db.query(
      `select from cn_signal join cn using (server_uuid) join cn_capacity c using (server_uuid)
        where server_uuid = $1 and state = 'approved'
          and last_seen between berth_now() - make_interval(secs => $2) and berth_now()
          and status_at <= berth_now() and reported_at <= berth_now()`,
      [server_uuid, LIVE_S],
    );
    return rows.length > 0;
  }, WAIT);
}

/**
 * Returns a function that calls the servers in turn. It has no time limit, because a create takes as long as its job.
 */
function callsOf(site: ClocksSite) {
  let turn = 0;
  return async (method: string, path: string, { key = ROOT_KEY, body }: CallOptions = {}): Promise<Answer> => {
    const urls = site.urls();
    const response = await fetch(urls[turn++ % urls.length] + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
  };
}
