// A process of the tests: an engine and a background worker on the database. A fault may occur in it once.
import { createEngine, type Engine } from "../../actors/engine/engine.ts";
import type { FaultPoint } from "../../actors/engine/ports.ts";
import { CommitError, type Store } from "../../actors/engine/store.ts";
import { behaviors as production } from "../../actors/registry.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import type { Db } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { gated, OTHERS, SAGAS } from "./saga-gates.ts";

/** A fault that occurs once in a process of the tests. */
export type Trouble =
  | { readonly dies: FaultPoint }
  /** The connection breaks during the commit call, before or after the database applied the call. */
  | { readonly cut: "before" | "after" }
  /** The process pauses between its load and its commit, and continues when the test calls `resume`. */
  | { readonly pauses: true };

export type Process = ReturnType<typeof openProcess>;

type ProcessOptions = {
  readonly app: Db;
  /** Returns the current step of a saga. */
  readonly stepOf: (saga_id: string) => Promise<string | null>;
  readonly trouble?: Trouble | undefined;
};

const definitions = [...SAGAS.map(gated), ...OTHERS];
const behaviors = [...production.filter(({ kind }) => kind !== "saga"), sagaBehavior(definitions)];

export function openProcess({ app, stepOf, trouble }: ProcessOptions) {
  let faults = 0;
  const resumed = Promise.withResolvers<void>();
  const paused = Promise.withResolvers<void>();
  const fault = async (point: FaultPoint) => {
    if (trouble === undefined || faults > 0) return;
    if ("dies" in trouble && trouble.dies === point) {
      faults += 1;
      throw new Error(`the process died ${point}`);
    }
    if ("pauses" in trouble && point === "before_commit") {
      faults += 1;
      paused.resolve();
      await resumed.promise;
    }
  };
  const real = createStore(app, behaviors);
  const commit: Store["commit"] = async (units) => {
    if (trouble === undefined || !("cut" in trouble) || faults > 0) return await real.commit(units);
    faults += 1;
    if (trouble.cut === "after") await real.commit(units);
    throw new CommitError("unknown", null);
  };
  const store = { ...real, commit };
  const ports = { ...productionPorts(), fault };
  const engine: Engine = createEngine({ store, behaviors, ports });
  const nothing = () => Promise.resolve();
  const worker = createBackgroundWorker({
    store,
    engine,
    ports,
    timed: [],
    knowsSaga: () => true,
    chain: nothing,
    maintain: nothing,
  });
  return {
    engine,
    deliver: () => worker.pass(),
    /** Sends one tick to a saga and handles its refusal like the background worker. */
    tick: async (id: string) => {
      const step = await stepOf(id);
      const outcome = await engine.send({ kind: "saga", id }, { type: "tick" });
      if (outcome.ok) return;
      await engine.send({ kind: "saga", id }, { type: "step_refused", step, reason: outcome.fault.message });
    },
    faults: () => faults,
    paused: paused.promise,
    resume: () => resumed.resolve(),
  };
}
