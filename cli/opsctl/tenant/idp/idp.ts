// Defines how commands find and print the identity provider of a tenant: an issuer of OpenID Connect (docs/tenancy.md).
import type { Idp } from "../../../../src/contract/identity.ts";
import type { Io } from "../../../internal/io.ts";
import { plainText } from "../../../internal/plain-text.ts";
import type { Changing, Showing } from "../../record/kind.ts";
import { resolveTenant } from "../tenant.ts";

export async function idpPath(io: Io, tenant: string): Promise<string> {
  return `/v1/tenants/${await resolveTenant(io, tenant)}/idp`;
}

export const IDP: Showing<Idp> & Changing<Idp> = {
  one: "identity provider",
  argument: ["<tenant>", "name, SILO/NAME or UUID of the tenant"],
  sample: "acme/web",
  summaries: {
    show: "Show the identity provider of a tenant",
    delete: "Remove the identity provider of a tenant; the server then rejects the provider's tokens",
  },
  find: async (io, tenant) => await io.get<Idp>(await idpPath(io, tenant)),
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
