// Builds the messages that create nodes in stress tests.
import { randomBytes } from "node:crypto";
import type { CnMessage, NewNodeKey } from "../../actors/cn/messages.ts";
import type { Msg } from "../../actors/enrolment-claim/messages.ts";

type Registered = { readonly server_uuid: string; readonly hostname: string; readonly claim_code: string };

/** Returns a node's description of itself in a registration, with a new registration id and poll token. */
export function description({ server_uuid, hostname }: Omit<Registered, "claim_code">, newId: () => string) {
  return {
    server_uuid,
    hostname,
    admin_ip: null,
    sysinfo: {},
    console_listen_port: null,
    console_tls_spki_sha256_hex: null,
    registration_id: newId(),
    poll_token_sha256: randomBytes(32).toString("hex"),
  };
}

/** Returns an anonymous registration: the message that creates a claim. */
export function registration(of: Registered & { readonly id: string }, newId: () => string): Msg<"register"> {
  const { id, claim_code } = of;
  // Each node registers from its own address, because the number of claims per source address is limited.
  const source = `10.${
    of.server_uuid.replaceAll("-", "").slice(-6).match(/../g)!.map((byte) => parseInt(byte, 16)).join(".")
  }`;
  const from = { source, source_bucket: source };
  return { type: "register", id, ...description(of, newId), claim_code, claim_code_ttl_s: 3_600, ...from };
}

const NO_UNDERLAY = { underlay_address: null, underlay_mtu: null } as const;

/** Returns the approval of a claim. */
export function approvalOf(claim: Msg<"register">, key: NewNodeKey, operation_id: string): CnMessage {
  const { type: _type, claim_code, claim_code_ttl_s: _ttl, source: _source, source_bucket: _bucket, ...taken } = claim;
  const described = { ...taken, ...NO_UNDERLAY, macs: [], serial: null };
  return { type: "approve", claim_code, claim: described, key, operation_id };
}

/** Returns a node's new key, without a valid secret. `by` distinguishes keys that different parties create. */
export function nodeKey({ id, user_id, by }: { id: string; user_id: string; by: string }): NewNodeKey {
  const lookup = randomBytes(6).toString("hex");
  const secret_sha256 = randomBytes(32).toString("hex");
  return { id, lookup, secret_sha256, sealed: `sealed ${by}`, sealed_tickets: `tickets ${by}`, user_id };
}
