// If the database does not answer a call, the engine does not repeat the call. So the caller waits for the driver's
// time limit only once.
import { expect, test } from "vitest";
import { createEngine } from "../../actors/engine/engine.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { CommitError, type Store } from "../../actors/engine/store.ts";
import { isSilence } from "../../src/db/pool.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { lamp } from "./probe.ts";

const silent = () => Promise.reject(new CommitError("unknown", null, { silent: true }));

/** Creates an engine whose store fails in one kind of call, and counts the attempts. */
function engineWith(call: "load" | "commit", fails: () => Promise<never>) {
  const kinds = [{ kind: "lamp", table: "lamp", key: "id" }];
  const store: Store = createMemoryStore({ now: () => new Date(0), kinds, unique: [], guards: {} });
  let tries = 0;
  const failing = () => {
    tries += 1;
    return fails();
  };
  const ports = { ...productionPorts(), sleep: () => Promise.resolve() };
  const engine = createEngine({
    store: { ...store, [call]: failing },
    behaviors: [lamp],
    ports,
    // After this number of version conflicts, the engine uses other calls of the store. These tests never reach the
    // number.
    limits: { races_max: Number.MAX_SAFE_INTEGER },
  });
  const make = () => engine.send({ kind: "lamp", id: "one" }, { type: "make", id: "one" });
  return { make, tries: () => tries, idle: engine.idle };
}

test.each(["load", "commit"] as const)(
  "a %s that gets no answer is not repeated, and its caller gets the error at once",
  async (call) => {
    const { make, tries, idle } = engineWith(call, silent);
    await expect(make()).rejects.toMatchObject({ reason: "unknown", silent: true });
    expect(tries()).toBe(1);
    await expect.poll(idle).toBe(true);
  },
);

test("a call whose connection broke is repeated", async () => {
  const { make, tries } = engineWith("load", () => Promise.reject(new CommitError("unknown", null)));
  await expect(make()).rejects.toMatchObject({ reason: "unknown", silent: false });
  expect(tries()).toBeGreaterThan(1);
});

test.each([
  ["no answer in time", new Error("Query read timeout"), true],
  ["no free connection in time", new Error("timeout exceeded when trying to connect"), true],
  ["no connection in time", new Error("Connection terminated due to connection timeout"), true],
  ["wrapped", new Error("x", { cause: new Error("Query read timeout") }), true],
  ["a connection that ended", new Error("Connection terminated unexpectedly"), false],
  ["an answer of PostgreSQL", { code: "57P01", severity: "FATAL", message: "terminating connection" }, false],
  ["nothing", undefined, false],
])("isSilence accepts exactly the errors of calls without an answer: %s", (_, error, expected) => {
  expect(isSilence(error)).toBe(expected);
});
