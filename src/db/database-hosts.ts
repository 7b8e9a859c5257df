// Reads database URLs that name several servers, such as postgres://user@db1,db2:5433/berth. One of the servers accepts
// writes. libpq also reads such URLs. The driver (pg) reads only one server, so such a URL is split into one URL per
// server.

/** Captures four parts of a URL: the scheme with the user, the list of servers, the path, and the query. */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i;
/**
 * Matches a URL whose password contains a character that ends the authority: a slash, ? or #. A slash after a colon and
 * digits is not matched, because the digits may be a port.
 */
const UNENCODED = /^[a-z]+:\/\/[^@/?#:]*:[^@/?#]*(?:(?<!:\d+)\/[^?]*|#.*|\?[^=&]*)@/i;
const TARGET = "target_session_attrs";
/** The values of target_session_attrs that select a server that accepts writes. */
const WRITABLE = ["read-write", "primary"];

/**
 * Returns one URL per server, in order. A URL with one server and without target_session_attrs is returned unchanged.
 * The error texts contain no part of the URL, because the URL may contain a password.
 */
export function databaseUrls(url: string): readonly [string, ...string[]] {
  if (UNENCODED.test(url)) {
    throw new Error("the password contains /, ? or #; write %2F, %3F or %23 instead, or set PGPASSWORD");
  }
  const [, start, authority = "", path = "", query = ""] = PARTS.exec(url) ?? [];
  if (start === undefined) return [url];
  const params = new URLSearchParams(query);
  const target = params.get(TARGET);
  if (target !== null && !WRITABLE.includes(target)) {
    throw new Error(`${TARGET} must be ${WRITABLE.join(" or ")}, because the control plane writes`);
  }
  const named = params.get("host");
  const hosts = (named ?? authority).split(",");
  if (hosts.length === 1 && target === null) return [url];
  if (hosts.length > 1 && hosts.includes("")) throw new Error("the list of servers has an empty name");
  const ports = portsOf(params.get("port"), hosts.length);
  params.delete(TARGET);
  const [first, ...others] = hosts.map((host, index) => {
    const port = ports[index];
    if (named !== null) params.set("host", host);
    if (port !== undefined) params.set("port", port);
    const rest = params.size === 0 ? "" : `?${params}`;
    return `${start}${named === null ? host : authority}${path}${rest}`;
  });
  return [first!, ...others];
}

/**
 * Returns whether the URL names several servers or has target_session_attrs. If so, the caller must check that each new
 * connection leads to a server that accepts writes.
 */
export function choosesServer(url: string): boolean {
  return databaseUrls(url)[0] !== url;
}

/**
 * Returns the port of each server from the parameter `port`, which has one port for all servers or one port for each.
 * Without the parameter, returns an empty list.
 */
function portsOf(list: string | null, servers: number): readonly string[] {
  if (list === null) return [];
  const ports = list.split(",");
  if (ports.length === 1) return Array(servers).fill(ports[0]);
  if (ports.length !== servers) throw new Error(`the list of servers has ${servers} names and ${ports.length} ports`);
  return ports;
}
