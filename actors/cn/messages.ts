// What a compute node's record can be told. Ids, codes, keys and hashes come with the message; the time does not.
import type { CnRole } from "../../src/contract/enums.ts";

/** A fresh per-node key as the database keeps it: found by `lookup`, checked by its hash, delivered from `sealed`. */
export type NewNodeKey = {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  /** The whole key, sealed for delivery. */
  readonly sealed: string;
  /** The three ticket keys, sealed. */
  readonly sealed_tickets: string;
  /** The user the key acts for. */
  readonly user_id: string;
};

export type CnMessage =
  | {
    readonly type: "register";
    readonly server_uuid: string;
    readonly hostname: string;
    readonly admin_ip: string | null;
    readonly sysinfo: unknown;
    readonly console_listen_port: number | null;
    readonly console_tls_spki_sha256_hex: string | null;
    readonly claim_code: string;
    readonly claim_code_ttl_s: number;
    readonly registration_id: string;
    readonly poll_token_sha256: string;
    /** Used when an auto-approve window takes the node. */
    readonly key: NewNodeKey;
    readonly operation_id: string;
  }
  | {
    readonly type: "approve";
    readonly claim_code: string;
    readonly key: NewNodeKey;
    readonly operation_id: string;
  }
  /** The node authenticated with its key for the first time: it has it. */
  | { readonly type: "key_used"; readonly key_id: string }
  | { readonly type: "disable" }
  | { readonly type: "set_role"; readonly role: CnRole }
  | {
    readonly type: "set_reservoir";
    readonly reservoir_enabled: boolean | null;
    readonly reservoir_percent: number | null;
    readonly defaults: { readonly enabled: boolean; readonly percent: number };
  }
  | { readonly type: "remove" }
  | { readonly type: "tick" };
