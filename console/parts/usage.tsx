// Shows the usage of a project and its limits as bars.
import { QUOTA_LIMIT_MAX } from "../../src/contract/limits.ts";
import type { UsageView } from "../../src/contract/tenancy.ts";
import { bytes } from "../core/text.ts";

const FULL_PERCENT = 90;

export function UsageBars({ usage: { limits, ...used } }: { readonly usage: UsageView }) {
  const count = (value: number) => value.toLocaleString("en");
  const rows = [
    ["vCPUs", used.cpu, limits.cpu_limit, count],
    ["Memory", used.memory_bytes, limits.memory_bytes, bytes],
    ["Disk", used.disk_bytes, limits.disk_bytes, bytes],
    ["Instances", used.instances, limits.instance_limit, count],
  ] as const;
  return (
    <div class="facts">
      {rows.map(([name, value, set, text]) => {
        const limit = set === QUOTA_LIMIT_MAX ? null : set;
        const percent = limit === null || limit === 0 ? 0 : Math.min(100, 100 * value / limit);
        return (
          <div key={name}>
            <span class="dim">{name}</span>
            <p>{limit === null ? `${text(value)}, no limit` : `${text(value)} of ${text(limit)}`}</p>
            {limit !== null && (
              <div class={percent >= FULL_PERCENT ? "bar bad" : "bar"}>
                <span style={{ width: `${percent}%` }} />
              </div>
            )}
          </div>
        );
      })}
    </div>
  );
}
