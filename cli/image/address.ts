// Decides which URLs may be fetched: every https URL, and http URLs of this machine. An http URL of another machine may
// be fetched only if a digest from another source verifies the bytes. The connector (src/outbound) checks the IP
// addresses.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

/**
 * Parses a URL that may be fetched. Throws a Failure for any other URL. `plain_http` allows http from other machines.
 */
export function checkedUrl(text: string, plain_http = false): URL {
  if (!URL.canParse(text)) throw new Failure(`${text} is not a URL`, EXIT.failure);
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (isLoopback(url) || plain_http))) {
    throw new Failure(`${text}: the URL must be https, or http on this machine`, EXIT.failure);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Failure(`${url.host}: the URL must not contain a user name or password`, EXIT.failure);
  }
  return url;
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
