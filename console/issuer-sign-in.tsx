// Shows the link for a sign-in with an identity provider, and the reason why the last attempt failed. The link of a
// tenant's users names the tenant: /console/?tenant=ID.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Greeting } from "../src/contract/common.ts";
import { get } from "./core/client.ts";

/** The reasons in `?sign_in=` (docs/web-console.md, "Sign-in with an identity provider"). */
const REASONS: Readonly<Record<string, string>> = {
  unknown: "No identity provider is configured here. Ask an operator, or sign in with a password or a key.",
  expired: "The sign-in took longer than 10 minutes, or began in another browser. Start again.",
  denied: "The identity provider refused the sign-in.",
  refused: "The server does not accept the answer of the identity provider. Start again, or ask an operator.",
  unavailable: "The identity provider does not answer correctly. Try again later, or ask an operator to read the log.",
};

export function IssuerSignIn() {
  const query = new URLSearchParams(location.search);
  const tenant = query.get("tenant");
  const reason = REASONS[query.get("sign_in") ?? ""];
  const isOffered = useSignal(tenant !== null);
  useEffect(() => {
    if (tenant === null) get<Greeting>("/").then((site) => (isOffered.value = site.identity_service), () => {});
  }, []);
  const start = new URLSearchParams({ ...(tenant !== null && { tenant }), return: location.pathname });
  return (
    <>
      {reason !== undefined && <p class="notice" role="alert">{reason}</p>}
      {isOffered.value && (
        <p>
          <a href={`/v1/auth/oidc/start?${start}`}>
            Sign in with {tenant === null ? "the site's" : "your tenant's"} identity provider
          </a>
        </p>
      )}
    </>
  );
}
