import type { WebhookDelivery } from "../../../src/contract/webhook.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, reworded } from "../../internal/failure.ts";
import { isUuid, noRecord, pickRecord, type RecordKind } from "../../internal/record-name.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveRecord } from "../record/scope.ts";
import { deliveryLines, WEBHOOK } from "./webhook.ts";

function deliveryOf(webhook: string): RecordKind<WebhookDelivery> {
  return {
    one: "delivery",
    many: "deliveries",
    list: `tenantctl webhook deliveries ${webhook}`,
    id: ({ id }) => id,
    title: ({ type }) => type,
  };
}

export function redeliver(): AnyCommand {
  return command("redeliver", "Send a delivery again, with the same id", "chat 0198f3a0-1c00-4a10-8a00-000000000001")
    .argument("<webhook>", NAME_HELP)
    .argument("<delivery>", "UUID or unique UUID prefix of the delivery")
    .action(withIo(async (io, name, delivery) => {
      const id = await resolveRecord(io, WEBHOOK, { name });
      const path = `${WEBHOOK.path}/${id}/deliveries`;
      const kind = deliveryOf(name);
      const delivery_id = isUuid(delivery)
        ? delivery
        : pickRecord(await io.all<WebhookDelivery>(path), delivery, kind).id;
      const queued = await io.post<WebhookDelivery>(`${path}/${delivery_id}/redeliver`).catch((error) => {
        // A complete UUID and a prefix get the same error text if no delivery matches.
        const is_missing = error instanceof Failure && error.exit_code === EXIT.not_found;
        throw is_missing ? reworded(error, noRecord(delivery, kind).message) : error;
      });
      io.print(queued, blockText(deliveryLines(queued)));
    }));
}
