// Finds the address in a database URL, as the driver (pg) reads it: a host and a port, or the path of a Unix socket.

type Environment = Readonly<Record<string, string | undefined>>;

export type DatabaseLocation =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "socket"; readonly path: string };

const PORT_DEFAULT = 5_432;

/**
 * Returns the address in a database URL. A host or port missing in the URL comes from PGHOST or PGPORT, then from the
 * driver's defaults.
 */
export function databaseLocation(text: string, env: Environment): DatabaseLocation {
  // The driver accepts a user without a host; the class URL does not.
  const url = URL.parse(text.replace("@/", "@localhost/"), "postgres://localhost");
  const hasHost = url !== null && !/^[a-z]+:\/\/(?:[^/?#]*@)?(?:[/?#]|$)/i.test(text);
  const named = url?.searchParams.get("host") ||
    decodeURIComponent(hasHost ? url.hostname : "").replace(/^\[|\]$/g, "");
  const host = named || env["PGHOST"] || "localhost";
  const port = Number(url?.searchParams.get("port") || url?.port || env["PGPORT"] || PORT_DEFAULT);
  return host.startsWith("/") ? { kind: "socket", path: `${host}/.s.PGSQL.${port}` } : { kind: "tcp", host, port };
}
