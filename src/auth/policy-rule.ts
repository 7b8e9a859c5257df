// Defines the type of a permission rule. The table of rules is in policy.ts.
import type { Capability, KeyScope } from "../contract/enums.ts";

export type Rule = {
  /**
   * The callers who may perform the action. Root satisfies every rule except node.
   * - anyone: no credential needed
   * - user: every user
   * - root: root operators
   * - node: a key that is bound to a node
   * - tenant: members of the object's tenant
   * - silo: members of any tenant of the object's silo, if they have the capability silo-admin. A silo is one customer,
   *   and its tenants are departments.
   * - silo_tenant: callers that satisfy tenant or silo
   * - viewer: callers who may see the image or SSH key (visibility.ts)
   * - visitor: viewers, and everybody when the scope is public
   * - owner: callers who may see and change the image or SSH key (visibility.ts)
   * - operator: users with system-operate, on objects of any tenant, and members of the object's tenant; the route
   *   limits what each of them may do
   * - the name of a capability: users who have the capability
   */
  readonly who:
    | "anyone"
    | "user"
    | "root"
    | "node"
    | "silo"
    | "silo_tenant"
    | "tenant"
    | "visitor"
    | "viewer"
    | "owner"
    | "operator"
    | Capability;
  /** The key scopes that include the action. */
  readonly scopes: readonly KeyScope[];
  /**
   * How the server refuses an authenticated caller without permission. `forbid`: a 403 that names the action, or a 404
   * if the caller may not see the image or SSH key. `hide`: a 404.
   */
  readonly denied: "forbid" | "hide";
  /** Whether users with system-read may also perform the action, on objects of any tenant. */
  readonly observed?: true;
};
