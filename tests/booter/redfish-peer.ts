// Provides a BMC for tests of the behaviours of real BMCs. Each test defines the answers.
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { openBmc } from "../../booter/redfish/bmc.ts";

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage["headers"];
};
export type Told = {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
/** Returns the answer to a request. `undefined` means 404, and a returned function writes the answer itself. */
export type Behaviour = (asked: Asked) => Told | undefined | ((to: ServerResponse) => void);

export type Peer = { readonly port: number; readonly asked: Asked[]; close(): Promise<void> };

export const ROOT = {
  Systems: { "@odata.id": "/redfish/v1/Systems" },
  Links: { Sessions: { "@odata.id": "/redfish/v1/SessionService/Sessions" } },
};
export const SESSIONS = "/redfish/v1/SessionService/Sessions";
export const SYSTEM = "/redfish/v1/Systems/1";
export const OPENED: Told = { status: 201, headers: { "x-auth-token": "t", location: `${SESSIONS}/7` } };

type PeerOptions = { readonly tls?: { readonly key: string; readonly cert: string }; readonly address?: string };

export async function openPeer(behaviour: Behaviour, { tls, address = "127.0.0.1" }: PeerOptions = {}): Promise<Peer> {
  const asked: Asked[] = [];
  const take = (req: IncomingMessage, res: ServerResponse) => {
    const parts: Uint8Array[] = [];
    req.on("data", (part: Uint8Array) => parts.push(part));
    req.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const { method = "", url: path = "", headers } = req;
      const one = { method, path, headers, body: text === "" ? {} : JSON.parse(text) };
      asked.push(one);
      const told = behaviour(one) ?? { status: 404 };
      if (typeof told === "function") return told(res);
      res.writeHead(told.status ?? 200, { "content-type": "application/json", ...told.headers });
      res.end(told.body === undefined ? undefined : JSON.stringify(told.body));
    });
  };
  const server = tls === undefined ? createServer(take) : createSecureServer(tls, take);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Returns a behaviour that calls `more` first. If `more` has no answer, the behaviour itself answers requests for the
 * root and the list of systems, the login and the logout.
 */
export function usual(more: Behaviour): Behaviour {
  return (asked) => {
    const told = more(asked);
    if (told !== undefined) return told;
    const { method, path } = asked;
    if (path === "/redfish/v1/") return { body: ROOT };
    if (path === SESSIONS && method === "POST") return OPENED;
    if (path === "/redfish/v1/Systems") return { body: { Members: [{ "@odata.id": SYSTEM }] } };
    if (method === "DELETE") return { status: 204 };
    return undefined;
  };
}

export type Waits = { readonly slept: number[]; readonly sleep: (ms: number) => Promise<void> };

/** Returns a `sleep` that does not wait and records the pauses. */
export function waits(): Waits {
  const slept: number[] = [];
  return { slept, sleep: (ms) => Promise.resolve(void slept.push(ms)) };
}

export function connect(host: string, { sleep }: Waits, accept_invalid_certs = false) {
  const { signal } = new AbortController();
  return openBmc({ host, user: "admin", password: "secret", accept_invalid_certs, signal, sleep });
}
