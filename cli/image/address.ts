// Which addresses are asked: https, http on this machine, and http elsewhere where a digest that came another way will tell.
// A redirect may not lead from elsewhere into this machine.
import { EXIT } from "../kit/exit-code.ts";
import { Failure } from "../kit/failure.ts";

/** @param before where a redirect comes from. Throws a Failure. */
export function checkedUrl(text: string, before: URL | null, plain_http = false): URL {
  if (!URL.canParse(text)) throw new Failure(`${text} is not an address`, EXIT.failure);
  const url = new URL(text);
  const local = isLoopback(url);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (local || plain_http))) {
    throw new Failure(`${text}: only https is asked, or http on this machine`, EXIT.failure);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Failure(`${url.host}: an address with a user name or password is not asked`, EXIT.failure);
  }
  if (local && before !== null && !isLoopback(before)) {
    throw new Failure(`${before.host} redirects into this machine`, EXIT.failure);
  }
  return url;
}

export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
