import type { WebhookBody, WebhookCreated } from "../../../src/contract/webhook.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { linesOf } from "../record/kind.ts";
import { needProject, projectScope } from "../scope.ts";
import { WEBHOOK } from "./webhook.ts";

export const EVENT_HELP = "action whose events are sent, such as instance_create or instance_*; may be repeated";

export function create(): AnyCommand {
  return command(
    "create",
    "Send events of a project to a URL",
    "--name chat --url https://hooks.example.org/berth --event 'instance_*'",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the project")
    .requiredOption("--url <url>", "http or https URL that gets the events with POST")
    .option("--description <text>", "free-form description")
    .option("--event <action>", `${EVENT_HELP}; by default all`, each)
    .option(...LABEL_OPTION)
    .option("--disabled", "send nothing until the webhook is enabled")
    .action(withIo(async (io, { name, url, description, event, label, disabled }) => {
      io.needSecretShown();
      await needProject(io, "create a webhook");
      const body: Partial<WebhookBody> = {
        name,
        url,
        description,
        events: event === undefined ? undefined : [...event],
        labels: label === undefined ? undefined : parseLabels(label),
        enabled: disabled === true ? false : undefined,
      };
      const query = await projectScope(io);
      const webhook = await io.send<WebhookCreated>({ method: "POST", path: WEBHOOK.path, query, body });
      io.print(webhook, blockText([...linesOf(WEBHOOK, webhook), ["secret", webhook.secret]]));
      io.note("Save the secret now: it is not shown again. The receiver needs it to verify signatures.");
    }));
}
