// Decides when a setup script may be sent, and what the ledger stores about it. If a connection breaks, the script that
// was sent over it may be lost. If the machine has not acknowledged the script and has not fetched the values of the
// run, the booter sends the script again over the machine's next connection. Each sending has a token of its own, and
// only the newest token is valid. So if an earlier script did arrive, it gets no values and changes nothing.
import { createHash, randomBytes } from "node:crypto";
import type { AmqpPeer } from "../amqp/listener.ts";
import { type ApiClient, isRefusal } from "../api-client/client.ts";
import type { Delivered, Run } from "./ledger.ts";

export type Sending = { readonly run: Run; readonly delivered: Delivered; readonly token: string };

/** Returns whether the script of this run may be sent: for the first time, or again. */
export function maySend({ delivered }: Run): boolean {
  return delivered === null ||
    (delivered.arrived === false && !delivered.reported && delivered.failure === null);
}

/** Returns the run with a new token, or null if the script must not be sent. */
export function newSending(run: Run, epoch: number, { address, mac }: AmqpPeer): Sending | null {
  if (!maySend(run)) return null;
  const token = randomBytes(24).toString("hex");
  const delivered: Delivered = {
    epoch,
    token_sha256: sha256(token),
    address,
    mac,
    deliveries: (run.delivered?.deliveries ?? 0) + 1,
    arrived: false,
    reported: false,
    failure: null,
  };
  return { run: { ...run, delivered }, delivered, token };
}

/** Returns the request id of the newest sending. A reply to an earlier sending does not end the run. */
export function requestOf({ epoch, deliveries = 1 }: Delivered): string {
  return deliveries === 1 ? `setup-${epoch}` : `setup-${epoch}-${deliveries}`;
}

/**
 * Stores the script at the control plane, so that another booter accepts the script's calls. Returns null, or why the
 * script must not be sent.
 * @throws ApiFault if the call fails without a refusal (isRefusal)
 */
export async function storeScript(
  api: Pick<ApiClient, "delivered">,
  server_uuid: string,
  { epoch, token_sha256, mac, address }: Delivered,
): Promise<string | null> {
  try {
    await api.delivered(server_uuid, { epoch, token_sha256, mac, address });
    return null;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // A control plane of an earlier release answers 404: it cannot store scripts, so no other booter takes over a run.
    return error.status === 404 ? null : error.message;
  }
}

/** Marks the newest script as arrived. Returns null if its token is not `token_sha256`. */
export function arrived(run: Run, token_sha256: string): Run | null {
  const { delivered } = run;
  if (delivered === null || delivered.token_sha256 !== token_sha256) return null;
  return { ...run, delivered: { ...delivered, arrived: true } };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
