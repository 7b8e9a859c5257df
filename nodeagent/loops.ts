// Defines the periodic requests of an enrolled node, and handles their answers.
import { VERSION } from "../cli/version.ts";
import type { AgentConfig, Registration, StatusReport } from "../src/contract/agent.ts";
import { AGENT_POLL_S_MAX } from "../src/contract/limits.ts";
import type { HeartbeatBody } from "../src/contract/job.ts";
import { parseOpensshKey } from "../src/lib/crypto/openssh-key.ts";
import type { Agent } from "./agent.ts";
import { log } from "./agent.ts";
import type { Polls, Rider } from "./agent-poll.ts";
import type { Reservoir } from "./driver.ts";
import { registrationOf } from "./enrolment.ts";
import { createReportTime } from "./report-time.ts";
import type { Loop } from "./reports.ts";
import { createSampler } from "./sampler.ts";

/**
 * Sends heartbeats unless the polls replace them. `active` contains the ids of running jobs, whose leases the
 * heartbeat renews.
 */
export function heartbeatLoop(
  { timers }: Agent,
  active: ReadonlySet<string>,
  polls: () => Pick<Polls, "covers">,
): Loop {
  const beat = () => {
    if (polls().covers()) return Promise.resolve(null);
    const body: HeartbeatBody = { running_jobs: [...active] };
    return Promise.resolve({ method: "POST", path: "/v1/agent/heartbeat", body } as const);
  };
  return { name: "heartbeat", period_ms: timers.heartbeat_ms, next: beat };
}

export type StatusLoop = Loop & {
  /**
   * Waits until no report is being sent. A job reports its end only after this wait. Without the wait, a report that
   * was made before the end of the job could arrive after the job's result, and undo the instance's new state.
   */
  settled(): Promise<void>;
  readonly rider: Rider;
};

/**
 * Reports the status. Checks the status often, sends changes at once, and repeats the status periodically in case the
 * server lost it. A status report also contains each new sample of the VMs' metrics. While no job runs and the polls
 * carry reports, the polls send the repetitions and the samples.
 */
export function statusLoop(
  { environment, driver, timers, state_dir }: Agent,
  active: ReadonlySet<string>,
  polls: () => Pick<Polls, "carries">,
): StatusLoop {
  const time = createReportTime(state_dir, environment.wallMs);
  let sent_text = "";
  let sent_ms = -Infinity;
  let loop_accepted = () => {};
  const sampler = createSampler(driver, { period_ms: timers.metrics_ms, monotonicMs: environment.monotonicMs });
  let on_its_way = Promise.withResolvers<void>();
  on_its_way.resolve();

  /** Makes a report. Returns null if status and metrics are not new, and the last report is younger than `age_ms`. */
  async function report(age_ms: number) {
    const status = await driver.status();
    const metrics = await sampler.unsent();
    const text = JSON.stringify(status);
    const is_changed = text !== sent_text;
    if (!is_changed && metrics === null && environment.monotonicMs() - sent_ms < age_ms) return null;
    const accepted = () => {
      sampler.sent(metrics);
      sent_text = text;
      sent_ms = environment.monotonicMs();
    };
    return { status, metrics, is_changed, accepted };
  }

  async function bodyOf({ status, metrics }: NonNullable<Awaited<ReturnType<typeof report>>>): Promise<StatusReport> {
    return { payload: { ...status, ...metrics !== null && { metrics }, timestamp: await time.next() } };
  }

  return {
    name: "status",
    period_ms: timers.status_check_ms,
    settled: () => on_its_way.promise,
    ended: () => on_its_way.resolve(),
    next: async () => {
      on_its_way = Promise.withResolvers();
      const made = await report(timers.status_full_ms);
      if (made === null || (!made.is_changed && active.size === 0 && polls().carries())) return null;
      loop_accepted = made.accepted;
      return { method: "POST", path: "/v1/agent/status", body: await bodyOf(made) };
    },
    accepted: () => loop_accepted(),
    rider: {
      field: "status",
      take: async (interval_ms) => {
        // The loop itself sends the first report at once.
        if (active.size > 0 || sent_text === "") return null;
        const made = await report(timers.status_full_ms - interval_ms);
        return made === null ? null : { body: await bodyOf(made), accepted: made.accepted };
      },
    },
  };
}

/**
 * Reports the capacity. This loop sends the first report. The polls carry the later reports. While the polls cannot
 * carry reports, this loop sends them.
 */
export function capacityLoop(
  { driver, environment, timers }: Agent,
  polls: () => Pick<Polls, "carries">,
): Loop & { readonly rider: Rider } {
  let sent_ms = -Infinity;
  const accepted = () => void (sent_ms = environment.monotonicMs());
  const body = async () => ({ ...await driver.capacity(), agent_version: VERSION });
  const isYoung = (age_ms: number) => environment.monotonicMs() - sent_ms < age_ms;
  return {
    name: "capacity",
    period_ms: timers.capacity_ms,
    next: async () => {
      // A poll carries the report before the report is due. The answer to the poll confirms the report, but may arrive
      // one interval later. Until then, this loop does not send the report a second time.
      if (polls().carries() && isYoung(timers.capacity_ms + AGENT_POLL_S_MAX * 1_000)) return null;
      return { method: "POST", path: "/v1/agent/capacity", body: await body() };
    },
    accepted,
    rider: {
      field: "capacity",
      take: async (interval_ms) =>
        sent_ms === -Infinity || isYoung(timers.capacity_ms - interval_ms) ? null : { body: await body(), accepted },
    },
  };
}

/** Registers the node again with its API key. Returns true if the control plane accepted the registration. */
export type Register = (body: Registration) => Promise<boolean>;

/** Reads the effective configuration and applies each part that changed. */
export function configLoop(agent: Agent, register: Register): Loop {
  const refresh = registrationRefresh(agent, register);
  const keys = onChange(async (lines: readonly unknown[]) => {
    const root_keys = rootKeysOf(agent, lines);
    await agent.driver.applyRootKeys(root_keys);
    log(agent, `authorized keys of root: ${root_keys.length}`);
  });
  const reservoir = onChange(async (wanted: Reservoir) => {
    await agent.driver.applyReservoir(wanted);
    log(agent, `memory reservoir: ${wanted.enabled ? "on" : "off"}, ${wanted.percent} of physical memory`);
  });
  return {
    name: "config",
    period_ms: agent.timers.config_ms,
    next: () => Promise.resolve({ method: "GET", path: "/v1/agent/config" }),
    accepted: async ({ body }) => {
      const config = body as AgentConfig;
      // An older server sends no keys; the existing keys must stay.
      if (Array.isArray(config.root_authorized_keys)) await keys(config.root_authorized_keys);
      await reservoir(reservoirOf(config));
      await refresh(config);
    },
  };
}

/**
 * Registers an approved node with its key once per start of the agent, and once after each change of the node's
 * address. A registration updates the node's hostname, address and sysinfo. A disabled node does not register, because
 * that would request a new approval.
 */
function registrationRefresh(agent: Agent, register: Register): (config: AgentConfig) => Promise<void> {
  let sent: string | null | undefined;
  return async ({ state, admin_ip }) => {
    if (state !== "approved") return;
    const body = await registrationOf(agent);
    const address = body.admin_ip ?? null;
    // For a netbooted node, the control plane keeps the address that it assigned. So `address` and `admin_ip` may
    // differ permanently. The last condition prevents a registration after each read of the configuration.
    const moved = address !== null && address !== admin_ip && address !== sent;
    if (sent !== undefined && !moved) return;
    if (await register(body)) sent = address;
  };
}

/** Applies a value if it differs from the last applied one. */
function onChange<T>(apply: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let applied_text = "";
  return async (value) => {
    const text = JSON.stringify(value);
    if (text === applied_text) return;
    await apply(value);
    applied_text = text;
  };
}

/**
 * Returns the valid keys and logs the others. Each key becomes a line of a file that grants access, so an invalid key
 * is skipped, not repaired.
 */
function rootKeysOf(agent: Agent, lines: readonly unknown[]): string[] {
  return lines.flatMap((text, index) => {
    const key = typeof text === "string" ? parseOpensshKey(text) : { error: "it is not text" };
    if (!("error" in key)) return [key.line];
    log(agent, `config: root key ${index + 1} is skipped: ${key.error}`);
    return [];
  });
}

/**
 * Returns the memory reservoir. Limits a percent to the range from 0 to 1, because the server does not check it
 * (docs/nodes.md, "Memory reservoir"). Throws if the percent is not a number.
 */
export function reservoirOf(
  { reservoir_enabled, reservoir_percent }: Pick<AgentConfig, "reservoir_enabled" | "reservoir_percent">,
): Reservoir {
  if (typeof reservoir_percent !== "number" || Number.isNaN(reservoir_percent)) {
    throw new Error("the reservoir percent is not a number");
  }
  return { enabled: reservoir_enabled === true, percent: Math.min(1, Math.max(0, reservoir_percent)) };
}
