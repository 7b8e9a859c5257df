// The messages by which nodes come to be, as trials send them.
import { randomBytes } from "node:crypto";
import type { CnMessage, NewNodeKey } from "../../actors/cn/messages.ts";

type Registered = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly claim_code: string;
  readonly key: NewNodeKey;
};

export function registration({ server_uuid, hostname, claim_code, key }: Registered, newId: () => string): CnMessage {
  return {
    type: "register",
    server_uuid,
    hostname,
    admin_ip: null,
    sysinfo: {},
    console_listen_port: null,
    console_tls_spki_sha256_hex: null,
    claim_code,
    claim_code_ttl_s: 3_600,
    registration_id: newId(),
    poll_token_sha256: randomBytes(32).toString("hex"),
    key,
    operation_id: newId(),
  };
}

/** A key that opens nothing. `by`: a word for whoever it is made by. */
export function nodeKey({ id, user_id, by }: { id: string; user_id: string; by: string }): NewNodeKey {
  const lookup = randomBytes(6).toString("hex");
  const secret_sha256 = randomBytes(32).toString("hex");
  return { id, lookup, secret_sha256, sealed: `sealed ${by}`, sealed_tickets: `tickets ${by}`, user_id };
}
