// Who may do what: one table from action to rule. The scope of a key is checked before the rights of its owner, so a
// scoped key of root is still scoped. Documents 2 and 4 (2.5 to 2.8) name the actions.
import { type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import type { KeyScope } from "../contract/enums.ts";
import type { Principal } from "./principal.ts";

type Rule = {
  /** anyone: no credential needed. user: any user. root: the root operator. node: the key bound to a node. */
  readonly who: "anyone" | "user" | "root" | "node";
  /** The key scopes that reach the rule. */
  readonly scopes: readonly KeyScope[];
  /** What a known caller without the right hears: 403 naming the action, or 404 as if there were nothing. */
  readonly denied: "forbid" | "hide";
};

const FULL: readonly KeyScope[] = ["full"];
const READ: readonly KeyScope[] = ["full", "read_only"];
const AUDIT: readonly KeyScope[] = ["full", "read_only", "audit_only"];
const ALL: readonly KeyScope[] = ["full", "read_only", "audit_only", "agent", "booter", "ur_enroll"];
const AGENT: readonly KeyScope[] = ["agent"];
/** What a booter does; a full key of a root operator may do it too (document 4, Fixed here, Booter credential). */
const BOOTER: readonly KeyScope[] = ["full", "booter"];
const ANNOUNCE: readonly KeyScope[] = ["full", "booter", "ur_enroll"];
const BOOT_READ: readonly KeyScope[] = ["full", "read_only", "booter"];

export const POLICY = {
  Health: { who: "anyone", scopes: ALL, denied: "forbid" },
  ApiDescription: { who: "anyone", scopes: ALL, denied: "forbid" },
  ImageIndex: { who: "anyone", scopes: ALL, denied: "forbid" },
  AgentRegister: { who: "anyone", scopes: ALL, denied: "forbid" },
  AgentRegisterStatus: { who: "anyone", scopes: ALL, denied: "forbid" },
  LabClock: { who: "anyone", scopes: ALL, denied: "forbid" },

  Whoami: { who: "user", scopes: ALL, denied: "forbid" },
  ApiKeyList: { who: "user", scopes: READ, denied: "forbid" },
  CreateApiKey: { who: "user", scopes: FULL, denied: "forbid" },
  DeleteApiKey: { who: "user", scopes: FULL, denied: "forbid" },

  // A capability: whoever lacks it does not learn that there is anything (document 4, 2.6).
  SystemRead: { who: "root", scopes: READ, denied: "hide" },
  MetricsRead: { who: "root", scopes: READ, denied: "forbid" },

  CnApprove: { who: "root", scopes: FULL, denied: "forbid" },
  CnDisable: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetRole: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetReservoir: { who: "root", scopes: FULL, denied: "forbid" },
  CnTraitsGet: { who: "root", scopes: READ, denied: "forbid" },
  CnTraitsSet: { who: "root", scopes: FULL, denied: "forbid" },
  CnRootPassword: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetupPropose: { who: "root", scopes: READ, denied: "forbid" },
  // No scoped key can hold it (document 2, Authentication).
  CnSetupApprove: { who: "root", scopes: FULL, denied: "forbid" },
  CnFactoryReset: { who: "root", scopes: FULL, denied: "forbid" },
  CnRemove: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootList: { who: "root", scopes: BOOT_READ, denied: "forbid" },
  CnBootAuthorize: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootReactivate: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootRescue: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootAssign: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootDecommission: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootPolicyGet: { who: "root", scopes: BOOT_READ, denied: "forbid" },
  CnBootPolicySet: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootRosterGet: { who: "root", scopes: BOOT_READ, denied: "forbid" },
  CnBootRosterSet: { who: "root", scopes: FULL, denied: "forbid" },
  PlatformImageList: { who: "root", scopes: BOOT_READ, denied: "forbid" },
  PlatformImageStage: { who: "root", scopes: BOOTER, denied: "forbid" },
  BooterSeen: { who: "root", scopes: BOOTER, denied: "forbid" },
  CnAnnounce: { who: "root", scopes: ANNOUNCE, denied: "forbid" },
  BooterBundle: { who: "root", scopes: BOOTER, denied: "forbid" },
  BooterReport: { who: "root", scopes: BOOTER, denied: "forbid" },
  AutoApproveGet: { who: "root", scopes: READ, denied: "forbid" },
  AutoApproveSet: { who: "root", scopes: FULL, denied: "forbid" },
  AutoApproveClear: { who: "root", scopes: FULL, denied: "forbid" },
  ConfigGet: { who: "root", scopes: READ, denied: "forbid" },
  ConfigSet: { who: "root", scopes: FULL, denied: "forbid" },
  ConfigReset: { who: "root", scopes: FULL, denied: "forbid" },
  AuditList: { who: "root", scopes: AUDIT, denied: "forbid" },
  AuditVerify: { who: "root", scopes: AUDIT, denied: "forbid" },
  OperationsList: { who: "root", scopes: READ, denied: "forbid" },
  OperationsAbandon: { who: "root", scopes: FULL, denied: "forbid" },

  AgentHeartbeat: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentStatus: { who: "node", scopes: AGENT, denied: "forbid" },
  CnCapacityReport: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentConfig: { who: "node", scopes: AGENT, denied: "forbid" },
} as const satisfies Readonly<Record<string, Rule>>;

export type Action = keyof typeof POLICY;

/** One body for missing, malformed, expired, revoked and unknown credentials (document 4, Fixed here). */
export const UNAUTHENTICATED: Fault = fault("unauthenticated", "a valid credential is required", {
  error_code: "Unauthenticated",
});

/** Null when the principal may do the action, otherwise what it hears. */
export function refusalOf(action: Action, principal: Principal): Fault | null {
  const rule: Rule = POLICY[action];
  if (rule.who === "anyone") return null;
  if (principal.kind === "anonymous") return UNAUTHENTICATED;
  if (rule.scopes.includes(principal.scope) && hasRight(rule.who, principal)) return null;
  if (rule.denied === "hide") return NOT_FOUND;
  return fault("forbidden", `the action ${actionId(action)} is not permitted with this credential`, {
    error_code: "Forbidden",
  });
}

function hasRight(who: Exclude<Rule["who"], "anyone">, principal: Exclude<Principal, { kind: "anonymous" }>): boolean {
  switch (who) {
    case "user":
      return true;
    case "root":
      return principal.is_root;
    case "node":
      return principal.bound_cn !== null;
  }
}

/** The action as the audit chain names it: cn_approve. */
export function actionId(action: Action): string {
  return action.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}

/** The rights of an action in words, for the API's own description. */
export function rightsOf(action: Action): string {
  const rule: Rule = POLICY[action];
  switch (rule.who) {
    case "anyone":
      return "anyone, also without a credential";
    case "user":
      return `any user; key scopes: ${rule.scopes.join(", ")}`;
    case "root":
      return `root operator; key scopes: ${rule.scopes.join(", ")}${rule.denied === "hide" ? "; others read 404" : ""}`;
    case "node":
      return "the key of a node, for that node only";
  }
}
