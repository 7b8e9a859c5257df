// What each loop sends and what it does with the answer.
import type { AgentConfig, StatusReport } from "../../src/contract/agent.ts";
import type { Agent } from "./agent.ts";
import { log } from "./agent.ts";
import type { Reservoir } from "./driver.ts";
import type { Loop } from "./reports.ts";

export function heartbeatLoop({ timers }: Agent): Loop {
  const beat = { method: "POST", path: "/v1/agent/heartbeat" } as const;
  return { name: "heartbeat", period_ms: timers.heartbeat_ms, next: () => Promise.resolve(beat) };
}

/** Looks often, speaks when something changed, and repeats itself now and then in case the server lost it. */
export function statusLoop({ world, driver, timers }: Agent): Loop {
  let sent_text = "";
  let sent_ms = -Infinity;
  let text = "";
  return {
    name: "status",
    period_ms: timers.status_check_ms,
    next: async () => {
      const status = await driver.status();
      text = JSON.stringify(status);
      if (text === sent_text && world.monotonicMs() - sent_ms < timers.status_full_ms) return null;
      const body: StatusReport = { payload: { ...status, timestamp: new Date().toISOString() } };
      return { method: "POST", path: "/v1/agent/status", body };
    },
    accepted: () => {
      sent_text = text;
      sent_ms = world.monotonicMs();
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

/** Reads the effective reservoir and hands it to the machine when it changed. */
export function configLoop(agent: Agent): Loop {
  let applied_text = "";
  return {
    name: "config",
    period_ms: agent.timers.config_ms,
    next: () => Promise.resolve({ method: "GET", path: "/v1/agent/config" }),
    accepted: async ({ body }) => {
      const reservoir = reservoirOf(body as AgentConfig);
      const text = JSON.stringify(reservoir);
      if (text === applied_text) return;
      await agent.driver.applyReservoir(reservoir);
      applied_text = text;
      log(agent, `memory reservoir: ${reservoir.enabled ? "on" : "off"}, ${reservoir.percent} of physical memory`);
    },
  };
}

/** Document 2, CnReservoirView: nobody before the agent checks the range. Throws on a percent that is no number. */
export function reservoirOf({ reservoir_enabled, reservoir_percent }: AgentConfig): Reservoir {
  if (typeof reservoir_percent !== "number" || Number.isNaN(reservoir_percent)) {
    throw new Error("the reservoir percent is not a number");
  }
  return { enabled: reservoir_enabled === true, percent: Math.min(1, Math.max(0, reservoir_percent)) };
}
