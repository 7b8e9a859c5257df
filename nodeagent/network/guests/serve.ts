// Runs the process that serves the guests of all VPCs of a node. The agent starts this process, writes orders to its
// input, and reads confirmations from its output. The process ends when its input ends, so it never outlives the agent.
import { createInterface } from "node:readline";
import process from "node:process";
import { bunOf } from "./bun.ts";
import { openLinkSockets } from "./link-sockets.ts";
import { namespaceIdentity, openNamespaces } from "./namespaces.ts";
import type { MetadataOptions } from "./metadata.ts";
import { openRouterSockets, type RouterSockets } from "./router-sockets.ts";
import type { GuestPlan } from "./guest-plan.ts";

/** An order of the agent, as a line of JSON. */
export type Order =
  | { readonly kind: "set"; readonly plan: GuestPlan }
  /**
   * Closes the sockets of a router, so that the router's namespace can end. The process then prints the name of the
   * namespace.
   */
  | { readonly kind: "close"; readonly namespace: string };

/** Pause between checks whether a router's namespace was replaced. Open sockets would keep the old namespace alive. */
const CHECK_MS = 2_000;
/** Pause between reads of the sockets for router solicitations and DHCPv6. RFC 4861 allows 500 ms for an answer. */
const WORK_MS = 100;

type Open = { readonly services: RouterSockets; readonly identity: number | null };

/**
 * Serves until the input ends, and then ends the process. Throws an Error if the program is not the compiled one.
 * @param metadata where the metadata of guests is, and the key of their tokens
 */
export async function serveGuests(
  metadata: Pick<MetadataOptions, "filesOf" | "key">,
  log: (line: string) => void,
): Promise<void> {
  const bun = bunOf();
  if (bun === null) throw new Error("the services for guests need the compiled agent");
  const namespaces = await openNamespaces();
  const links = await openLinkSockets();
  const plans = new Map<string, GuestPlan>();
  const open = new Map<string, Open>();

  async function closeOne(namespace: string): Promise<void> {
    const services = open.get(namespace)?.services;
    open.delete(namespace);
    await services?.close();
  }

  /** Opens the sockets of a router that exists. Closes the sockets of a router that was replaced or has ended. */
  async function follow(plan: GuestPlan): Promise<void> {
    const identity = namespaceIdentity(plan.namespace);
    const known = open.get(plan.namespace);
    if (known !== undefined && known.identity === identity) return known.services.update(plan);
    await closeOne(plan.namespace);
    if (identity === null) return;
    try {
      const services = openRouterSockets({ bun: bun!, links, namespaces, plan, metadata, log });
      open.set(plan.namespace, { services, identity });
    } catch (error) {
      log(`${plan.namespace}: ${(error as Error).message}; retrying`);
    }
  }

  async function obey(order: Order): Promise<void> {
    switch (order.kind) {
      case "set":
        plans.set(order.plan.namespace, order.plan);
        return await follow(order.plan);
      case "close":
        plans.delete(order.namespace);
        await closeOne(order.namespace);
        process.stdout.write(`${order.namespace}\n`);
    }
  }

  // Orders run one after another.
  let last: Promise<void> = Promise.resolve();
  const queue = (work: () => Promise<void>) => {
    last = last.then(work).catch((error) => log((error as Error).message));
  };
  const timer = setInterval(() =>
    queue(async () => {
      for (const plan of plans.values()) await follow(plan);
    }), CHECK_MS);
  const worker = setInterval(() => {
    const now_ms = performance.now();
    for (const { services } of open.values()) services.work(now_ms);
  }, WORK_MS);
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as Order;
    queue(() => obey(order));
  }
  clearInterval(timer);
  clearInterval(worker);
  process.exit(0);
}
