import type { Tenant } from "../../../src/contract/tenancy.ts";
import type { AnyCommand } from "../../framework.ts";
import { list, remove, show, update } from "../record/verbs.ts";
import { create } from "./create.ts";
import { idpGroup } from "./idp/verbs.ts";
import { TENANT, type TenantInSilo } from "./tenant.ts";

export function tenantVerbs(): AnyCommand[] {
  return [
    list(TENANT),
    show(TENANT),
    create(),
    update<TenantInSilo, Tenant>(TENANT, { sample: "--name shop", changed: (row, tenant) => ({ ...row, tenant }) }),
    remove(TENANT),
    idpGroup(),
  ];
}
