// Which URLs are asked: https, http on this machine, and http elsewhere where a digest that came another way checks the
// bytes. Whether the address behind the name may be fetched is the connector's to check.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

/** Throws a Failure. */
export function checkedUrl(text: string, plain_http = false): URL {
  if (!URL.canParse(text)) throw new Failure(`${text} is not an address`, EXIT.failure);
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (isLoopback(url) || plain_http))) {
    throw new Failure(`${text}: only https is asked, or http on this machine`, EXIT.failure);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Failure(`${url.host}: an address with a user name or password is not asked`, EXIT.failure);
  }
  return url;
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
