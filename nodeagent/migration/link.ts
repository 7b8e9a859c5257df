// Connects the source of a migration to the target. The source accepts only the certificate that the control plane
// named, and sends the ticket of the migration.
import { X509Certificate } from "node:crypto";
import { connect, type TLSSocket } from "node:tls";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { plainText } from "../../cli/internal/plain-text.ts";
import { NODE_NAME } from "./identity.ts";
import { readLine, writeLine } from "./lines.ts";
import type { MoveLink, MoveRequest, Moving, OpenStream } from "./migrations.ts";

/** How a source reaches and recognizes the target. */
export type Target = { readonly address: string; readonly port: number; readonly certificate: string };

const CONNECT_LIMIT_MS = 10_000;
/** Time that the target has for most answers. To answer, the target may have to start QEMU. */
const ANSWER_LIMIT_MS = 60_000;

export function linkTo(target: Target, moving: Moving, ticket: string): MoveLink {
  async function exchange(request: MoveRequest, limit_ms: number) {
    const socket = await connectTo(target);
    try {
      writeLine(socket, { ...moving, ticket, ...request });
      return { socket, ...await readLine(socket, limit_ms) };
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
  async function open(request: MoveRequest, limit_ms = ANSWER_LIMIT_MS) {
    const { socket, value, rest } = await exchange(request, limit_ms);
    if (typeof value["error"] !== "string") return { socket, value, first: rest };
    socket.destroy();
    throw new Failure(`the target refused: ${plainText(value["error"])}`, EXIT.failure);
  }
  return {
    ask: async (request, limit_ms) => {
      const { socket, value } = await open(request, limit_ms);
      socket.destroy();
      return value;
    },
    open: async (request): Promise<OpenStream> => await open(request),
    // A refusal also counts as an answer: an older agent refuses this request, because the request is unknown to it.
    answers: (limit_ms) =>
      exchange({ request: "alive" }, limit_ms).then(({ socket }) => {
        socket.destroy();
        return true;
      }, () => false),
  };
}

function connectTo({ address, port, certificate }: Target): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { raw: expected } = new X509Certificate(certificate);
    const socket = connect({
      host: address,
      port,
      // The dates of the certificate do not matter, because the clocks of the nodes may differ. The source compares the
      // certificate itself before it sends anything.
      rejectUnauthorized: false,
      servername: NODE_NAME,
      minVersion: "TLSv1.3",
    });
    const fail = (why: string) => {
      socket.destroy();
      reject(new Failure(`cannot connect to the target ${address}:${port}: ${why}`, EXIT.failure));
    };
    const timer = setTimeout(() => fail("no answer"), CONNECT_LIMIT_MS);
    socket.once("error", (error: Error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      socket.on("error", () => {}); // The event "close" follows.
      if (socket.getPeerX509Certificate()?.raw.equals(expected)) resolve(socket);
      else fail("its certificate is not the one that the control plane named");
    });
  });
}
