import { PORT_MAX } from "../../../src/contract/limits.ts";
import type { PortRange } from "../../../src/contract/network.ts";
import { invalidValue } from "../../framework.ts";

/** Parses `80` or `80-443`. Refuses any other text. */
export function portRange(text: string): PortRange {
  const bounds = text.split("-").map(portNumber);
  const [low, high = low] = bounds;
  if (low === undefined || high === undefined || bounds.length > 2 || bounds.includes(undefined)) {
    throw invalidValue(`It must be a port (0 to ${PORT_MAX}) or a range LOW-HIGH.`);
  }
  if (low > high) throw invalidValue("The low port is greater than the high one.");
  return { low, high };
}

function portNumber(text: string): number | undefined {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= PORT_MAX ? Number(text) : undefined;
}
