import type { Webhook, WebhookPatch } from "../../../src/contract/webhook.ts";
import { type AnyCommand, command, each, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
import { DESCRIPTION_OPTION, NAME_OPTION } from "../../internal/named-patch.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { linesOf } from "../record/kind.ts";
import { NAME_HELP, resolveRecord } from "../record/scope.ts";
import { EVENT_HELP } from "./create.ts";
import { WEBHOOK } from "./webhook.ts";

export function update(): AnyCommand {
  return command("update", "Change, enable or disable a webhook", "chat --disable")
    .argument("<webhook>", NAME_HELP)
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .option("--url <url>", "http or https URL that gets the events with POST")
    .option("--event <action>", `${EVENT_HELP}; replaces the whole list`, each)
    .addOption(option("--all-events", "send all events").conflicts("event"))
    .option("--enable", "send the waiting deliveries, and events from now on")
    .addOption(option("--disable", "send nothing").conflicts("enable"))
    .option(...LABEL_OPTION)
    .option(...REMOVE_LABEL_OPTION)
    .action(withIo(async (io, webhook, options) => {
      const { name, description, url, event, allEvents, enable, disable } = options;
      const body: WebhookPatch = {
        name,
        description,
        url,
        events: allEvents === true ? [] : event === undefined ? undefined : [...event],
        enabled: enable === true ? true : disable === true ? false : undefined,
        labels: labelsPatch(options),
      };
      if (Object.values(body).every((value) => value === undefined)) {
        throw usageFailure("there is nothing to change; pass at least one option");
      }
      const id = await resolveRecord(io, WEBHOOK, { name: webhook });
      const changed = await io.send<Webhook>({ method: "PATCH", path: `${WEBHOOK.path}/${id}`, body });
      io.print(changed, blockText(linesOf(WEBHOOK, changed)));
    }));
}
