// Decides from the policy whether a caller may perform an action on an object, and builds the refusal if the caller may
// not.
import type { Capability } from "../contract/enums.ts";
import { type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import type { RecordScope, ResourceScope } from "./resource-scope.ts";
import { type Action, POLICY } from "./policy.ts";
import type { Rule } from "./policy-rule.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";
import { owns, sees } from "./visibility.ts";

/**
 * The refusal of a missing, malformed, expired, revoked or unknown credential. It is the same for all of them, so that
 * it reveals nothing about a key.
 */
export const UNAUTHENTICATED: Fault = fault(
  "unauthenticated",
  "the API key or token is missing, not recognized, expired or revoked",
  {
    error_code: "Unauthenticated",
  },
);

/**
 * The refusal of a login. An unknown user and a wrong password get the same text, which therefore reveals no user name.
 */
export const WRONG_LOGIN: Fault = { ...UNAUTHENTICATED, message: "wrong user name or password" };

/** Returns null if the principal's permissions include the action, or else the refusal. Does not look at any object. */
export function refusalOf(action: Action, principal: Principal): Fault | null {
  const rule: Rule = POLICY[action];
  if (rule.who === "anyone" || rule.who === "visitor") return null;
  if (principal.kind === "anonymous") return UNAUTHENTICATED;
  const isPermitted = hasRight(rule.who, principal) || (rule.observed === true && observes(principal));
  return rule.scopes.includes(principal.scope) && isPermitted ? null : denial(action);
}

/**
 * Returns null if the principal may perform the action on the object with this scope, or else the refusal. Call it only
 * after refusalOf returned null.
 */
export function refusalAt(action: Action, principal: Principal, scope: ResourceScope | RecordScope): Fault | null {
  const { who, scopes, observed }: Rule = POLICY[action];
  // A key whose scope does not include the action is treated as anonymous. Such a key gets here only for the rule
  // `visitor`, because refusalOf refuses it for the other rules.
  const caller = principal.kind === "user" && scopes.includes(principal.scope) ? principal : null;
  if (caller?.is_root) return null;
  if (observed === true && caller !== null && observes(caller)) return null;
  if (who === "tenant") return caller?.tenant_id === scope.tenant_id ? null : denial(action);
  if (who === "operator") {
    return caller !== null && (operates(caller) || caller.tenant_id === scope.tenant_id) ? null : denial(action);
  }
  const administers = caller !== null && caller.silo_id !== null && caller.silo_id === scope.silo_id;
  if (who === "silo") return administers ? null : denial(action);
  if (who === "silo_tenant") return administers || caller?.tenant_id === scope.tenant_id ? null : denial(action);
  if (who !== "visitor" && who !== "viewer" && who !== "owner") return null;
  if (!sees(caller, scope)) return NOT_FOUND;
  return who !== "owner" || (caller !== null && owns(caller, scope)) ? null : denial(action);
}

/**
 * Returns the names of the actions that the caller may perform, without the actions of the rule `anyone`. For some of
 * these actions, the server also checks the object.
 */
export function permittedActions(caller: KnownPrincipal): string[] {
  return (Object.keys(POLICY) as Action[])
    .filter((action) => POLICY[action].who !== "anyone" && refusalOf(action, caller) === null).map(actionId);
}

/** Returns whether the caller is an operator who may act on the instances of any tenant. */
export function operates(principal: Principal): boolean {
  return principal.kind === "user" && (principal.is_root || principal.capabilities.includes("system-operate"));
}

/** Returns whether the caller may see the whole fleet: root operators and users with system-read. */
export function observes(principal: Principal): boolean {
  return principal.kind === "user" && (principal.is_root || principal.capabilities.includes("system-read"));
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
      // refusalAt decides by the scope of the object.
      return true;
    default:
      return principal.is_root || principal.capabilities.includes(who satisfies Capability);
  }
}

/** Returns the name of the action in the audit chain, for example cn_approve for CnApprove. */
export function actionId(action: Action): string {
  return action.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}

/**
 * Returns the statuses that a caller without permission can get: 403, 404 (the action or the object is hidden), or
 * both. The list is empty for the rule `anyone`.
 */
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

/** Returns a text for the API description, which lists the callers who may perform an action. */
export function rightsOf(action: Action): string {
  const rule: Rule = POLICY[action];
  const others = rule.denied === "hide" ? "; others get 404" : "";
  const observers = rule.observed === true ? "users with the capability system-read; " : "";
  const rest = `${observers}key scopes: ${rule.scopes.join(", ")}${others}`;
  switch (rule.who) {
    case "anyone":
      return "anyone, even without a credential";
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
      return `anyone when the scope is public; otherwise members of the scope and root operators; ${rest}`;
    case "viewer":
      return `members of the scope and root operators; ${rest}`;
    case "owner":
      return `members of the tenant (for a silo's records: those with the capability silo-admin) and root operators; ${rest}`;
    default:
      return `users with the capability ${rule.who} and root operators; ${rest}`;
  }
}
