// Enrolment: registers the machine, shows the claim code, waits for an operator's approval, and saves the key.
import type { RegisterStatusView, Registration, RegistrationView } from "../src/contract/agent.ts";
import { CLAIM_CODE_TTL_S, REGISTER_STATUS_HOLD_MS } from "../src/contract/limits.ts";
import type { Call } from "../cli/internal/exchange.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { type Agent, log, refusalText, REQUEST_LIMIT_MS, rest, talk } from "./agent.ts";
import { hideClaimCode, showClaimCode } from "./claim-code.ts";
import { type Credentials, saveCredentials } from "./credentials.ts";
import type { Driver } from "./driver.ts";
import { forgetPollToken, readPollToken, savePollToken } from "./poll-token.ts";

/** The parts of the agent that an enrolment uses. */
export type Enrolling = Pick<Agent, "environment" | "link" | "state_dir" | "timers" | "adminIp"> & {
  readonly driver: Pick<Driver, "hardware">;
};

/**
 * Enrols the node and returns its credentials once they are on disk. Throws a Failure if the wait for the approval
 * times out or cannot succeed.
 */
export async function enrol(agent: Enrolling): Promise<Credentials> {
  const end_ms = agent.environment.monotonicMs() + agent.timers.approval_wait_s * 1_000;
  try {
    for (;;) {
      const ticket = await register(agent, end_ms);
      const given = await waitForKey(agent, ticket, end_ms);
      if (given === "register_again") continue;
      const credentials = { ...given, server_uuid: ticket.server_uuid };
      await saveCredentials(agent.state_dir, credentials);
      await forgetPollToken(agent.state_dir);
      log(agent, `approved as node ${ticket.server_uuid}`);
      return credentials;
    }
  } finally {
    await hideClaimCode(agent);
  }
}

async function register(agent: Enrolling, end_ms: number): Promise<RegistrationView> {
  const body = await registrationOf(agent);
  // With its saved poll token, the machine renews its claim instead of creating a second one.
  const token = await readPollToken(agent.state_dir);
  const headers: Record<string, string> = token === null ? {} : { "x-poll-token": token };
  const call: Call = { method: "POST", path: "/v1/agent/register", headers, body, limit_ms: REQUEST_LIMIT_MS };
  const ticket = await ask<RegistrationView>(agent, call, end_ms);
  if (ticket === null) {
    throw new Failure(
      "the endpoint does not support registration (404); check that it is a control plane",
      EXIT.failure,
    );
  }
  if (ticket.state === "awaiting_setup" || ticket.state === "setting_up") {
    throw new Failure(`this node is ${ticket.state}: it enrols by netboot, not by claim code`, EXIT.conflict);
  }
  await savePollToken(agent.state_dir, ticket.poll_token);
  if (ticket.claim_code !== null) await showClaimCode(agent, ticket.claim_code, ticket.claim_code_expires_at);
  return ticket;
}

/** Returns the node's registration. */
export async function registrationOf(agent: Enrolling): Promise<Registration> {
  const hardware = await agent.driver.hardware();
  return { ...hardware, admin_ip: hardware.admin_ip ?? await agent.adminIp() };
}

type Given = Omit<Credentials, "server_uuid">;

async function waitForKey(
  agent: Enrolling,
  ticket: RegistrationView,
  end_ms: number,
): Promise<Given | "register_again"> {
  const code_end_ms = agent.environment.monotonicMs() + codeLifeMs(ticket);
  const call: Call = {
    method: "GET",
    path: "/v1/agent/register/status",
    // The token is sent in a header, because proxies log URLs.
    headers: { "x-poll-token": ticket.poll_token },
    limit_ms: REGISTER_STATUS_HOLD_MS + REQUEST_LIMIT_MS,
  };
  for (;;) {
    const status = await ask<RegisterStatusView>(agent, call, end_ms);
    if (status === null) {
      log(agent, "the control plane does not know this registration; registering again");
      await forgetPollToken(agent.state_dir);
      return "register_again";
    }
    switch (status.state) {
      case "approved":
        return await keyOf(agent, status, ticket.server_uuid);
      case "disabled":
        await forgetPollToken(agent.state_dir);
        throw new Failure("an operator disabled this node; restart the agent to ask for approval", EXIT.auth);
      case "awaiting_setup":
      case "setting_up":
        throw new Failure(`this node became ${status.state}: it enrols by netboot now`, EXIT.conflict);
      case "pending":
        break;
    }
    if (agent.environment.monotonicMs() >= code_end_ms) {
      log(agent, "the claim code expired; asking for a new one");
      return "register_again";
    }
    await restWithin(agent, agent.timers.pending_retry_ms, end_ms);
  }
}

async function keyOf(agent: Enrolling, status: RegisterStatusView, server_uuid: string): Promise<Given> {
  const { api_key, console_ticket_key_hex, imds_token_key_hex, migrate_ticket_key_hex } = status;
  if (api_key !== null) return { api_key, console_ticket_key_hex, imds_token_key_hex, migrate_ticket_key_hex };
  await forgetPollToken(agent.state_dir);
  throw new Failure(
    `node ${server_uuid} is approved, but its key was fetched before and is not saved here; ` +
      "restart the agent and approve its new claim code, which replaces the key",
    EXIT.auth,
  );
}

/**
 * Returns the remaining life of the claim code in milliseconds. The result is at most the full life of a code, because
 * the clocks of node and server may differ.
 */
function codeLifeMs({ claim_code_expires_at }: RegistrationView): number {
  const left_ms = claim_code_expires_at === null ? NaN : Date.parse(claim_code_expires_at) - Date.now();
  const whole_ms = CLAIM_CODE_TTL_S * 1_000;
  return left_ms > 0 && left_ms < whole_ms ? left_ms : whole_ms;
}

/** Sends a call and returns the body of a 200, or null on 404. Retries while the server is unavailable. */
async function ask<T>(agent: Enrolling, call: Call, end_ms: number): Promise<T | null> {
  let logged = false;
  for (;;) {
    const reply = await talk(agent, null, call);
    if (reply.kind === "answer") {
      if (reply.answer.status === 200) return reply.answer.body as T;
      if (reply.answer.status === 404) return null;
      throw new Failure(`registration rejected: ${refusalText(reply.answer)}`, EXIT.failure);
    }
    if (!logged) log(agent, `${reply.why}; retrying`);
    logged = true;
    await restWithin(agent, reply.pause_ms, end_ms);
  }
}

async function restWithin(agent: Enrolling, duration_ms: number, end_ms: number): Promise<void> {
  const left_ms = end_ms - agent.environment.monotonicMs();
  if (left_ms <= 0) {
    const waited = `not approved within ${agent.timers.approval_wait_s} s`;
    throw new Failure(`${waited}; restart the agent for a new claim code`, EXIT.wait_timeout);
  }
  await rest(agent, Math.min(duration_ms, left_ms));
}
