// Fetches the documents of issuers: the discovery document, and the documents whose URLs it contains.
import { z } from "zod";
import { ISSUER_ANSWER_MS, ISSUER_BYTES_MAX } from "../contract/limits.ts";
import type { DocumentFetch, DocumentRequest } from "../outbound/document.ts";
import { mayFollow } from "./issuer-url.ts";

/** The error if the issuer does not answer, or if its answer is invalid. The message is only logged. */
export class IssuerUnavailable extends Error {
  override readonly name = "IssuerUnavailable";
}

export type Issuer = {
  readonly issuer: string;
  /** The URL of the key set; null: the discovery document contains the URL. */
  readonly jwks_url: string | null;
};

/** Access to the documents of issuers. Their URLs are not trusted: tenants and issuers choose them. */
export type IssuerWeb = {
  readonly fetch: DocumentFetch;
  /** Reads the setting `fetch.allowed_private`: the private networks from which documents may be fetched. */
  readonly allowedPrivate: () => Promise<readonly string[]>;
  /** The identity service of the site's configuration. */
  readonly identity: Issuer | null;
};

const Discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
export type Discovery = z.infer<typeof Discovery>;

/** Returns the configured URLs of the identity service, whose origins may be private; [] for another issuer. */
export function ownUrls({ identity }: IssuerWeb, { issuer }: Issuer): readonly string[] {
  return identity?.issuer === issuer ? [issuer, identity.jwks_url ?? issuer] : [];
}

/** Reads the discovery document (OpenID Connect Discovery, 3). Throws an Error if it names another issuer. */
export async function readDiscovery(web: IssuerWeb, of: Issuer): Promise<Discovery> {
  const url = `${of.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const found = Discovery.parse(await fetchJson(web, { url, named: ownUrls(web, of) }));
  if (found.issuer !== of.issuer) throw new Error(`the discovery document at ${url} names another issuer`);
  requireFollowable(of, "jwks_uri", found.jwks_uri);
  return found;
}

/** Throws an Error if the issuer is not allowed to name this URL in its discovery document. */
export function requireFollowable({ issuer }: Issuer, name: string, url: string): void {
  if (mayFollow(issuer, url)) return;
  throw new Error(`the discovery document of ${issuer} names a ${name} that is not allowed`);
}

type Fetched = Pick<DocumentRequest, "url" | "named" | "form">;

/** Fetches a JSON document. Throws an Error for any status but 200. */
export async function fetchJson(web: IssuerWeb, request: Fetched): Promise<unknown> {
  const { status, text } = await fetchFromIssuer(web, request);
  if (status !== 200) throw new Error(`${request.url} answered ${status}`);
  return JSON.parse(text);
}

/** Fetches a document, with the limits for issuers. */
export async function fetchFromIssuer({ fetch, allowedPrivate }: IssuerWeb, request: Fetched) {
  const allowed = await allowedPrivate();
  return await fetch({ ...request, allowed, bytes_max: ISSUER_BYTES_MAX, total_ms: ISSUER_ANSWER_MS });
}
