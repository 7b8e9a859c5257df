// Serves the control plane as a fetch handler: for `deno serve src/main.ts`, and for hosts that start an isolate on a
// request and stop an idle isolate. The handler does not start PostgreSQL, so DATABASE_URL must be set. `task start`
// runs serve.ts instead.
import { getLogger } from "@logtape/logtape";
import process from "node:process";
import { readConfig } from "./config.ts";
import { edgeAnswer } from "./http/edge-answer.ts";
import { answerDeno } from "./http/websocket-deno.ts";
import { configureLogging } from "./logging.ts";
import { variableNames, warnOfUnknownVariables } from "./unknown-variables.ts";
import { type ControlPlane, openControlPlane } from "./wiring.ts";

let opening: Promise<ControlPlane> | undefined;

/**
 * Returns the control plane. The first request opens the control plane. After a failure, the next request tries again
 * to open it.
 */
function controlPlane(): Promise<ControlPlane> {
  return opening ??= open().catch((error) => {
    opening = undefined;
    throw error;
  });
}

async function open(): Promise<ControlPlane> {
  const config = readConfig(process.env);
  if (config.databaseUrl === null) throw new Error("DATABASE_URL must be set; `task start` starts its own PostgreSQL");
  await configureLogging(config.logLevel);
  warnOfUnknownVariables(getLogger(["berth"]), variableNames());
  const opened = await openControlPlane({ config, databaseUrl: config.databaseUrl, resident: true });
  // Closes the database connections. The host drains requests, but does not end while database connections are open.
  process.once("SIGTERM", () => void opened.close());
  return opened;
}

/** Returns a 503. The reason is only logged. */
function notOpen(error: unknown): Response {
  console.error(`berth: cannot open the control plane: ${error instanceof Error ? error.message : String(error)}`);
  const { status, headers, body } = edgeAnswer(503, "Service Unavailable");
  return new Response(body, { status, headers: { ...headers, "retry-after": "1" } });
}

type Peer = { readonly remoteAddr?: { readonly hostname?: string } };

export default {
  async fetch(request: Request, peer?: Peer): Promise<Response> {
    const opened = await controlPlane().catch(notOpen);
    if (opened instanceof Response) return opened;
    const remoteAddress = peer?.remoteAddr?.hostname;
    return await answerDeno(request, (upgrade) => opened.fetch(request, { remoteAddress, upgrade }));
  },
  /** Runs the background work. A host with a schedule calls it, so that the work runs even without requests. */
  async scheduled(): Promise<void> {
    await (await controlPlane()).pass();
  },
};
