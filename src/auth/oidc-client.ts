// Signs in users at an OpenID provider by the authorization code flow with PKCE (OpenID Connect Core, 3.1; RFC 7636;
// RFC 9207).
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { z } from "zod";
import {
  fetchFromIssuer,
  type Issuer,
  IssuerUnavailable,
  type IssuerWeb,
  ownUrls,
  readDiscovery,
  requireFollowable,
} from "./issuer-document.ts";

export type OidcClient = Issuer & { readonly client_id: string; readonly client_secret: string };

/** The values of one sign-in that the issuer and the server must agree on. */
export type OidcAttempt = { readonly state: string; readonly nonce: string; readonly verifier: string };

const Provider = z.object({
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  // The default, as in OpenID Connect Discovery, 3.
  token_endpoint_auth_methods_supported: z.array(z.string()).default(["client_secret_basic"]),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
});
type Provider = z.infer<typeof Provider>;

const TokenAnswer = z.object({ id_token: z.string() });
const TokenRefusal = z.object({ error: z.string() });

export type OidcClients = ReturnType<typeof createOidcClients>;

export function createOidcClients(web: IssuerWeb) {
  /** Returns the address at which the user signs in. Throws IssuerUnavailable. */
  async function authorizationUrl(client: OidcClient, redirect_uri: string, attempt: OidcAttempt): Promise<string> {
    const url = new URL((await providerOf(client)).authorization_endpoint);
    const parameters = {
      response_type: "code",
      client_id: client.client_id,
      redirect_uri,
      scope: "openid",
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: createHash("sha256").update(attempt.verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Exchanges a code for an ID token, which is not checked yet. Returns null if the issuer refuses the code, if `iss`
   * names another issuer, or if the issuer announces `iss` but does not send it. Throws IssuerUnavailable.
   */
  async function idTokenOf(
    client: OidcClient,
    given: {
      readonly code: string;
      readonly iss: string | undefined;
      readonly redirect_uri: string;
      readonly verifier: string;
    },
  ): Promise<string | null> {
    const provider = await providerOf(client);
    const named = given.iss ?? (provider.authorization_response_iss_parameter_supported ? null : client.issuer);
    if (named !== client.issuer) return null;
    const { code, redirect_uri, verifier } = given;
    const form = { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier };
    return await attempted(client, () => exchange(provider, client, form));
  }

  async function exchange(provider: Provider, client: OidcClient, form: Record<string, string>) {
    const { token_endpoint: url } = provider;
    const { status, text } = await fetchFromIssuer(web, {
      url,
      named: ownUrls(web, client),
      form: authenticated(provider, client, form),
    });
    const json: unknown = JSON.parse(text);
    if (status === 200) return TokenAnswer.parse(json).id_token;
    const refusal = TokenRefusal.safeParse(json).data?.error;
    if (refusal === "invalid_grant") return null;
    throw new Error(`${url} answered ${status}${refusal === undefined ? "" : ` ${refusal}`}`);
  }

  async function providerOf(client: OidcClient): Promise<Provider> {
    return await attempted(client, async () => {
      const provider = Provider.parse(await readDiscovery(web, client));
      requireFollowable(client, "authorization_endpoint", provider.authorization_endpoint);
      requireFollowable(client, "token_endpoint", provider.token_endpoint);
      return provider;
    });
  }

  return { authorizationUrl, idTokenOf };
}

async function attempted<T>({ issuer }: Issuer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new IssuerUnavailable(`${issuer}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/**
 * Adds the client's authentication to the request: in the body if the issuer supports client_secret_post but not
 * client_secret_basic, or else in the header.
 */
function authenticated(provider: Provider, { client_id, client_secret }: OidcClient, form: Record<string, string>) {
  const methods = provider.token_endpoint_auth_methods_supported;
  if (!methods.includes("client_secret_basic") && methods.includes("client_secret_post")) {
    return { authorization: null, body: new URLSearchParams({ ...form, client_id, client_secret }).toString() };
  }
  const pair = [client_id, client_secret].map(formEncoded).join(":");
  return {
    authorization: `Basic ${Buffer.from(pair).toString("base64")}`,
    body: new URLSearchParams(form).toString(),
  };
}

/** Encodes a text like a value of a form (RFC 6749, 2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
