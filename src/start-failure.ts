// Builds the messages of errors that prevent the server's start, such as a port in use or a database that does not
// answer. Each message says what to do. All other errors keep their own message.

import { isSilence } from "./db/sql-error.ts";

type SystemError = {
  readonly code?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  /** The variable that names the database of a failed connection (same-database.ts). */
  readonly variable?: string;
};

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the network",
};

/**
 * Returns the text for an error that ended the start of the server. `named` is the variable that names the database, if
 * the error itself does not name it.
 */
export function startFailure(error: unknown, named = "DATABASE_URL"): string {
  if (!(error instanceof Error)) return String(error);
  const { code = "", syscall, address, port, hostname, variable = named } = error as SystemError;
  // If a host name has several addresses, a failed connection has one error for each address.
  if (error instanceof AggregateError && error.errors.length > 0) return startFailure(error.errors[0], variable);
  const place = address?.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  if (syscall === "listen") {
    if (code === "EADDRINUSE") return `${place} is in use by another program; set PORT or HOST`;
    if (code === "EACCES") return `this user may not listen on ${place}; set a PORT above 1023`;
    if (code === "EADDRNOTAVAIL") return `${address} is not an address of this machine; set HOST`;
  }
  // At its start the server connects only to PostgreSQL.
  if (syscall === "connect" && UNREACHABLE[code] !== undefined) {
    return `cannot reach PostgreSQL at ${place}: ${UNREACHABLE[code]}; check ${variable}, and that PostgreSQL runs`;
  }
  if (isSilence(error)) {
    return `PostgreSQL does not answer; check ${variable}, the network between the machines, and the database's load`;
  }
  if (syscall === "getaddrinfo") return `the host name ${hostname} of PostgreSQL is not known; check ${variable}`;
  return error.message;
}
