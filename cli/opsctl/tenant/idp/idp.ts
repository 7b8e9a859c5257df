// Defines how commands find and print the identity provider of a tenant: an issuer of OpenID Connect (docs/tenancy.md).
import type { Idp } from "../../../../src/contract/identity.ts";
import { EXIT } from "../../../internal/exit-code.ts";
import { Failure, reworded } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { plainText } from "../../../internal/plain-text.ts";
import type { Changing, Showing } from "../../record/kind.ts";
import { listTenants, resolveTenant } from "../tenant.ts";

export async function idpPath(io: Io, tenant: string): Promise<string> {
  return `/v1/tenants/${await resolveTenant(io, tenant)}/idp`;
}

/** Returns the identity provider of a tenant. A 404 means no provider or no such tenant. */
async function findIdp(io: Io, name: string): Promise<Idp> {
  const id = await resolveTenant(io, name);
  try {
    return await io.get<Idp>(`/v1/tenants/${id}/idp`);
  } catch (error) {
    const is_missing = error instanceof Failure && error.exit_code === EXIT.not_found;
    const tenants = is_missing ? await listTenants(io, undefined).catch(() => []) : [];
    if (!is_missing || !tenants.some(({ tenant }) => tenant.id === id)) throw error;
    const set = `opsctl tenant idp set ${name} --issuer-url URL --client-id ID`;
    throw reworded(error, `tenant ${plainText(name)} has no identity provider; to set one, run: ${plainText(set)}`);
  }
}

export const IDP: Showing<Idp> & Changing<Idp> = {
  one: "identity provider",
  argument: ["<tenant>", "name, SILO/NAME or UUID of the tenant"],
  sample: "acme/web",
  summaries: {
    show: "Show the identity provider of a tenant",
    delete: "Remove the identity provider of a tenant; the server then rejects the provider's tokens",
  },
  find: findIdp,
  lines: (idp) => [
    ["tenant_id", idp.tenant_id],
    ["issuer_url", idp.issuer_url],
    ["client_id", idp.client_id],
    ["audience", idp.audience],
    ["created_at", idp.created_at],
  ],
  record: (idp) => idp,
  path: ({ tenant_id }) => `/v1/tenants/${tenant_id}/idp`,
  title: ({ issuer_url, tenant_id }) => `${plainText(issuer_url)} of tenant ${plainText(tenant_id)}`,
};
