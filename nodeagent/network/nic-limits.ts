// Writes the rules that limit the packets and connections of a NIC. Earlier servers accepted limits that nftables
// refuses; such a limit is larger than any NIC needs, and counts as no limit.
import {
  NIC_BYTES_PER_SECOND_MAX,
  NIC_CONNECTIONS_MAX,
  NIC_PACKETS_PER_SECOND_MAX,
} from "../../src/contract/limits.ts";
import type { LocalNic } from "../../src/contract/network-document.ts";

/** A burst may last this time at the rate limit. A burst of BURST_PACKETS_MIN or BURST_BYTES_MIN always passes. */
const BURST_S = 0.1;
const BURST_PACKETS_MIN = 64;
/** Four packets of 64 KiB, the largest that a guest sends with segmentation offload. */
const BURST_BYTES_MIN = 4 * 65_536;

/**
 * Returns the rules that drop the packets above the NIC's limits in one direction. The TCP of the sender then sends
 * more slowly.
 */
export function rateLimits({ packets_per_second_max, bytes_per_second_max }: LocalNic): string[] {
  const rule = (rate: number, burst_min: number, unit: "packets" | "bytes") => {
    const burst = Math.max(Math.floor(rate * BURST_S), burst_min);
    return `limit rate over ${rate}${unit === "bytes" ? " bytes" : ""}/second burst ${burst} ${unit} counter drop`;
  };
  return [
    ...upTo(NIC_PACKETS_PER_SECOND_MAX, packets_per_second_max).map((rate) => rule(rate, BURST_PACKETS_MIN, "packets")),
    ...upTo(NIC_BYTES_PER_SECOND_MAX, bytes_per_second_max).map((rate) => rule(rate, BURST_BYTES_MIN, "bytes")),
  ];
}

/** Returns the rule that drops new connections above the NIC's limit; an empty list without a limit. */
export function connectionLimit({ connections_max }: LocalNic): string[] {
  return upTo(NIC_CONNECTIONS_MAX, connections_max).map((limit) => `ct state new ct count over ${limit} counter drop`);
}

function upTo(max: number, limit: number | null | undefined): number[] {
  return limit == null || limit > max ? [] : [limit];
}
