// Builds and parses the AMQP messages of a machine's agent, which runs commands on the machine before it has a node
// agent.
import type { Buffer } from "node:buffer";
import { jsonLimits } from "../../src/lib/text/json-limits.ts";
import { SETUP_SCRIPT } from "./script.ts";

/** The booters that a setup script calls: first the booter that sent the script, then the others. */
export type ScriptOrigins = { readonly own: string; readonly peers: readonly string[] };

/**
 * Builds an execute request. The command does not get the environment of the machine's agent, which contains the AMQP
 * password.
 */
export function setupMessage({ own, peers }: ScriptOrigins, token: string): string {
  const env = {
    PATH: "/usr/bin:/usr/sbin:/smartdc/bin:/opt/local/bin",
    BOOTER_URL: own,
    BOOTER_PEERS: peers.join(" "),
    SETUP_TOKEN: token,
  };
  return JSON.stringify({ type: "script", script: SETUP_SCRIPT, args: [], env });
}

export type AgentKey =
  | { readonly kind: "startup" | "sysinfo"; readonly server_uuid: string }
  | { readonly kind: "reply"; readonly server_uuid: string; readonly request: string };

/** Parses a routing key. Returns null for a key that the enrolment does not handle. */
export function agentKey(key: string): AgentKey | null {
  const [ur, topic, server_uuid = "", request = ""] = key.toLowerCase().split(".");
  if (ur !== "ur") return null;
  if (topic === "startup" || topic === "sysinfo") return { kind: topic, server_uuid };
  return topic === "execute-reply" ? { kind: "reply", server_uuid, request } : null;
}

/** Parses a message of a machine's agent. Returns null unless it is a JSON object within the limits. */
export function objectOf(body: Buffer): Record<string, unknown> | null {
  const text = body.toString("utf8");
  if (jsonLimits(text) !== null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : null;
  } catch {
    return null;
  }
}
