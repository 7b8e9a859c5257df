// Defines the queries of a tenant's projects and of their usage. Pages of operators and of tenants use them.
import type { Project, UsageView } from "../../src/contract/tenancy.ts";
import { get, getArray } from "../core/client.ts";
import type { Query } from "../core/store.ts";

export function projectsQuery(tenant: string): Query<Project[]> {
  return {
    key: `projects ${tenant}`,
    kinds: ["project"],
    read: (signal) => getArray<Project>(`/v1/tenants/${tenant}/projects`, signal),
  };
}

export function usageQuery(tenant: string, project: string): Query<UsageView> {
  return {
    key: `usage ${tenant} ${project}`,
    kinds: ["instance", "quota", "tenant-quota"],
    read: (signal) => get<UsageView>(`/v1/tenants/${tenant}/projects/${project}/usage`, undefined, signal),
  };
}
