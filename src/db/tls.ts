// TLS to the database. Whoever asks for it gets the server's certificate and name verified, whatever mode is named
// (reliability rule S-32); who asks for less, away from this machine, is told at every start.
import { isLoopback } from "../lib/net/client-address.ts";

/** Modes that libpq encrypts without looking at who answers, or without looking at the name. */
const WEAK_MODE = /([?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/;
const FILES = ["sslrootcert", "sslcert", "sslkey"];

/**
 * The same connection with verification. The driver verifies for these modes today, warns, and announces that its next
 * major version will not: so it is said outright.
 */
export function strictTls(url: string): string {
  return compatible(url) ? url : url.replace(WEAK_MODE, "$1verify-full");
}

/** What an operator should know about this connection, or null. Holds nothing of the URL but the host. */
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

/** The operator asks for what libpq does with these modes. */
function compatible(url: string): boolean {
  return /[?&]uselibpqcompat=true\b/.test(url) && !/[?&]sslmode=verify-full(?=&|$)/.test(url);
}

function parsed(url: string): URL | null {
  return URL.parse(url, "postgres://localhost");
}
