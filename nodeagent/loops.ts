// What each loop sends and what it does with the answer.
import type { AgentConfig, Registration, StatusReport } from "../src/contract/agent.ts";
import type { HeartbeatBody } from "../src/contract/job.ts";
import { parseOpensshKey } from "../src/lib/crypto/openssh-key.ts";
import type { Agent } from "./agent.ts";
import { log } from "./agent.ts";
import type { Reservoir } from "./driver.ts";
import { registrationOf } from "./enrolment.ts";
import { createReportTime } from "./report-time.ts";
import type { Loop } from "./reports.ts";

/** `active`: the jobs that are running, whose leases it renews. */
export function heartbeatLoop({ timers }: Agent, active: ReadonlySet<string>): Loop {
  const beat = () => {
    const body: HeartbeatBody = { running_jobs: [...active] };
    return Promise.resolve({ method: "POST", path: "/v1/agent/heartbeat", body } as const);
  };
  return { name: "heartbeat", period_ms: timers.heartbeat_ms, next: beat };
}

/** Looks often, speaks when something changed, and repeats itself now and then in case the server lost it. */
export function statusLoop({ environment, driver, timers, state_dir }: Agent): Loop {
  const time = createReportTime(state_dir, environment.wallMs);
  let sent_text = "";
  let sent_ms = -Infinity;
  let text = "";
  return {
    name: "status",
    period_ms: timers.status_check_ms,
    next: async () => {
      const status = await driver.status();
      text = JSON.stringify(status);
      if (text === sent_text && environment.monotonicMs() - sent_ms < timers.status_full_ms) return null;
      const body: StatusReport = { payload: { ...status, timestamp: await time.next() } };
      return { method: "POST", path: "/v1/agent/status", body };
    },
    accepted: () => {
      sent_text = text;
      sent_ms = environment.monotonicMs();
    },
  };
}

export function capacityLoop({ driver, timers }: Agent): Loop {
  return {
    name: "capacity",
    period_ms: timers.capacity_ms,
    next: async () => ({ method: "POST", path: "/v1/agent/capacity", body: await driver.capacity() }),
  };
}

/** Registers the node again by its key; whether the control plane took it. */
export type Register = (body: Registration) => Promise<boolean>;

/** Reads the effective configuration and hands each part of it to the machine when that part changed. */
export function configLoop(agent: Agent, register: Register): Loop {
  const refresh = registrationRefresh(agent, register);
  const keys = onChange(async (told: readonly unknown[]) => {
    const held = rootKeysOf(agent, told);
    await agent.driver.applyRootKeys(held);
    log(agent, `keys that may log in as root: ${held.length}`);
  });
  const reservoir = onChange(async (held: Reservoir) => {
    await agent.driver.applyReservoir(held);
    log(agent, `memory reservoir: ${held.enabled ? "on" : "off"}, ${held.percent} of physical memory`);
  });
  return {
    name: "config",
    period_ms: agent.timers.config_ms,
    next: () => Promise.resolve({ method: "GET", path: "/v1/agent/config" }),
    accepted: async ({ body }) => {
      const config = body as AgentConfig;
      // A server that does not tell keys must not take away those there are.
      if (Array.isArray(config.root_authorized_keys)) await keys(config.root_authorized_keys);
      await reservoir(reservoirOf(config));
      await refresh(config);
    },
  };
}

/**
 * Registers an approved node by its key once after each start, so that its hostname, address and sysinfo are those of now,
 * and again when its address differs from the one that the control plane has. The registration of a disabled node would
 * ask for its approval, so it does not register.
 */
function registrationRefresh(agent: Agent, register: Register): (config: AgentConfig) => Promise<void> {
  let sent: string | null | undefined;
  return async ({ state, admin_ip }) => {
    if (state !== "approved") return;
    const body = await registrationOf(agent);
    const address = body.admin_ip ?? null;
    // An address is sent once: the control plane keeps another one for a node that netbooted.
    const moved = address !== null && address !== admin_ip && address !== sent;
    if (sent !== undefined && !moved) return;
    if (await register(body)) sent = address;
  };
}

/** Hands a value on when it differs from the last one that was taken. */
function onChange<T>(apply: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let applied_text = "";
  return async (value) => {
    const text = JSON.stringify(value);
    if (text === applied_text) return;
    await apply(value);
    applied_text = text;
  };
}

/** Each key is one line of a file that grants access: what is not whole and single is left out, never mended. */
function rootKeysOf(agent: Agent, told: readonly unknown[]): string[] {
  return told.flatMap((text, index) => {
    const key = typeof text === "string" ? parseOpensshKey(text) : { error: "it is not text" };
    if (!("error" in key)) return [key.line];
    log(agent, `config: root key ${index + 1} is left out: ${key.error}`);
    return [];
  });
}

/** Document 2, CnReservoirView: nobody before the agent checks the range. Throws on a percent that is no number. */
export function reservoirOf(
  { reservoir_enabled, reservoir_percent }: Pick<AgentConfig, "reservoir_enabled" | "reservoir_percent">,
): Reservoir {
  if (typeof reservoir_percent !== "number" || Number.isNaN(reservoir_percent)) {
    throw new Error("the reservoir percent is not a number");
  }
  return { enabled: reservoir_enabled === true, percent: Math.min(1, Math.max(0, reservoir_percent)) };
}
