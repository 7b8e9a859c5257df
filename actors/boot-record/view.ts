// The view of a boot record on the wire.
import type { BootRecord } from "../../src/contract/boot.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { BootRecordState } from "./state.ts";

export function bootRecordView(s: BootRecordState): BootRecord {
  return {
    mac: s.mac,
    state: s.state,
    address: s.address,
    networking: s.networking,
    provenance: s.provenance,
    server_uuid: s.server_uuid,
    assigned_pi: s.assigned_pi,
    rescue: s.rescue,
    hostname: s.hostname,
    kernel_args: [...s.kernel_args],
    console: s.console,
    created_at: toRfc3339(s.created_at),
    updated_at: toRfc3339(s.updated_at),
  };
}
