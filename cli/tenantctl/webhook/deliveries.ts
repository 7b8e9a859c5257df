import type { Page } from "../../../src/contract/common.ts";
import { WEBHOOK_DELIVERY_STATES } from "../../../src/contract/enums.ts";
import type { WebhookDelivery } from "../../../src/contract/webhook.ts";
import { type AnyCommand, listCommand, option, wholeNumber } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveRecord } from "../record/scope.ts";
import { DELIVERY_COLUMNS, WEBHOOK } from "./webhook.ts";

const ROWS_DEFAULT = 50;

export function deliveries(): AnyCommand {
  return listCommand("deliveries", "List the deliveries of a webhook, newest first", "chat --state dead")
    .argument("<webhook>", NAME_HELP)
    .addOption(option("--state <state>", "only deliveries in this state").choices(WEBHOOK_DELIVERY_STATES))
    .option("--limit <count>", `maximum number of deliveries to list (default ${ROWS_DEFAULT})`, wholeNumber(1))
    .action(withIo(async (io, name, { state, limit = ROWS_DEFAULT }) => {
      const id = await resolveRecord(io, WEBHOOK, { name });
      const path = `${WEBHOOK.path}/${id}/deliveries`;
      const page = await io.get<Page<WebhookDelivery>>(path, { state, limit });
      io.table(page, page.items, DELIVERY_COLUMNS, "(no deliveries)");
      if (page.next_page !== undefined) io.note("There are earlier deliveries; raise --limit to see them");
    }));
}
