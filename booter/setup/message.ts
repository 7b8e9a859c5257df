// What goes to a machine's agent and what comes from it, in the agent's own words.
import { SETUP_SCRIPT } from "./script.ts";

/** An execute request. The given environment replaces the agent's own, which holds its password. */
export function setupMessage(origin: string, token: string): string {
  const env = { PATH: "/usr/bin:/usr/sbin:/smartdc/bin:/opt/local/bin", BOOTER_URL: origin, SETUP_TOKEN: token };
  return JSON.stringify({ type: "script", script: SETUP_SCRIPT, args: [], env });
}

export type AgentKey =
  | { readonly kind: "startup" | "sysinfo"; readonly server_uuid: string }
  | { readonly kind: "reply"; readonly server_uuid: string; readonly request: string };

/** Null for what is of no interest here. */
export function agentKey(key: string): AgentKey | null {
  const [ur, topic, server_uuid = "", request = ""] = key.toLowerCase().split(".");
  if (ur !== "ur") return null;
  if (topic === "startup" || topic === "sysinfo") return { kind: topic, server_uuid };
  return topic === "execute-reply" ? { kind: "reply", server_uuid, request } : null;
}
