// Starts a reverse proxy with TLS for machines without nginx. It sends requests to the processes in turn. If a process
// does not answer, the proxy sends the request to the next process.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { present } from "../support/optional-programs.ts";

export type TlsProxy = {
  readonly port: number;
  /** Returns the number of answers from each port. */
  answered(): Promise<ReadonlyMap<number, number>>;
  close(): Promise<void>;
};

export type Certificate = { readonly key: string; readonly certificate: string };

/**
 * Creates a certificate for localhost as the files berth.key and berth.pem in the folder. Returns the paths of both
 * files.
 */
export function makeCertificate(folder: string): Certificate {
  const [key, certificate] = [join(folder, "berth.key"), join(folder, "berth.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync(present("openssl"), [...made, "-keyout", key, "-out", certificate, ...subject], { stdio: "ignore" });
  return { key, certificate };
}

export async function startTlsProxy(files: Certificate, ports: readonly number[]): Promise<TlsProxy> {
  const answered = new Map<number, number>(ports.map((port) => [port, 0]));
  let turn = 0;
  const server = createServer(
    { key: readFileSync(files.key), cert: readFileSync(files.certificate) },
    async (from, to) => {
      const parts: Uint8Array[] = [];
      for await (const part of from) parts.push(part);
      const order = ports.map((_, index) => ports[(turn + index) % ports.length]!);
      turn += 1;
      for (const port of order) {
        const answer = await forward({ from, port, body: Buffer.concat(parts) });
        if (answer === null) continue;
        answered.set(port, (answered.get(port) ?? 0) + 1);
        return pass(answer, to);
      }
      to.writeHead(502).end();
    },
  );
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    answered: () => Promise.resolve(answered),
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

type Forward = { readonly from: IncomingMessage; readonly port: number; readonly body: Uint8Array };

/** Forwards a request. Returns the response, or null if the process does not respond. */
function forward({ from, port, body }: Forward): Promise<IncomingMessage | null> {
  const headers = { ...from.headers, "x-forwarded-for": from.socket.remoteAddress };
  return new Promise((done) => {
    const sent = request({ host: "127.0.0.1", port, method: from.method, path: from.url, headers }, done);
    sent.once("error", () => done(null));
    sent.end(body);
  });
}

function pass(answer: IncomingMessage, to: ServerResponse): void {
  to.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(to);
}
