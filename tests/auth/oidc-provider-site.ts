// Starts an OpenID provider from a certified library, as a tenant or a site could run it. Simulates a browser that
// signs in there. The browser keeps the provider's cookies and follows its redirects. It fills in the provider's own
// login and consent pages.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";

export type ProviderSite = { readonly issuer: string; readonly close: () => Promise<void> };

export const CLIENT = { client_id: "console", client_secret: "a secret: 100% of it & more" };

/** Starts a provider with one client. `claims` are added to the ID tokens of every user. */
export async function openProvider(
  redirect_uri: string,
  given: {
    readonly claims?: Readonly<Record<string, string>>;
    readonly method?: "client_secret_basic" | "client_secret_post";
  } = {},
): Promise<ProviderSite> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { claims = {}, method = "client_secret_basic" } = given;
  const configuration: Configuration = {
    clients: [{ ...CLIENT, redirect_uris: [redirect_uri], token_endpoint_auth_method: method }],
    clientAuthMethods: [method],
    claims: { openid: ["sub", ...Object.keys(claims)] },
    conformIdTokenClaims: false,
    findAccount: (_c: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId, ...claims }) }),
    pkce: { required: () => true },
    cookies: { keys: ["a key of the test's provider"] },
  };
  server.on("request", new Provider(issuer, configuration).callback());
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/**
 * Follows redirects at the provider, signs in as `user` and consents. Returns the first address outside the provider.
 */
export async function signInAt({ issuer }: ProviderSite, location: string, user: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = new URL(location);
  let body: URLSearchParams | undefined;
  while (next.origin === issuer) {
    const answer = await fetch(next, {
      method: body === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      body,
    });
    for (const each of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const text = await answer.text();
    const redirect = answer.headers.get("location");
    body = undefined;
    if (redirect !== null) {
      next = new URL(redirect, next);
      continue;
    }
    const [, action] = /<form[^>]+action="([^"]+)"/.exec(text) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    if (action === undefined || prompt === undefined) throw new Error(`${next}: ${answer.status} ${text}`);
    next = new URL(action, next);
    body = new URLSearchParams(prompt === "login" ? { prompt, login: user, password: "any" } : { prompt });
  }
  return next.href;
}
