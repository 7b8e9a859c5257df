// Signs a delivery to a webhook, in the form of Standard Webhooks: HMAC-SHA256 over the id, the time of the attempt and
// the body. The key is the base64 text after whsec_.
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** The signed parts of a delivery: its id, the time of the attempt, and the body. */
export type SignedDelivery = { readonly id: string; readonly sent_at_s: number; readonly body: string };

/** Returns the headers that a receiver needs to verify a delivery. */
export function signatureHeaders(secret: string, { id, sent_at_s, body }: SignedDelivery): Record<string, string> {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${sent_at_s}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(sent_at_s), "webhook-signature": `v1,${signature}` };
}
