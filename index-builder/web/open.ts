// Opens the exchange that a build uses: the internet or recorded responses.
import { VENDORS } from "../vendors/all.ts";
import type { Exchange } from "./exchange.ts";
import { LIVE, liveExchange } from "./live.ts";
import { recordedExchange } from "./recorded.ts";
import { recorder } from "./recorder.ts";

/** GitHub and CloudFront refuse requests without a User-Agent. */
const USER_AGENT = "berth-index-builder/0.1 (image index; one run a day)";

export async function openExchange(
  { recorded, record }: { recorded: readonly string[]; record: string | null },
): Promise<{ exchange: Exchange; save(): Promise<void> }> {
  const plain_http_hosts = VENDORS.flatMap((vendor) => vendor.plain_http_hosts ?? []);
  const exchange = recorded.length > 0
    ? await recordedExchange(recorded)
    : liveExchange({ ...LIVE, user_agent: USER_AGENT, plain_http_hosts });
  return record === null ? { exchange, save: () => Promise.resolve() } : recorder(exchange, record);
}
