// Checks the URLs of token issuers: https, or http on a loopback address.
import { ISSUER_URL_CHARS_MAX } from "../contract/limits.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The rule for issuer URLs, as error texts quote it. */
export const ISSUER_URL_RULE =
  `must be https, or http on a loopback address, without user, query or fragment, in at most ${ISSUER_URL_CHARS_MAX} ` +
  "printable ASCII characters";

/**
 * Returns whether the URL may name an issuer: TLS or the loopback address proves which server answers (OpenID Connect
 * Discovery, 3).
 */
export function isIssuerUrl(text: string): boolean {
  const url = URL.parse(text);
  const plain = /^[!-~]+$/.test(text) && !/[?#]/.test(text) && text.length <= ISSUER_URL_CHARS_MAX;
  if (url === null || !plain || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isLoopback(url);
}

/**
 * Returns whether a URL that the issuer's discovery document names may be used, for example to fetch keys. An issuer on
 * another machine may name only https URLs, and no loopback address.
 */
export function mayFollow(issuer: string, text: string): boolean {
  const [from, to] = [URL.parse(issuer), URL.parse(text)];
  if (from === null || to === null || to.username !== "" || to.password !== "") return false;
  return isLocal(from) ? isLoopback(to) || to.protocol === "https:" : to.protocol === "https:" && !isLocal(to);
}

function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && isLocal(url);
}

function isLocal({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
