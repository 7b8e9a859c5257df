// Decides which open consoles must end. A console ends if the instance was deleted, moved, stopped or has failed, or if
// the caller lost the credential or the permission. The log stays readable after the instance stops.
import type { Kysely } from "kysely";
import { type ConsoleInstance, findConsoleInstances } from "../../actors/console-session/reads.ts";
import { refusalAt, refusalOf } from "../auth/authorization.ts";
import type { FindReferenced } from "../auth/credential-reference.ts";
import type { Database } from "../db/tables.ts";
import type { CheckedConsole } from "./console-live.ts";

export type ConsoleCheckPorts = { readonly kysely: Kysely<Database>; readonly referenced: FindReferenced };

/** Returns why consoles must end, by session. A console without a reason continues. */
export async function checkConsoles(
  { kysely, referenced }: ConsoleCheckPorts,
  consoles: readonly CheckedConsole[],
): Promise<Map<string, string>> {
  const instances = await findConsoleInstances(kysely, [...new Set(consoles.map(({ instance_id }) => instance_id))]);
  const reasons = await Promise.all(consoles.map(async (each) => {
    const instance = instances.get(each.instance_id);
    return [each.id, trouble(each, instance) ?? await lostRight(each, instance!)] as const;
  }));
  return new Map(reasons.flatMap(([id, reason]) => reason === null ? [] : [[id, reason]]));

  async function lostRight({ reference, mode }: CheckedConsole, scope: ConsoleInstance): Promise<string | null> {
    // A request that reads a log or a screen needs no check here: it was authorized a moment ago.
    if (mode === "log" || mode === "screenshot") return null;
    const principal = await referenced(reference);
    if (principal === null) return "your credential was revoked or has expired. Log in and open the console again";
    const refusal = refusalOf("InstanceConsole", principal) ?? refusalAt("InstanceConsole", principal, scope);
    return refusal === null ? null : "you no longer have permission for this console";
  }
}

function trouble({ cn, mode }: CheckedConsole, instance: ConsoleInstance | undefined): string | null {
  if (instance === undefined) return "the instance was deleted";
  if (instance.host_cn_uuid !== cn) return "the instance moved to another node. Open the console again";
  return mode === "log" ? null : notRunning(instance);
}

/** Returns why the instance has no console now, or null if it has one. */
export function notRunning({ name, state, host_cn_uuid }: ConsoleInstance): string | null {
  if (host_cn_uuid === null) return `${name} has no machine yet. Try again in a moment`;
  switch (state) {
    case "pending":
    case "provisioning":
    case "running":
    case "stopping":
      return null;
    case "stopped":
      return `${name} is stopped. Start it, then open the console`;
    case "failed":
      return `${name} has failed. Its log may say why; \`retry\` starts it again`;
  }
}
