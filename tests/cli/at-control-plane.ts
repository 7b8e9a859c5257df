// Runs opsctl command lines against the test's control plane. The commands and the server are real, but there are no
// sockets.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { ENDPOINT, type FakeOptions, type Server } from "./fake-environment.ts";
import { opsctl, type Ran } from "./opsctl.ts";

export type OpsctlRunner = {
  /** Runs a command line. Uses the root key if `env` has no other credential. */
  run(argv: string | readonly string[], options?: FakeOptions): Promise<Ran>;
  /** Runs a command line and returns its stdout. The exit code must be 0. */
  printed(argv: string | readonly string[], options?: FakeOptions): Promise<string>;
  json<T>(argv: string, options?: FakeOptions): Promise<T>;
};

export function opsctlAt(t: TestControlPlane): OpsctlRunner {
  const env = { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_API_KEY: ROOT_KEY };
  const run: OpsctlRunner["run"] = async (argv, options) =>
    await opsctl(typeof argv === "string" ? argv.split(" ") : argv, {
      env,
      server: serverOf(t),
      newId: randomUUID,
      ...options,
    });
  const printed: OpsctlRunner["printed"] = async (argv, options) => {
    const ran = await run(argv, options);
    expect(ran.code, `opsctl ${argv}: ${ran.err()}`).toBe(0);
    return ran.out();
  };
  return {
    run,
    printed,
    json: async (argv, options) => JSON.parse(await printed(`${argv} --json`, options)),
  };
}

export function serverOf(t: TestControlPlane): Server {
  return async ({ method, path, query, headers, body }) => {
    const search = new URLSearchParams(query).toString();
    const answer = await t.call(method, search === "" ? path : `${path}?${search}`, { key: null, headers, body });
    return { status: answer.status, text: answer.text, headers: Object.fromEntries(answer.headers) };
  };
}
