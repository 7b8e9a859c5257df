// The record of one compute node: the columns of table cn (and those its view joins), tagged by state.
import type { CnRole } from "../../src/contract/enums.ts";
import type { SetupProgress } from "../../src/contract/cn.ts";

type CnBase = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly role: CnRole;
  readonly admin_ip: string | null;
  readonly sysinfo: unknown;
  readonly console_listen_port: number | null;
  readonly console_tls_spki_sha256_hex: string | null;
  readonly registered_at: Date;
  readonly last_setup_error: string | null;
  readonly setup_progress: SetupProgress | null;
  readonly disk_layout: unknown;
  // Joined; see view cn_loaded.
  readonly last_seen: Date | null;
  readonly last_status: unknown;
  readonly reservoir_enabled: boolean | null;
  readonly reservoir_percent: number | null;
};

/** How the agent that registered asks what became of it. */
type Registered = { readonly registration_id: string; readonly poll_token_sha256: string };

/** The key of the node, and what is kept until the node has it. */
type Credentialed = {
  readonly bound_api_key_id: string;
  readonly pending_credential: string | null;
  readonly ticket_keys: string | null;
};

type NoCode = { readonly claim_code: null; readonly claim_code_expires_at: null };
type NoKey = {
  readonly bound_api_key_id: null;
  readonly pending_credential: null;
  readonly ticket_keys: null;
};
type MaybeKey = {
  readonly bound_api_key_id: string | null;
  readonly pending_credential: string | null;
  readonly ticket_keys: string | null;
};
type MaybeRegistered = { readonly registration_id: string | null; readonly poll_token_sha256: string | null };

export type CnState =
  | (CnBase & Registered & NoKey & {
    readonly state: "pending";
    readonly approved_at: null;
    readonly claim_code: string;
    readonly claim_code_expires_at: Date;
  })
  | (CnBase & MaybeRegistered & Credentialed & NoCode & { readonly state: "approved"; readonly approved_at: Date })
  | (CnBase & MaybeRegistered & MaybeKey & NoCode & { readonly state: "disabled"; readonly approved_at: Date | null })
  | (CnBase & MaybeRegistered & NoKey & NoCode & { readonly state: "awaiting_setup"; readonly approved_at: null })
  | (CnBase & MaybeRegistered & MaybeKey & NoCode & { readonly state: "setting_up"; readonly approved_at: Date });
