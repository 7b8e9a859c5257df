// Defines the setting network.nic_limits, which limits how much of the network a NIC may use, by the size of its
// instance.
import { z } from "zod";
import {
  NIC_BYTES_PER_SECOND_MAX,
  NIC_BYTES_PER_SECOND_MIN,
  NIC_CONNECTIONS_MAX,
  NIC_CONNECTIONS_MIN,
  NIC_LIMIT_CLASSES_MAX,
  NIC_PACKETS_PER_SECOND_MAX,
  NIC_PACKETS_PER_SECOND_MIN,
} from "./limits.ts";

const limit = (min: number, max: number) => z.number().int().min(min).max(max).nullable();

/** The limits of a NIC. Null is unlimited. */
export const NicLimits = z.strictObject({
  connections_max: limit(NIC_CONNECTIONS_MIN, NIC_CONNECTIONS_MAX),
  packets_per_second_max: limit(NIC_PACKETS_PER_SECOND_MIN, NIC_PACKETS_PER_SECOND_MAX),
  bytes_per_second_max: limit(NIC_BYTES_PER_SECOND_MIN, NIC_BYTES_PER_SECOND_MAX),
});
export type NicLimits = z.infer<typeof NicLimits>;

/** The limits for instances with at most `cpu_max` vCPUs. If `cpu_max` is null: the limits for all other instances. */
const Class = NicLimits.extend({ cpu_max: z.number().int().min(1).nullable() });

/** The value of the setting network.nic_limits. The first class that fits an instance applies. */
export const NicLimitClasses = z.array(Class).max(NIC_LIMIT_CLASSES_MAX).refine(
  (classes) => classes.every(({ cpu_max }, index) => index === 0 || rank(classes[index - 1]!.cpu_max) < rank(cpu_max)),
  "cpu_max must rise from class to class; null comes last",
);
export type NicLimitClasses = z.infer<typeof NicLimitClasses>;

const UNLIMITED: NicLimits = { connections_max: null, packets_per_second_max: null, bytes_per_second_max: null };

/** Returns the limits of each NIC of an instance with this many vCPUs. */
export function nicLimitsOf(cpu: number, classes: NicLimitClasses): NicLimits {
  const found = classes.find(({ cpu_max }) => cpu <= rank(cpu_max));
  if (found === undefined) return UNLIMITED;
  const { cpu_max: _cpu_max, ...limits } = found;
  return limits;
}

function rank(cpu_max: number | null): number {
  return cpu_max ?? Infinity;
}
