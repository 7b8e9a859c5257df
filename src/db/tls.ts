// TLS to the database. Every TLS mode verifies the server's certificate and name (docs/reliability.md S-32). Without TLS to
// another machine, each start logs a warning.
import { isLoopback } from "../lib/net/client-address.ts";

/** Modes in which libpq verifies no certificate, or not its name. */
const WEAK_MODE = /([?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/;
const FILES = ["sslrootcert", "sslcert", "sslkey"];

/**
 * Returns the URL with verification. The driver verifies in these modes today, and warns that its next major version
 * will not, so the URL names the strict mode.
 */
export function strictTls(url: string): string {
  return compatible(url) ? url : url.replace(WEAK_MODE, "$1verify-full");
}

/** Returns a warning about this connection for the operator, or null. It contains only the host of the URL. */
export function tlsWarning(url: string): string | null {
  const place = parsed(url);
  if (place === null) return null;
  const host = place.searchParams.get("host") ?? decodeURIComponent(place.hostname).replace(/^\[|\]$/g, "");
  if (host === "" || host.startsWith("/") || host === "localhost" || isLoopback(host)) return null;
  const ssl = place.searchParams.get("ssl");
  const mode = place.searchParams.get("sslmode") ?? (ssl === "true" || ssl === "1" ? "verify-full" : ssl ?? "disable");
  const meant = `add sslmode=verify-full, and sslrootcert=FILE for an authority of your own`;
  if (mode === "disable" || mode === "0" || mode === "false") {
    return `the connection to the database at ${host} is not encrypted; ${meant}`;
  }
  if (mode === "no-verify" || compatible(url)) {
    return `the certificate of the database at ${host} is not verified; ${meant}`;
  }
  return null;
}

/** Files that the driver reads for this connection. */
export function tlsFiles(url: string): string[] {
  const place = parsed(url);
  return FILES.map((name) => place?.searchParams.get(name) ?? "").filter((path) => path !== "");
}

/** Whether the URL requests libpq's meaning of these modes. */
function compatible(url: string): boolean {
  return /[?&]uselibpqcompat=true\b/.test(url) && !/[?&]sslmode=verify-full(?=&|$)/.test(url);
}

function parsed(url: string): URL | null {
  return URL.parse(url, "postgres://localhost");
}
