// Runs `nodeagent run` in a fake environment against a fake control plane.
import { mkdtempSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../cli/internal/run.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import {
  type Asked,
  ENDPOINT,
  type FakeAnswer,
  type FakeEnvironment,
  fakeEnvironment,
} from "../cli/fake-environment.ts";

export const SERVER_UUID = "3f2a9c1e-0000-4000-8000-00000000c0de";
export const AGENT_KEY = "opsk_AGENTAGENT12_SECRETSECRETSECRETSECRETSECRET12";

export type AgentRun = FakeEnvironment & { readonly state_dir: string; readonly code: number };
export type Route = (asked: Asked, agent: FakeEnvironment) => FakeAnswer | Promise<FakeAnswer>;

export function stateDir(): string {
  return mkdtempSync(join(tmpdir(), "berth-agent-"));
}

export async function runAgent(
  routes: Readonly<Record<string, Route>>,
  options: { state_dir?: string; argv?: readonly string[] } = {},
): Promise<AgentRun> {
  const state_dir = options.state_dir ?? stateDir();
  const fake: FakeEnvironment = fakeEnvironment({
    server: (asked) => {
      const route = routes[asked.path];
      if (route === undefined) throw new Error(`no route ${asked.path}`);
      return route(asked, fake);
    },
  });
  const place = ["--endpoint", ENDPOINT, "--state-dir", state_dir, "--server-uuid", SERVER_UUID];
  const code = await runCommand(buildAgent(), ["run", ...place, ...(options.argv ?? [])], fake.environment);
  return { ...fake, state_dir, code };
}

export function registered(change: Record<string, unknown> = {}): FakeAnswer {
  return {
    body: {
      server_uuid: SERVER_UUID,
      state: "pending",
      claim_code: "ABC-123",
      claim_code_expires_at: null,
      poll_token: "0123456789abcdef0123456789abcdef",
      ...change,
    },
  };
}

const NO_SECRETS = {
  api_key: null,
  console_ticket_key_hex: null,
  imds_token_key_hex: null,
  migrate_ticket_key_hex: null,
};

export function status(state: string, change: Record<string, unknown> = {}): FakeAnswer {
  return { body: { state, ...NO_SECRETS, ...change } };
}

export const APPROVED = status("approved", { api_key: AGENT_KEY, console_ticket_key_hex: "c0" });

/**
 * Returns the server's answers to the reports of an enrolled node. The heartbeat with the number `stop_at` stops the
 * agent.
 */
export function reports(stop_at = 3): Record<string, Route> {
  let beats = 0;
  return {
    "/v1/agent/config": () => ({ body: { reservoir_enabled: true, reservoir_percent: 1.5 } }),
    "/v1/agent/capacity": () => ({ body: null }),
    "/v1/agent/status": () => ({ body: null }),
    // The answer of an older server, which has no polls.
    "/v1/agent/poll": () => ({ status: 404, body: { message: "Not Found" } }),
    "/v1/agent/claim": () => ({ body: { job: null, tombstones: [] } }),
    "/v1/agent/heartbeat": (_asked, agent) => {
      if (++beats >= stop_at) agent.abort();
      return { body: null };
    },
  };
}

export async function savedKey(state_dir: string): Promise<string | null> {
  try {
    return JSON.parse(await readFile(join(state_dir, "credentials.json"), "utf8")).api_key;
  } catch {
    return null;
  }
}
