import type { AutoApproveWindow } from "../../../../src/contract/cn.ts";
import { blockText } from "../../../internal/table.ts";

export const WINDOW_PATH = "/v1/cn-auto-approve";

export function windowText(window: AutoApproveWindow): string {
  return blockText([
    ["opened_at", window.opened_at],
    ["expires_at", window.expires_at],
    ["remaining_count", window.remaining_count ?? "(unlimited)"],
    ["opened_by", window.opened_by],
  ]);
}
