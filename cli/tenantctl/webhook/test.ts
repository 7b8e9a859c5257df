// Sends a test event, and waits for the first attempt to deliver the event.
import type { WebhookDelivery } from "../../../src/contract/webhook.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { pause } from "../../internal/api.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveRecord } from "../record/scope.ts";
import { deliveryLines, WEBHOOK } from "./webhook.ts";

/**
 * How long to wait for the attempt: a receiver has 10 s to answer, and earlier events of the webhook are sent first.
 */
const LIMIT_MS = 60_000;
const LOOK_MS = 500;

export function test(): AnyCommand {
  return command("test", "Send a test event, and wait for the answer of the receiver", "chat")
    .argument("<webhook>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const { environment } = io;
      const end_ms = environment.monotonicMs() + LIMIT_MS;
      const path = `${WEBHOOK.path}/${await resolveRecord(io, WEBHOOK, { name })}`;
      let delivery = await io.post<WebhookDelivery>(`${path}/test`);
      while (delivery.attempts === 0) {
        if (environment.monotonicMs() >= end_ms) {
          const list = `tenantctl webhook deliveries ${name}`;
          throw new Failure(
            `the test event still waits for other events; to see them, run: ${list}`,
            EXIT.wait_timeout,
          );
        }
        await pause(environment, LOOK_MS);
        delivery = await io.get<WebhookDelivery>(`${path}/deliveries/${delivery.id}`);
      }
      io.print(delivery, blockText(deliveryLines(delivery)));
      if (delivery.last_reason !== null) {
        throw new Failure(
          `the receiver did not accept the event: ${delivery.last_reason}`,
          EXIT.failure,
        );
      }
    }));
}
