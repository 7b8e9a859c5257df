// Opens an HTTP proxy between an agent and its server. The proxy sees each job step that the agent reports.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

export type AgentLink = {
  readonly url: string;
  /** Calls the function once, when a job of the agent reports one of these steps. */
  onStep(steps: readonly string[], act: () => void): void;
  close(): Promise<void>;
};

/** The headers that the proxy forwards. The agent's requests need no other headers. */
const FORWARDED = ["authorization", "content-type", "x-poll-token"];
const PROGRESS = /^\/v1\/agent\/jobs\/[^/]+\/progress$/;

/** Opens the proxy at an address of this machine. */
export async function openAgentLink(server_url: string, address: string): Promise<AgentLink> {
  let awaited: { readonly steps: readonly string[]; readonly act: () => void } | null = null;
  const link = createServer(async (request, response) => {
    // The long polls of a killed agent must also end at the server. Otherwise they would use up the next agent's share
    // of long polls.
    const left = new AbortController();
    response.once("close", () => left.abort());
    try {
      const body = await bodyOf(request);
      if (PROGRESS.test(request.url ?? "")) {
        const { step } = JSON.parse(body.toString()) as { step: string };
        if (awaited?.steps.includes(step) === true) {
          const { act } = awaited;
          awaited = null;
          act();
        }
      }
      const answer = await fetch(server_url + request.url, {
        method: request.method,
        headers: FORWARDED.flatMap((name) => {
          const value = request.headers[name];
          return typeof value === "string" ? [[name, value] as [string, string]] : [];
        }),
        body: request.method === "GET" ? undefined : new Uint8Array(body),
        signal: left.signal,
      });
      const text = await answer.text();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
      response.end(text);
    } catch {
      response.destroy(); // The server ended, or the agent ended while it sent its request.
    }
  });
  link.listen(0, address);
  await once(link, "listening");
  return {
    url: `http://${address}:${(link.address() as AddressInfo).port}`,
    onStep: (steps, act) => void (awaited = { steps, act }),
    close: async () => {
      link.closeAllConnections();
      link.close();
      await once(link, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
