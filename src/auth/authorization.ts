// What the policy says of one caller, one action and one place, and how a refusal sounds.
import type { Capability } from "../contract/enums.ts";
import { type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import type { RecordScope, ResourceScope } from "./resource-scope.ts";
import { type Action, POLICY, type Rule } from "./policy.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";
import { owns, sees } from "./visibility.ts";

/** One body for missing, malformed, expired, revoked and unknown credentials (document 4, Fixed here). */
export const UNAUTHENTICATED: Fault = fault("unauthenticated", "a valid credential is required", {
  error_code: "Unauthenticated",
});

/** Null when the principal may do the action somewhere, otherwise what it hears. Says nothing about any object. */
export function refusalOf(action: Action, principal: Principal): Fault | null {
  const rule: Rule = POLICY[action];
  if (rule.who === "anyone" || rule.who === "visitor") return null;
  if (principal.kind === "anonymous") return UNAUTHENTICATED;
  return rule.scopes.includes(principal.scope) && hasRight(rule.who, principal) ? null : denial(action);
}

/** The same for an object whose place is known. */
export function refusalAt(action: Action, principal: Principal, place: ResourceScope | RecordScope): Fault | null {
  const { who, scopes }: Rule = POLICY[action];
  // What a key's scope does not reach, it sees as if it had no credential: that is all a visitor's rule lets through here.
  const caller = principal.kind === "user" && scopes.includes(principal.scope) ? principal : null;
  if (caller?.is_root) return null;
  if (who === "tenant") return caller?.tenant_id === place.tenant_id ? null : denial(action);
  if (who === "operator") {
    return caller !== null && (operates(caller) || caller.tenant_id === place.tenant_id) ? null : denial(action);
  }
  const administers = caller !== null && caller.silo_id !== null && caller.silo_id === place.silo_id;
  if (who === "silo") return administers ? null : denial(action);
  if (who === "silo_tenant") return administers || caller?.tenant_id === place.tenant_id ? null : denial(action);
  if (who !== "visitor" && who !== "viewer" && who !== "owner") return null;
  if (!sees(caller, place)) return NOT_FOUND;
  return who !== "owner" || (caller !== null && owns(caller, place)) ? null : denial(action);
}

/** Document 4, 1.11: a fleet operator, whose instances are everybody's. */
export function operates(principal: Principal): boolean {
  return principal.kind === "user" && (principal.is_root || principal.capabilities.includes("system-operate"));
}

function denial(action: Action): Fault {
  if (POLICY[action].denied === "hide") return NOT_FOUND;
  return fault("forbidden", `the action ${actionId(action)} is not permitted with this credential`, {
    error_code: "Forbidden",
  });
}

function hasRight(who: Exclude<Rule["who"], "anyone" | "visitor">, principal: KnownPrincipal): boolean {
  switch (who) {
    case "user":
      return true;
    case "root":
      return principal.is_root;
    case "node":
      return principal.bound_cn !== null;
    case "silo":
      return principal.is_root || principal.silo_id !== null;
    case "tenant":
    case "silo_tenant":
      return principal.is_root || principal.tenant_id !== null;
    case "operator":
      return operates(principal) || principal.tenant_id !== null;
    case "viewer":
    case "owner":
      // What stands where they ask decides.
      return true;
    default:
      return principal.is_root || principal.capabilities.includes(who satisfies Capability);
  }
}

/** The action as the audit chain names it: cn_approve. */
export function actionId(action: Action): string {
  return action.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}

/** How those are refused who may not do an action: 403 where they hear of it, 404 where they do not. */
export function refusalsOf(action: Action): (403 | 404)[] {
  const { who, denied }: Rule = POLICY[action];
  switch (who) {
    case "anyone":
      return [];
    case "visitor":
    case "viewer":
    case "owner":
      return denied === "hide" ? [404] : [403, 404];
    default:
      return denied === "hide" ? [404] : [403];
  }
}

/** The rights of an action in words, for the API's own description. */
export function rightsOf(action: Action): string {
  const rule: Rule = POLICY[action];
  const rest = `key scopes: ${rule.scopes.join(", ")}${rule.denied === "hide" ? "; others read 404" : ""}`;
  switch (rule.who) {
    case "anyone":
      return "anyone, also without a credential";
    case "user":
      return `any user; ${rest}`;
    case "root":
      return `root operator; ${rest}`;
    case "node":
      return "the key of a node, for that node only";
    case "silo":
      return `members of the silo's tenants with the capability silo-admin and root operators; ${rest}`;
    case "silo_tenant":
      return `members of the tenant, members of the silo's other tenants with the capability silo-admin and root ` +
        `operators; ${rest}`;
    case "tenant":
      return `members of the tenant and root operators; ${rest}`;
    case "operator":
      return `members of the tenant, users with the capability system-operate and root operators; ${rest}`;
    case "visitor":
      return `anyone where the scope is public; otherwise those it is for and root operators; ${rest}`;
    case "viewer":
      return `those the scope is for and root operators; ${rest}`;
    case "owner":
      return `members of the tenant (of a silo's: those with the capability silo-admin) and root operators; ${rest}`;
    default:
      return `users with the capability ${rule.who} and root operators; ${rest}`;
  }
}
