// Connects the consoles of the node's VMs to the control plane. When the node asks for work, the answer can contain
// calls, each for one console. The node opens a connection for each call, because the control plane does not connect to
// nodes. docs/instances.md, "Serial console".
import type { ConsoleCall } from "../../src/contract/console.ts";
import { CONSOLE_CALLS_MAX, CONSOLE_DIAL_S, CONSOLE_REDIAL_MS } from "../../src/contract/limits.ts";
import { CONSOLE_PROTOCOL, controlText } from "../../src/lib/console/frames.ts";
import { Unreachable } from "../../cli/internal/exchange.ts";
import { plainText } from "../../cli/internal/plain-text.ts";
import type { ClientSocket } from "../../cli/internal/websocket.ts";
import { type Agent, log, rest } from "../agent.ts";
import { DetailedFailure } from "../detailed-failure.ts";
import { createHub, type Hub } from "./hub.ts";
import { sendWhole } from "./send-whole.ts";

export type Consoles = {
  /** Connects for each new call. Does not wait for the connections. */
  answer(calls: readonly ConsoleCall[]): void;
  /** Returns the session ids of the last calls. */
  known(): string[];
};

/** How often the node checks whether the console of a VM with open connections was replaced or is gone. */
const LOOK_MS = 1_000;
/**
 * The longest pause between two dials. Behind a proxy, a dial may not reach the process that waits for it. With three
 * processes, all of the 20 dials in CONSOLE_DIAL_S miss that process in 0.03 % of all cases.
 */
const REDIAL_MAX_MS = 500;
const GONE = "the instance has no serial console: its machine is gone, or has not run since its node's agent started";

/** Creates the consoles of an agent. They end when the agent's signal aborts. */
export function createConsoles(agent: Pick<Agent, "driver" | "environment" | "link">, api_key: string): Consoles {
  const { driver, environment, link } = agent;
  const hubs = new Map<string, Hub>();
  const calls = new Set<string>();
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      for (; hubs.size > 0; await rest(agent, LOOK_MS)) {
        for (const [id, hub] of [...hubs]) {
          const console = driver.console(id);
          if (console === undefined) hub.end(GONE);
          else hub.follow(console);
        }
      }
    } catch {
      for (const hub of [...hubs.values()]) hub.end("the node's agent has stopped; open the console again");
    } finally {
      looking = false;
    }
  }

  function hubOf(instance_id: string): Hub | null {
    const present = hubs.get(instance_id);
    if (present !== undefined) return present;
    const console = driver.console(instance_id);
    if (console === undefined) return null;
    const hub = createHub(console, () => hubs.delete(instance_id));
    hubs.set(instance_id, hub);
    void look();
    return hub;
  }

  async function dial({ session_id, relay_url }: ConsoleCall): Promise<ClientSocket> {
    const url = `${relay_url ?? link.endpoint}/v1/agent/consoles/${session_id}`;
    const headers = { authorization: `Bearer ${api_key}`, "user-agent": link.user_agent };
    const end_ms = environment.monotonicMs() + CONSOLE_DIAL_S * 1_000;
    for (let pause_ms = CONSOLE_REDIAL_MS;; pause_ms = Math.min(2 * pause_ms, REDIAL_MAX_MS)) {
      try {
        return await environment.dial(url, { protocols: [CONSOLE_PROTOCOL], headers, signal: environment.signal });
      } catch (error) {
        if (!(error instanceof Unreachable) || environment.monotonicMs() + pause_ms > end_ms) throw error;
      }
      await rest(agent, pause_ms);
    }
  }

  async function sendScreen(instance_id: string, socket: ClientSocket): Promise<void> {
    try {
      sendWhole(socket, await driver.screenshot(instance_id));
    } catch (error) {
      if (error instanceof DetailedFailure) log(agent, `screenshot of ${instance_id}: ${error.detail}`);
      socket.send(controlText({ type: "end", message: plainText((error as Error).message) }));
      socket.close();
    }
  }

  async function serve(call: ConsoleCall): Promise<void> {
    try {
      const socket = await dial(call);
      if (call.mode === "screenshot") return await sendScreen(call.instance_id, socket);
      const hub = hubOf(call.instance_id);
      if (hub !== null) return hub.join(call, socket);
      socket.send(controlText({ type: "end", message: GONE }));
      socket.close();
    } catch (error) {
      if (!environment.signal.aborted) log(agent, `console ${call.session_id}: ${(error as Error).message}`);
    }
  }

  return {
    known: () => [...calls],
    answer: (all) => {
      for (const call of all) {
        if (calls.has(call.session_id)) continue;
        calls.add(call.session_id);
        void serve(call);
      }
      // The oldest ids are dropped: their calls have been answered or have expired.
      for (const id of [...calls].slice(0, -CONSOLE_CALLS_MAX)) calls.delete(id);
    },
  };
}
