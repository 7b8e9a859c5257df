import type { Front } from "../front-page.ts";
import { VERSION } from "../version.ts";
import { FORMAT_CHOICES, OUTPUT_OPTIONS } from "../internal/output/format.ts";
import { NOUNS } from "./nouns.ts";

export const FRONT: Front = {
  name: "tenantctl",
  summary: "Use a Berth control plane as a tenant",
  version: VERSION,
  options: [
    { flags: "--endpoint <url>", summary: "address of the control plane (TENANTCTL_ENDPOINT)" },
    {
      flags: "--api-key <key>",
      summary: "API key or access token (TENANTCTL_API_KEY, else TENANTCTL_ACCESS_TOKEN)",
    },
    { flags: "--profile <name>", summary: "saved login to use (TENANTCTL_PROFILE)" },
    {
      flags: "--tenant <tenant>",
      summary: "UUID or name of the tenant (TENANTCTL_TENANT); by default the credential's tenant",
    },
    { flags: "--project <project>", summary: "UUID or name of the project to work in (TENANTCTL_PROJECT)" },
    {
      flags: "-o, --output <format>",
      summary: "output format; by default table on a terminal, else json",
      choices: FORMAT_CHOICES,
      choices_are_open: true,
    },
    { flags: "--json", summary: "print the server's JSON unchanged", hidden: true },
    OUTPUT_OPTIONS.no_headers,
    OUTPUT_OPTIONS.quiet,
  ],
  nouns: NOUNS,
};
