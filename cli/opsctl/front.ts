import type { Front } from "../front-page.ts";
import { FORMAT_CHOICES, OUTPUT_OPTIONS } from "../internal/output/format.ts";
import { VERSION } from "../version.ts";
import { NOUNS } from "./nouns.ts";

export const FRONT: Front = {
  name: "opsctl",
  summary: "Operate a Berth control plane",
  version: VERSION,
  options: [
    { flags: "--endpoint <url>", summary: "address of the control plane (OPSCTL_ENDPOINT)" },
    { flags: "--api-key <key>", summary: "API key or access token (OPSCTL_API_KEY, else OPSCTL_ACCESS_TOKEN)" },
    { flags: "--profile <name>", summary: "saved profile to use (OPSCTL_PROFILE)" },
    {
      flags: "-o, --output <format>",
      summary: "output format; by default table",
      choices: FORMAT_CHOICES,
      choices_are_open: true,
    },
    { flags: "--json", summary: "print the server's JSON unchanged" },
    OUTPUT_OPTIONS.no_headers,
    OUTPUT_OPTIONS.quiet,
  ],
  nouns: NOUNS,
};
