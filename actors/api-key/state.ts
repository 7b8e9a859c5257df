import type { KeyScope } from "../../src/contract/enums.ts";

/** A key that is not deleted; it may have expired. A deleted key has no row. */
export type ApiKeyState = {
  readonly state: "live";
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  readonly user_id: string;
  readonly description: string;
  readonly scope: KeyScope;
  readonly bound_to_cn: string | null;
  /** The tenant in which the key acts. Null if the key acts as its owner. */
  readonly tenant_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
};
