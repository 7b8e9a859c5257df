// Accepts the calls of a setup script that another booter sent (docs/booting.md, "A setup whose booter ends"). The
// control plane finds the run by the SHA-256 of the script's token. As for this booter's own runs, a call is accepted
// only from the IP address of the run's machine. This address must belong to the boot record of the MAC with which the
// machine logged in.
//
// A refused call gets the same answer, whatever the reason. Calls with wrong tokens cause only a limited number of
// lookups at the control plane:
// - An address without a boot record causes no lookup.
// - After a refused lookup for an address, calls from this address cause no lookup for HANDOVER_PAUSE_MS.
// - At most HANDOVERS_PENDING_MAX lookups run at the same time.
import type { BootConsolePort } from "../../src/contract/enums.ts";
import type { SetupScript } from "../../src/contract/setup.ts";
import { type ApiClient, isRefusal } from "../api-client/client.ts";
import type { Counters } from "../counters.ts";
import { HANDOVER_PAUSE_MS, HANDOVERS_PENDING_MAX, TRANSACTIONS_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { sha256 } from "./delivery.ts";
import type { Enrolment, SetupCaller } from "./enrolment.ts";
import { relayReport } from "./relay.ts";
import { setupValues, type ValueParts } from "./values.ts";

/** The calls of setup scripts. */
export type SetupCalls = Pick<Enrolment, "values" | "report">;

export type HandoverOptions = {
  /** Answers the calls of the scripts that this booter sent. */
  readonly own: SetupCalls;
  readonly api: Pick<ApiClient, "script" | "handOver" | "report">;
  readonly setup: ValueParts["setup"] | null;
  /** Returns the MAC address of the boot record with this IP address, or null. */
  readonly macOf: (address: string) => string | null;
  readonly consoleOf: (address: string) => Promise<BootConsolePort>;
  readonly originFor: (address: string) => string;
  readonly counters: Counters;
  readonly log: Log;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly now: () => number;
};

/** Answers the calls of own setup scripts, and of scripts that another booter sent. */
export function withHandover(options: HandoverOptions): SetupCalls {
  const { own, api, setup, macOf, consoleOf, originFor, counters, log, now } = options;
  /** The time of the last refused lookup for each address. */
  const refused = new Map<string, number>();
  let pending = 0;

  async function find({ token, address }: SetupCaller): Promise<SetupScript | null | "away"> {
    const mac = macOf(address);
    const last = refused.get(address);
    if (mac === null || (last !== undefined && now() - last < HANDOVER_PAUSE_MS)) return null;
    if (pending >= HANDOVERS_PENDING_MAX) return "away";
    pending += 1;
    try {
      const script = await api.script(sha256(token));
      if (script !== null && script.address === address && script.mac === mac) return script;
    } catch {
      return "away";
    } finally {
      pending -= 1;
    }
    refused.delete(address);
    if (refused.size >= TRANSACTIONS_MAX) refused.delete(refused.keys().next().value!);
    refused.set(address, now());
    counters.count("setup_calls_refused_total");
    return null;
  }

  return {
    async values(caller) {
      const values = await own.values(caller);
      if (values !== null || setup === null) return values;
      const script = await find(caller);
      if (script === "away") throw new Error("the control plane does not answer");
      if (script === null || script.completed) return null;
      const { server_uuid, epoch, mac } = script;
      try {
        const bundle = await api.handOver(script, caller.token);
        counters.count("setups_handed_over_total");
        log("setup.handed_over", { server_uuid, mac, epoch });
        const { address } = caller;
        return setupValues({ setup, bundle, console: await consoleOf(address), origin: originFor(address) });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        log("bundle.refused", { server_uuid, reason: error.message });
        return null;
      }
    },
    async report(caller, report) {
      const relayed = await own.report(caller, report);
      if (relayed === "taken" || relayed === "away") return relayed;
      const script = await find(caller);
      if (script === "away") return "away";
      if (script === null) return relayed;
      // The control plane has the script's last report, but the script did not get the answer.
      if (script.completed) return report.kind === "complete" ? "taken" : "stale";
      return relayed === "stale" ? "stale" : await relayReport(script, report, { api, counters, log });
    },
  };
}
