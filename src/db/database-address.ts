// The address in a database URL, as the driver reads it: a host and a port, or a socket in a folder.

type Environment = Readonly<Record<string, string | undefined>>;

export type DatabaseLocation =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "socket"; readonly path: string };

const PORT_DEFAULT = 5_432;

/** Parts missing in the URL come from PGHOST and PGPORT, then from the driver's defaults. */
export function databaseLocation(text: string, env: Environment): DatabaseLocation {
  // The driver accepts a user without a host; URL does not.
  const url = URL.parse(text.replace("@/", "@localhost/"), "postgres://localhost");
  const hasHost = url !== null && !/^[a-z]+:\/\/(?:[^/?#]*@)?(?:[/?#]|$)/i.test(text);
  const named = url?.searchParams.get("host") ||
    decodeURIComponent(hasHost ? url.hostname : "").replace(/^\[|\]$/g, "");
  const host = named || env["PGHOST"] || "localhost";
  const port = Number(url?.searchParams.get("port") || url?.port || env["PGPORT"] || PORT_DEFAULT);
  return host.startsWith("/") ? { kind: "socket", path: `${host}/.s.PGSQL.${port}` } : { kind: "tcp", host, port };
}
