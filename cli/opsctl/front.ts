import type { Front } from "../front-page.ts";
import { VERSION } from "../version.ts";
import { NOUNS } from "./nouns.ts";

export const FRONT: Front = {
  name: "opsctl",
  summary: "Operate a Berth control plane",
  version: VERSION,
  options: [
    { flags: "--endpoint <url>", summary: "address of the control plane (OPSCTL_ENDPOINT)" },
    { flags: "--api-key <key>", summary: "API key (OPSCTL_API_KEY)" },
    { flags: "--profile <name>", summary: "saved profile to use (OPSCTL_PROFILE)" },
    { flags: "--json", summary: "print JSON" },
  ],
  nouns: NOUNS,
};
