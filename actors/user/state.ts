import type { Capability } from "../../src/contract/enums.ts";

/** A local user has a password, or can get one later. A user of an issuer has no password in Berth. */
export type UserState = {
  readonly state: "live";
  readonly id: string;
  readonly username: string;
  readonly is_root: boolean;
  readonly tenant_id: string | null;
  /** The silo of the tenant, which the view user_loaded joins. */
  readonly silo_id: string | null;
  readonly password_hash: string | null;
  readonly capabilities: readonly Capability[];
  readonly issuer: string | null;
  readonly subject: string | null;
  /** Sessions of an earlier epoch are invalid. */
  readonly session_epoch: number;
  readonly created_at: Date;
};
