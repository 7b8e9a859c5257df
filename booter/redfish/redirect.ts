// Finds the target of a BMC's redirect. Older Supermicro BMCs answer the POST of a login with a redirect to the same
// path with a slash at its end. The method and the body stay the same, except after 303.
import { BmcFault } from "./fault.ts";
import { type BmcAnswer, type BmcHost, originOf } from "./wire.ts";

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type Asked = { readonly method: string; readonly path: string; readonly text: string | undefined };

export function isRedirect({ status, headers }: BmcAnswer): boolean {
  return REDIRECTS.has(status) && headers.location !== undefined;
}

/** @throws BmcFault if the redirect leads to another host, port or scheme */
export function redirected(host: BmcHost, asked: Asked, { status, headers }: BmcAnswer): Asked {
  const target = urlOf(host, asked.path, headers.location ?? "");
  if (target === null || target.origin !== originOf(host)) {
    const where = target === null ? "an address that cannot be read" : target.origin;
    throw new BmcFault(`the BMC redirects to ${where}; if that is the BMC, use it as --host`, status);
  }
  const path = `${target.pathname}${target.search}`;
  return status === 303 ? { method: "GET", path, text: undefined } : { ...asked, path };
}

/**
 * Returns the path of a Location header, which may be relative to the path of the request. Ignores the host in the
 * header, because some BMCs send a name that this machine cannot resolve.
 */
export function pathOfLocation(location: string | undefined, path: string): string | null {
  if (location === undefined) return null;
  try {
    const { pathname, search } = new URL(location, `http://bmc${path}`);
    return `${pathname}${search}`;
  } catch {
    return null;
  }
}

function urlOf(host: BmcHost, path: string, location: string): URL | null {
  try {
    return new URL(location, `${originOf(host)}${path}`);
  } catch {
    return null;
  }
}
