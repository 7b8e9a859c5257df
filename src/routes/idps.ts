// Defines the routes with which root operators manage the identity providers of tenants (docs/tenancy.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findIdp } from "../../actors/idp/reads.ts";
import { isIssuerUrl, ISSUER_URL_RULE } from "../auth/issuer-url.ts";
import { atTenant } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { badRequest, conflict, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Idp, IdpBody } from "../contract/identity.ts";
import { faultResponse } from "../http/fault-status.ts";
import { isLiterallyPrivate, PUBLIC_RULE, readRanges } from "../lib/net/public-address.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "identity_issuer" | "mint" | "settings">;

const tags = ["Tenancy"];
const path = "/v1/tenants/{tenant_id}/idp";
const params = z.object({ tenant_id: Uuid });

export function idpRoutes(app: App, deps: Deps): void {
  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show the identity provider of a tenant",
    ...rights(deps, "TenantIdpGet", atTenant),
    request: { params },
    responses: answers(Idp, "The identity provider, without its secret"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findIdp(deps.byKey, c.req.valid("param").tenant_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const setRoute = createRoute({
    method: "post",
    path,
    tags,
    summary: "Set or replace the identity provider of a tenant",
    description:
      "From now on the server accepts tokens of the issuer that are signed with RS256, ES256 or EdDSA and are for " +
      "the audience or the client. The users named in the tokens are members of the tenant. The first token makes " +
      "the server read the OpenID discovery of the issuer, without redirects, from a public address or from a " +
      "network in the setting `fetch.allowed_private`. 400 if the host of `issuer_url` is a private " +
      "address outside these networks.",
    ...rights(deps, "TenantIdpSet", atTenant),
    request: { params, body: jsonBody(IdpBody) },
    responses: answersCreated(Idp, "The identity provider, without its secret"),
  });
  app.openapi(setRoute, async (c) => {
    const { tenant_id } = c.req.valid("param");
    const { issuer_url, client_id, client_secret, audience } = c.req.valid("json");
    if (!isIssuerUrl(issuer_url)) return faultResponse(c, badRequest(`issuer_url: ${ISSUER_URL_RULE}`));
    const allowed = readRanges(await deps.settings.allowedPrivate());
    if (isLiterallyPrivate(new URL(issuer_url), allowed)) {
      return faultResponse(c, badRequest(`issuer_url: ${PUBLIC_RULE}`));
    }
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    if (issuer_url === deps.identity_issuer) return faultResponse(c, TAKEN);
    const outcome = await deps.send(c, { kind: "idp", id: tenant_id }, {
      type: "set",
      tenant_id,
      issuer_url,
      client_id,
      client_secret: deps.mint.sealIdpSecret(tenant_id, client_secret),
      audience: audience ?? client_id,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const unsetRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Remove the identity provider of a tenant and reject its tokens from now on",
    description: "The users of the identity provider and their API keys stay.",
    ...rights(deps, "TenantIdpDelete", atTenant),
    request: { params },
    responses: answersNothing("Removed"),
  });
  app.openapi(unsetRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "idp", id: c.req.valid("param").tenant_id }, { type: "unset" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

const TAKEN = conflict("this issuer is the identity service of the site");
