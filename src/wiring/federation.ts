// Creates records for the users of external token issuers.
import type { createEngine } from "../../actors/engine/engine.ts";
import { IssuerUnavailable } from "../auth/issuer-document.ts";
import type { Federated } from "../auth/issuer-credential.ts";
import type { Mint } from "../auth/mint.ts";

type FederationPorts = { readonly engine: Pick<ReturnType<typeof createEngine>, "send">; readonly mint: Mint };

/**
 * Returns the function that creates a user when the user's first token arrives. The id is derived from the subject, so
 * that concurrent tokens create only one user.
 */
export function createFederation({ engine, mint }: FederationPorts) {
  return async function federate(user: Federated): Promise<string | null> {
    const id = mint.idFrom(JSON.stringify([user.issuer, user.tenant_id, user.subject]), "federated-user");
    const outcome = await engine.send({ kind: "user", id }, { type: "federate", id, ...user });
    if (!outcome.ok && outcome.fault.kind === "unavailable") throw new IssuerUnavailable(outcome.fault.message);
    return outcome.ok ? id : null;
  };
}
