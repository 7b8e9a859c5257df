// Defines the schemas of the hierarchy: silos hold tenants, tenants hold projects; tenants and projects have quotas
// (docs/tenancy.md).
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { Labels, LabelsPatch, NewLabels } from "./labels.ts";
import { DESCRIPTION_CHARS_MAX, QUOTA_LIMIT_MAX } from "./limits.ts";

/**
 * A resource name. The actors check the rule for names. The schema does not, because a violation must get a 409, and a
 * schema would cause a 400.
 */
export const ResourceName = z.string().describe(
  "1 to 63 bytes; no / or \\, no control or invisible characters, no characters that change the direction of text, no " +
    "white space at either end; otherwise 409",
);
/** A description: free text. The limit counts characters. */
export const Description = z.string().max(DESCRIPTION_CHARS_MAX);

/** A silo, the top level of the hierarchy. */
export const Silo = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  default_tenant_id: z.string(),
  created_at: Timestamp,
});
export type Silo = z.infer<typeof Silo>;

/** A tenant. Its users, keys and projects are separate from other tenants. */
export const Tenant = z.object({
  id: z.string(),
  silo_id: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: Timestamp,
});
export type Tenant = z.infer<typeof Tenant>;

/** A project: the container of instances and networks, with a quota. */
export const Project = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  created_at: Timestamp,
});
export type Project = z.infer<typeof Project>;

/** The body that creates a silo or a tenant. */
export const NamedBody = z.strictObject({ name: ResourceName, description: withDefault(Description, "") });
/** The body that creates a project. */
export const ProjectBody = NamedBody.extend({ labels: withDefault(NewLabels, {}) });
export type ProjectBody = z.infer<typeof ProjectBody>;

/** The body that renames or describes a record. Missing fields stay unchanged. */
export const NamedPatch = z.strictObject({ name: ResourceName.nullish(), description: Description.nullish() });
export type NamedPatch = z.infer<typeof NamedPatch>;
/** The body that renames, describes or labels a record. */
export const LabeledPatch = NamedPatch.extend({ labels: LabelsPatch.nullish() });
export type LabeledPatch = z.infer<typeof LabeledPatch>;

const amount = z.number().int().min(0).max(QUOTA_LIMIT_MAX);

/** The body that sets the limits of a tenant or a project. All four limits are required. */
export const QuotaBody = z.strictObject({
  cpu_limit: amount.describe(`vCPUs. ${QUOTA_LIMIT_MAX}, the greatest value of each limit, limits nothing`),
  memory_bytes: amount,
  disk_bytes: amount,
  instance_limit: amount,
});
export type QuotaBody = z.infer<typeof QuotaBody>;

/** The limits of a tenant or a project. Null means unlimited. */
export type Limits = { readonly [Limit in keyof QuotaBody]: number | null };

/**
 * The limits of tenants and projects without a quota: the settings quota.tenant_default.* and quota.project_default.*.
 */
export type QuotaDefaults = { readonly tenant: Limits; readonly project: Limits };

const usedBytes = z.number().int().describe(`${Number.MAX_SAFE_INTEGER} if the sum is this number or more`);

/** The resources in use. */
export const Usage = z.object({
  cpu: z.number().int(),
  memory_bytes: usedBytes,
  disk_bytes: usedBytes,
  instances: z.number().int(),
});
export type Usage = z.infer<typeof Usage>;

/** The limits of a project and its usage; `cpu_limit` is in vCPUs. */
export const Quota = z.object({
  tenant_id: z.string(),
  project_id: z.string(),
  cpu_limit: z.number().int(),
  memory_bytes: z.number().int(),
  disk_bytes: z.number().int(),
  instance_limit: z.number().int(),
  used: Usage,
  updated_at: Timestamp,
});
export type Quota = z.infer<typeof Quota>;

/** The limits of a tenant; `used` is the sum over its projects. */
export const TenantQuota = Quota.omit({ project_id: true });
export type TenantQuota = z.infer<typeof TenantQuota>;

const limit = z.number().int().nullable();

/** The usage, and the limits in force: the limits of the quota or, without a quota, the cluster's defaults. */
export const UsageView = Usage.extend({
  limits: z.object({ cpu_limit: limit, memory_bytes: limit, disk_bytes: limit, instance_limit: limit })
    .describe("Null: unlimited"),
});
export type UsageView = z.infer<typeof UsageView>;

const UNLIMITED: Limits = { cpu_limit: null, memory_bytes: null, disk_bytes: null, instance_limit: null };
/** The defaults of a site that has not set any defaults. */
export const NO_QUOTA_DEFAULTS: QuotaDefaults = { tenant: UNLIMITED, project: UNLIMITED };
