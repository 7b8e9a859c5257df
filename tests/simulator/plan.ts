// A plan is the input of a run: commands with their times, rates of database faults, and crashes of processes. A run
// depends only on its plan, so a failing plan can be shrunk by removing commands.
import type { EngineLimits } from "../../actors/engine/options.ts";
import { FAULT_POINTS, type FaultPoint } from "../../actors/engine/ports.ts";
import { stream } from "./chance.ts";

/** A command of a plan. The random draws depend on `id`, so they stay the same when other commands are removed. */
export type Command = { readonly id: number; readonly at_ms: number } & Action;

export type Action =
  | { readonly do: "register"; readonly node: number; readonly code_ttl_s: number }
  | {
    readonly do: "approve";
    readonly node: number;
    readonly code: "right" | "wrong" | "old";
    /** "borrowed": the id of a key that exists already. The whole approval must then be refused. */
    readonly key: "new" | "borrowed";
  }
  | { readonly do: "disable" | "enable" | "remove" | "key_used" | "set_role"; readonly node: number }
  | { readonly do: "start_errand"; readonly node: number }
  | { readonly do: "open_window"; readonly duration_secs: number; readonly count: number | null }
  | { readonly do: "close_window" }
  /** An instance is placed on the node, or removed from it. A guard refuses to remove a node with an instance on it. */
  | { readonly do: "place" | "unplace"; readonly node: number }
  /** The node's agent takes the next step of each of the node's jobs. */
  | { readonly do: "work"; readonly node: number }
  /** Another node tries to claim or end the node's jobs. */
  | { readonly do: "trespass"; readonly node: number }
  /** An operator abandons operations that wait for the node. */
  | { readonly do: "abandon"; readonly node: number }
  /** Several messages to one lamp at once. About half of them have conditions, some of which fail. */
  | { readonly do: "burst"; readonly lamp: number; readonly messages: number }
  | { readonly do: "worker"; readonly process: number }
  | {
    readonly do: "crash";
    readonly process: number;
    readonly point: FaultPoint | "anywhere";
    readonly down_ms: number;
  };

/** The rate of each database fault, from 0 to 1. */
export type Rates = {
  readonly stale_load: number;
  readonly failed_load: number;
  readonly busy: number;
  readonly commit_lost: number;
  readonly answer_lost: number;
  readonly commit_late: number;
};

export type Plan = {
  readonly seed: number;
  readonly processes: number;
  readonly nodes: number;
  /** The number of possible claim codes. In about half of the plans, this number is so small that codes collide. */
  readonly codes: number;
  readonly latency_ms: number;
  readonly limits: Partial<EngineLimits>;
  readonly rates: Rates;
  readonly commands: readonly Command[];
};

/** The weights of the actions in a plan. */
type Mix = Readonly<Record<Action["do"], number>>;

const EVERYTHING: Mix = {
  register: 8,
  approve: 8,
  disable: 3,
  enable: 2,
  remove: 3,
  key_used: 3,
  set_role: 5,
  start_errand: 1,
  open_window: 1,
  close_window: 0.5,
  place: 1,
  unplace: 1,
  work: 2,
  trespass: 0.5,
  abandon: 0.5,
  burst: 0,
  worker: 2,
  crash: 1.5,
};

const MIXES: readonly Mix[] = [
  EVERYTHING,
  // Many registrations, and many windows, most of which have room for at most three nodes.
  { ...EVERYTHING, register: 16, remove: 5, disable: 5, open_window: 3, approve: 2, worker: 3 },
  // One or two nodes, which are added and removed repeatedly.
  { ...EVERYTHING, register: 10, approve: 2, remove: 12, disable: 4, place: 0.3, unplace: 1, set_role: 2, crash: 1 },
  // One or two busy nodes.
  { ...EVERYTHING, register: 4, approve: 4, set_role: 20, disable: 2, remove: 1 },
  // Many operations wait for nodes.
  {
    ...EVERYTHING,
    start_errand: 8,
    work: 14,
    trespass: 4,
    abandon: 4,
    worker: 14,
    crash: 5,
    set_role: 1,
    open_window: 0.5,
  },
  // Many bursts of messages to the two lamps, which are actors of the tests (tests/engine/probe.ts).
  { ...EVERYTHING, burst: 24, worker: 4, crash: 3 },
];

const LAMPS = 2;
const BURST_MAX = 12;

/** Returns the plan of this seed. */
export function planFor(seed: number): Plan {
  const draw = stream(seed * 2_654_435_761);
  const below = (limit: number) => Math.floor(draw() * limit);
  const shape = seed % MIXES.length;
  const mix = MIXES[shape] ?? EVERYTHING;
  const nodes = shape === 2 || shape === 3 ? 1 + below(2) : 2 + below(4);
  const processes = 2 + below(2);
  const length = 16 + below(24);
  const span_ms = 2_000 + below(8_000);
  const latency_ms = 1 + below(60);
  // Few different times, so that many commands coincide.
  const moments = Array.from({ length: 3 + below(12) }, () => below(span_ms));
  const commands = Array.from({ length }, (_, id): Command => {
    const first = id < nodes;
    const at_ms = first ? below(50) : moments[below(moments.length)] ?? 0;
    const action: Action = first ? { do: "register", node: id, code_ttl_s: 1 + below(20) } : actionOf(mix);
    // A crash comes a little later, while the process works on the commands of this time.
    return { id, at_ms: action.do === "crash" ? at_ms + below(8 * latency_ms) : at_ms, ...action };
  });

  function actionOf(weights: Mix): Action {
    const names = Object.keys(weights) as Action["do"][];
    let left = draw() * names.reduce((sum, name) => sum + weights[name], 0);
    const name = names.find((each) => (left -= weights[each]) < 0) ?? "register";
    const node = below(nodes);
    switch (name) {
      case "register":
        return { do: name, node, code_ttl_s: 1 + below(20) };
      case "approve":
        return {
          do: name,
          node,
          code: draw() < 0.75 ? "right" : draw() < 0.5 ? "wrong" : "old",
          key: draw() < 0.93 ? "new" : "borrowed",
        };
      case "open_window":
        return { do: name, duration_secs: 1 + below(8), count: draw() < 0.2 ? null : 1 + below(3) };
      case "close_window":
        return { do: name };
      case "burst":
        return { do: name, lamp: below(LAMPS), messages: 2 + below(BURST_MAX - 1) };
      case "worker":
        return { do: name, process: below(processes) };
      case "crash": {
        const points = [...FAULT_POINTS, "anywhere"] as const;
        return {
          do: name,
          process: below(processes),
          point: points[below(points.length)] ?? "anywhere",
          down_ms: below(1_500),
        };
      }
      default:
        return { do: name, node };
    }
  }

  const trouble = () => (draw() < 0.25 ? 0 : draw() * 0.12);
  return {
    seed,
    processes,
    nodes,
    codes: draw() < 0.5 ? 2 + below(4) : 1_000,
    latency_ms,
    limits: {
      races_max: 1 + below(3),
      messages_max: draw() < 0.3 ? 1 + below(4) : 256,
      units_max: draw() < 0.3 ? 1 + below(3) : 512,
      failures_max: 2 + below(7),
      ...(draw() < 0.1 ? { per_actor_max: 2 + below(3) } : {}),
      ...(draw() < 0.3 ? { chain_max: 1 + below(3), waves_max: 1 + below(3) } : {}),
    },
    rates: {
      stale_load: trouble(),
      failed_load: trouble(),
      busy: trouble(),
      commit_lost: trouble(),
      answer_lost: trouble(),
      commit_late: trouble(),
    },
    commands,
  };
}
