// Starts the process that serves guests, gives it the plans of all routers, and starts it again when it ends.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { NetworkDocument } from "../../../src/contract/network-document.ts";
import { ROUTER_PREFIX } from "../names.ts";
import { bunOf } from "./bun.ts";
import type { Order } from "./serve.ts";
import { type GuestPlan, guestPlan } from "./guest-plan.ts";

/** The services that routers offer their guests. */
export type GuestServices = {
  /** Serves the guests of an applied document. */
  update(document: NetworkDocument): void;
  /** Closes the sockets in a router's namespace, so that the namespace can end. */
  close(vni: number): Promise<void>;
};

/** Pause before the process is started again. */
const RESTART_MS = 1_000;
/** Time for the process to close sockets. A process that does not answer is ended, which also closes its sockets. */
const CLOSE_LIMIT_MS = 5_000;

export type GuestProcessOptions = {
  readonly machine_dir: string;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
};

/** Returns the services; null if this program is not compiled, because it then cannot enter namespaces. */
export function guestServices({ machine_dir, signal, log }: GuestProcessOptions): GuestServices | null {
  if (bunOf() === null) return null;
  const plans = new Map<string, GuestPlan>();
  const closing = new Map<string, () => void>();
  let child: ChildProcessWithoutNullStreams | null = null;

  function send(order: Order): void {
    child?.stdin.write(`${JSON.stringify(order)}\n`);
  }

  function begin(): void {
    if (signal.aborted || child !== null) return;
    const started = spawn(process.execPath, ["serve-guests", "--machine-dir", machine_dir], { cwd: "/" });
    child = started;
    started.stdin.on("error", () => {}); // The process has ended, which "close" handles.
    createInterface({ input: started.stderr }).on("line", (line) => log(`guest services: ${line}`));
    createInterface({ input: started.stdout }).on("line", (namespace) => closing.get(namespace)?.());
    started.once("error", (error) => log(`guest services: ${error.message}`));
    started.once("close", (code, ended_by) => {
      child = null;
      for (const done of closing.values()) done();
      if (signal.aborted) return;
      log(`guest services: ended with ${ended_by ?? code}; starting again`);
      setTimeout(begin, RESTART_MS);
    });
    for (const plan of plans.values()) send({ kind: "set", plan });
  }

  signal.addEventListener("abort", () => child?.stdin.end(), { once: true });
  return {
    update: (document) => {
      const plan = guestPlan(document, `${ROUTER_PREFIX}${document.vni}`);
      plans.set(plan.namespace, plan);
      if (child === null) begin();
      else send({ kind: "set", plan });
    },
    close: async (vni) => {
      const namespace = `${ROUTER_PREFIX}${vni}`;
      if (!plans.delete(namespace) || child === null) return;
      const timer = setTimeout(() => child?.kill("SIGKILL"), CLOSE_LIMIT_MS);
      await new Promise<void>((done) => {
        closing.set(namespace, done);
        send({ kind: "close", namespace });
      });
      clearTimeout(timer);
      closing.delete(namespace);
    },
  };
}
