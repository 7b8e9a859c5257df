// Defines the state of a bare machine that is connected to the AMQP broker.
import type { CnState } from "../../src/contract/enums.ts";
import type { AnnounceBody } from "../../src/contract/setup.ts";
import { isHostname } from "../../src/lib/net/hostname.ts";
import type { AmqpPeer } from "../amqp/listener.ts";
import { JUST_STARTED_MS } from "../limits.ts";
import type { Ledger } from "./ledger.ts";

export type Machine = {
  readonly server_uuid: string;
  readonly peer: AmqpPeer;
  listening: boolean;
  sysinfo: Record<string, unknown> | null;
  state: CnState | null;
  /** True while `visit` runs. Only one call runs at a time, so that a late answer cannot overwrite a newer answer. */
  busy: boolean;
  /** True if the machine reported its start while its setup was in progress. */
  restarted: boolean;
  /**
   * When the machine reported its start (performance.now()). Null before that, and once an announcement has reported
   * the start.
   */
  started_ms: number | null;
};

export function newMachine(server_uuid: string, peer: AmqpPeer): Machine {
  return {
    server_uuid,
    peer,
    listening: false,
    sysinfo: null,
    state: null,
    busy: false,
    restarted: false,
    started_ms: null,
  };
}

/** Returns whether the machine started a moment ago, and this booter has no run of it. */
export function hasJustStarted({ server_uuid, started_ms }: Machine, ledger: Ledger): boolean {
  return ledger.of(server_uuid) === null && started_ms !== null && performance.now() - started_ms < JUST_STARTED_MS;
}

export function announceBody(
  { server_uuid, peer }: Machine,
  sysinfo: Record<string, unknown>,
  started: boolean,
): AnnounceBody {
  const hostname = typeof sysinfo.Hostname === "string" && isHostname(sysinfo.Hostname) ? sysinfo.Hostname : null;
  return { server_uuid, hostname, sysinfo, mac: peer.mac, ...(started ? { started } : {}) };
}

/** In these states the booter announces a node and reports for it; in all others, the node's own agent reports. */
export const BARE: ReadonlySet<CnState> = new Set<CnState>(["awaiting_setup", "setting_up"]);
