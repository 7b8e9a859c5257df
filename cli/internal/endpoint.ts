// Converts the address of a control plane to a canonical form, so that two spellings compare equal.
import { usageFailure } from "./failure.ts";

/**
 * Returns the canonical form. Throws a usage Failure unless `text` is an http or https URL without credentials, query
 * or fragment.
 */
export function parseEndpoint(text: string, source: string): string {
  if (text.trim() === "") {
    throw usageFailure(`${source} is empty; give the control plane's URL, such as https://berth.example.com`);
  }
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw usageFailure(`${source} is not an http or https URL; give one such as https://berth.example.com`);
  }
  if (url.username !== "" || url.password !== "") {
    throw usageFailure(`${source} must not contain a user name or password`);
  }
  if (url.search !== "" || url.hash !== "") throw usageFailure(`${source} must not contain a query or a fragment`);
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
}

/** Returns whether others on the network could read a credential sent to this endpoint. */
export function isExposed(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  return protocol === "http:" && !/^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
