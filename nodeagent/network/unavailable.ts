// Implements the networks of a machine that cannot build routers: every document fails with the reason.
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { NetworkDriver } from "./network-driver.ts";

export function unavailableNetwork(reason: string): NetworkDriver {
  return {
    carries_packets: true,
    apply: () => Promise.reject(new Failure(reason, EXIT.failure)),
    holdGateways: () => Promise.resolve(),
    removeTap: () => Promise.resolve(),
    tapBytes: () => Promise.resolve(new Map()),
    ruleCounts: () => Promise.resolve([]),
    inspect: () => Promise.reject(new Failure(reason, EXIT.failure)),
    keepOnly: () => Promise.resolve([]),
    acceptSenders: () => Promise.resolve(),
  };
}
