// Begins the create of an object with a public address: a floating IP or a NAT gateway.
import type { Addressed } from "../../actors/record/address-source.ts";
import { scopeOf } from "../auth/authorize.ts";
import { type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { sourcesOf, type Wanted } from "../services/address-sources.ts";
import type { Ctx, IdempotencyClaim, RouteDeps } from "./deps.ts";

type Deps = Pick<RouteDeps, "idempotency" | "kysely" | "mint">;

/** The message id of the request, and the fields of the message that do not depend on the kind of the object. */
type NewAddress = {
  readonly idempotency: IdempotencyClaim;
  readonly fields: Addressed & {
    readonly id: string;
    readonly tenant_id: string;
    readonly project_id: string;
    readonly operation_id: string;
  };
};

/**
 * Returns the message id of the request, and the common fields of its create message. Returns `one_source` if there is
 * not exactly one source. Also returns a Fault if the request belongs to no project, or if its Idempotency-Key is
 * refused.
 */
export async function newAddress(
  c: Ctx,
  deps: Deps,
  { sources: [wanted, ...others], one_source }: { readonly sources: readonly Wanted[]; readonly one_source: Fault },
): Promise<NewAddress | Fault> {
  if (wanted === undefined || others.length > 0) return one_source;
  const { silo_id, tenant_id, project_id } = scopeOf(c);
  if (tenant_id === null || project_id === null) return NOT_FOUND;
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return idempotency;
  const { id } = idempotency;
  const principal = c.get("principal");
  const seesTenant = (of: string) => of === tenant_id || (principal.kind === "user" && principal.is_root);
  const fields = {
    id,
    silo_id,
    tenant_id,
    project_id,
    ...await sourcesOf(deps.kysely, wanted, { silo_id, seesTenant }),
    token: deps.mint.idFrom(id, "address"),
    operation_id: deps.mint.idFrom(id, "operation"),
  };
  return { idempotency, fields };
}
