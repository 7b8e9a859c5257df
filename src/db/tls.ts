// Configures TLS to the database. With TLS, the server's certificate and name are verified, unless sslmode is
// no-verify, or uselibpqcompat=true requests libpq's weaker meaning of the modes (docs/reliability.md S-32). Each start
// logs a warning if a connection to another machine is not encrypted or not verified.
import { isLoopback } from "../lib/net/client-address.ts";
import { databaseUrls } from "./database-hosts.ts";

/** An sslmode in which libpq does not verify the certificate, or verifies it but not the server's name. */
const WEAK_MODE = /([?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/;
const FILES = ["sslrootcert", "sslcert", "sslkey"];

/**
 * Returns the URL with sslmode=verify-full in place of a weak mode. The driver verifies in these modes today but warns
 * that its next major version will not. A URL that requests libpq's meaning of the weak modes stays unchanged.
 */
export function strictTls(url: string): string {
  return compatible(url) ? url : url.replace(WEAK_MODE, "$1verify-full");
}

/**
 * Returns a warning for the operator if the connection leaves this machine without encryption or verification;
 * otherwise null. The warning contains only the host of the URL.
 */
export function tlsWarning(url: string): string | null {
  return databaseUrls(url).map(warningOf).find((warning) => warning !== null) ?? null;
}

function warningOf(url: string): string | null {
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

/** Returns the paths of the certificate and key files that the driver reads for this connection. */
export function tlsFiles(url: string): string[] {
  const place = parsed(databaseUrls(url)[0]);
  return FILES.map((name) => place?.searchParams.get(name) ?? "").filter((path) => path !== "");
}

/** Returns whether the URL requests libpq's meaning of the weak modes. */
function compatible(url: string): boolean {
  return /[?&]uselibpqcompat=true\b/.test(url) && !/[?&]sslmode=verify-full(?=&|$)/.test(url);
}

function parsed(url: string): URL | null {
  return URL.parse(url, "postgres://localhost");
}
