// Defines how commands list and delete API keys: the caller's own keys, or the keys of one tenant.
import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import { resolveKeyId } from "../../internal/api-key-id.ts";
import { API_KEY_COLUMNS } from "../../internal/api-key-columns.ts";
import { oneOf } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { ID_COLUMN } from "../../internal/table.ts";
import { plainText } from "../../internal/plain-text.ts";
import type { Changing, Listing } from "../record/kind.ts";
import { resolveTenant } from "../tenant/tenant.ts";

export const API_KEYS_PATH = "/v1/auth/api-keys";
export const OF_TENANT_OPTION = [
  "--tenant <tenant>",
  "use this tenant's keys instead of your own: name, SILO/NAME or UUID",
] as const;

const OF_NODES = oneOf("--of-nodes <true-or-false>", "true: only the keys of nodes; false: only your other keys", [
  "true",
  "false",
]);

export async function keysPath(io: Io, tenant: string | undefined): Promise<string> {
  return tenant === undefined ? API_KEYS_PATH : `/v1/tenants/${await resolveTenant(io, tenant)}/api-keys`;
}

const PARENT = { name: "tenant", list: OF_TENANT_OPTION, find: OF_TENANT_OPTION, sample: "--tenant web" };

export const API_KEYS: Listing<ApiKeyView> = {
  many: "API keys",
  summaries: { list: "List your API keys, or the API keys of a tenant" },
  parent: PARENT,
  selectors: (made) => made.addOption(OF_NODES.conflicts("tenant")),
  columns: [...API_KEY_COLUMNS, ["TENANT", ({ tenant_id }) => tenant_id, ID_COLUMN]],
  all: async (io, tenant, { options }) =>
    await io.get<ApiKeyView[]>(await keysPath(io, tenant), { of_nodes: (options as { ofNodes?: string }).ofNodes }),
  is_array: true,
  record: (key) => key,
};

/** The key that a command line names: its id, and the path of its list. A complete id is not looked up. */
type NamedKey = { readonly id: string; readonly path: string };

export const API_KEY: Changing<NamedKey> = {
  one: "API key",
  argument: ["<key-id>", "UUID or unique UUID prefix (opsctl api-key list)"],
  sample: "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012",
  summaries: { delete: "Delete an API key; it stops working at once" },
  parent: PARENT,
  find: async (io, text, tenant) => {
    const path = await keysPath(io, tenant);
    const list = `opsctl api-key list${tenant === undefined ? "" : ` --tenant ${tenant}`}`;
    return { id: await resolveKeyId(io, text, { path, list }), path };
  },
  path: ({ id, path }) => `${path}/${id}`,
  title: ({ id }) => plainText(id),
};
