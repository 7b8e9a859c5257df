// Defines the time limits of the clocks test, for example the lifetime of a token and the lease of a job. For each
// limit, `begin` begins the limit and returns `lives`, which checks whether the limit has not ended yet.
import { randomUUID } from "node:crypto";
import type { RegistrationView } from "../../src/contract/agent.ts";
import {
  ACCESS_TOKEN_TTL_S,
  CLAIM_CODE_TTL_S,
  JOB_LEASE_S,
  REFRESH_TOKEN_TTL_S,
  SETUP_LIMIT_MS,
} from "../../src/contract/limits.ts";
import { capacityFor, createCall, openCreatesSite } from "../bench/creates-site.ts";
import { request } from "../processes/client.ts";
import { approval, registration } from "../processes/load.ts";
import { type CallOptions, okOf, type TestControlPlane } from "../support/control-plane.ts";
import { putPolicy, settingUp } from "../setup/machine.ts";
import type { ClocksSite } from "./clocks-site.ts";
import { until } from "./waiting.ts";

export type Limit = {
  readonly after_s: number;
  /** true: a check uses up the object, such as a one-time code, so a second check needs a second object. */
  readonly once?: boolean;
  begin(site: ClocksSite): Promise<{ lives(): Promise<boolean> }>;
};

const PASSWORD = "a long enough password";
const WINDOW_S = 3_600;
const KEY_S = 3_600;
const BEGINNING = { limit_ms: 60_000, look_ms: 10 };

export const LIMITS: Readonly<Record<string, Limit>> = {
  "a claim code": {
    after_s: CLAIM_CODE_TTL_S,
    once: true,
    async begin(site) {
      const { claim_code } = await register(site);
      return { lives: async () => await site.statusOf({ method: "POST", ...approval(claim_code ?? "") }) === 200 };
    },
  },
  "an access token": {
    after_s: ACCESS_TOKEN_TTL_S,
    async begin(site) {
      const { access_token: key } = await login(site);
      return { lives: async () => await site.statusOf({ method: "GET", path: "/v1/auth/whoami", key }) === 200 };
    },
  },
  "a refresh token": {
    after_s: REFRESH_TOKEN_TTL_S,
    once: true,
    async begin(site) {
      const { refresh_token } = await login(site);
      const call = { method: "POST", path: "/v1/auth/refresh", body: { refresh_token }, key: "" };
      return { lives: async () => await site.statusOf(call) === 200 };
    },
  },
  "an API key with an end": {
    after_s: KEY_S,
    async begin(site) {
      const expires_at = new Date((await site.advance(0)).getTime() + KEY_S * 1_000).toISOString();
      const body = { description: "with an end", scope: "read_only", expires_at };
      const { secret: key } = await site.ask({ method: "POST", path: "/v1/auth/api-keys", body });
      return { lives: async () => await site.statusOf({ method: "GET", path: "/v1/auth/whoami", key }) === 200 };
    },
  },
  "an auto-approve window": {
    after_s: WINDOW_S,
    async begin(site) {
      await site.ask({ method: "POST", path: "/v1/cn-auto-approve", body: { duration_secs: WINDOW_S } });
      return { lives: async () => (await register(site)).state === "approved" };
    },
  },
  "a setup run": {
    after_s: SETUP_LIMIT_MS / 1_000,
    async begin(site) {
      const path = `/v1/system/cns/${await machineInSetup(site)}`;
      return { lives: async () => (await site.ask({ method: "GET", path })).state === "setting_up" };
    },
  },
  "the lease of a job": {
    after_s: JOB_LEASE_S,
    async begin(site) {
      const path = `/v1/system/jobs/${await claimedJob(site)}`;
      return { lives: async () => (await site.ask({ method: "GET", path })).status.status === "in_progress" };
    },
  },
};

function register(site: ClocksSite): Promise<RegistrationView> {
  const { path, body } = registration(randomUUID());
  return site.ask({ method: "POST", path, body, key: "" });
}

async function login(site: ClocksSite) {
  const username = `user-${randomUUID()}`;
  await site.ask({ method: "POST", path: "/v1/system/users", body: { username, password: PASSWORD } });
  const body = { username, password: PASSWORD };
  return await site.ask({ method: "POST", path: "/v1/auth/login", body, key: "" });
}

/** Creates a machine that is approved for setup and whose bundle was fetched. */
async function machineInSetup(site: ClocksSite): Promise<string> {
  const call = (method: string, path: string, { body }: CallOptions = {}) => site.answer({ method, path, body });
  // The functions that create machines use only the field `call`.
  const t = { call } as TestControlPlane;
  okOf(await putPolicy(t));
  return (await settingUp(t)).server_uuid;
}

/** Creates a job that a node claims and never reports on. */
async function claimedJob(site: ClocksSite): Promise<string> {
  const [url = ""] = site.urls();
  const { nodes: [node], projects: [project] } = await openCreatesSite(url, { nodes: 1, projects: 1 });
  if (node === undefined || project === undefined) throw new Error("no node or no project was created");
  const { server_uuid, api_key: key } = node;
  const tell = (path: string, body: object) => site.ask({ method: "POST", path: `/v1/agent/${path}`, body, key });
  await tell("capacity", capacityFor(1));
  await tell("heartbeat", {});
  // Not awaited: the answer comes only when the job has failed.
  void request(url, createCall(project));
  let id = "";
  const isClaimed = async () => {
    const { job } = await tell("claim", { claimed_by: server_uuid, wait: 0 });
    id = job?.id ?? "";
    return job !== null;
  };
  if (!await until(isClaimed, BEGINNING)) throw new Error("the node got no job");
  return id;
}
