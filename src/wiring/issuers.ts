// Builds the server's parts for external token issuers. These parts check the tokens of the issuers, and sign in the
// issuers' users to the web console.
import type { createEngine } from "../../actors/engine/engine.ts";
import { createIssuerKeys } from "../auth/issuer.ts";
import { createIssuerCredential } from "../auth/issuer-credential.ts";
import type { IssuerWeb } from "../auth/issuer-document.ts";
import type { Mint } from "../auth/mint.ts";
import { createOidcClients } from "../auth/oidc-client.ts";
import type { Config } from "../config.ts";
import type { Db } from "../db/pool.ts";
import type { DocumentFetch } from "../outbound/document.ts";
import { createOidcSignIn } from "../services/oidc-sign-in.ts";
import type { Settings } from "../services/settings.ts";
import { createFederation } from "./federation.ts";

type IssuerPorts = {
  readonly db: Db;
  readonly engine: Pick<ReturnType<typeof createEngine>, "send">;
  readonly mint: Mint;
  readonly config: Pick<Config, "identity" | "tls">;
  readonly settings: Pick<Settings, "allowedPrivate">;
  readonly fetch: DocumentFetch;
  readonly report: (message: string, error: unknown) => void;
};

export function createIssuers({ db, engine, mint, config, settings, fetch, report }: IssuerPorts) {
  const { identity } = config;
  const web: IssuerWeb = { fetch, allowedPrivate: settings.allowedPrivate, identity };
  const federate = createFederation({ engine, mint });
  const issuers = createIssuerCredential({ db, keys: createIssuerKeys(web), identity, federate });
  const clients = createOidcClients(web);
  const tls = config.tls !== null;
  const oidc = createOidcSignIn({ kysely: db.kysely, mint, clients, issuers, identity, tls, report });
  return { issuers, oidc };
}
