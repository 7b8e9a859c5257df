// Limits a program as the service of the packaged node agent does.
import { readText } from "../lint/sources.ts";
import { parseUnit } from "./unit.ts";

const UNIT = parseUnit(readText("cli/release/files/berth-nodeagent.service"));
const CAPABILITIES = UNIT.one("CapabilityBoundingSet").toLowerCase().split(" ").map((name) =>
  name.replace("cap_", "+")
);

/** The command that runs a program with only the capabilities of the service. */
export const AS_AGENT_SERVICE: readonly string[] = [
  "setpriv",
  "--no-new-privs",
  `--bounding-set=-all,${CAPABILITIES.join()}`,
  "--",
];
