import { INSTANCE_STATES, type InstanceState } from "../../../src/contract/enums.ts";
import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, listCommand, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { resolveImage } from "../image/image.ts";
import { LABEL_FILTER_OPTION, labelFilter, labelText } from "../../internal/labels.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { givenScope, projectScope } from "../scope.ts";
import { addressesOf } from "./address.ts";
import { hostTrouble, INSTANCE } from "./instance.ts";

export function list(): AnyCommand {
  return listCommand("list", "List the instances of a project, or of an image", "--state running")
    .option("--image <image>", `only instances of this image: ${NAME_HELP}`)
    .addOption(option("--state <state>", "only instances in this state").choices(INSTANCE_STATES).argParser(parseState))
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { image, state, label }) => {
      const scope = {
        // An image may have instances in several projects, so a list by image needs no project.
        ...await (image === undefined ? projectScope(io) : givenScope(io)),
        image: image === undefined ? undefined : await resolveImage(io, image),
      };
      const items = await io.all<Instance>(INSTANCE.path, { ...scope, state, label: labelFilter(label) });
      io.table({ items }, items, await columnsFor(io, items), "(no instances)");
      noteTrouble(io, items);
    }));
}

/** Parses a state in upper or lower case. */
function parseState(text: string): InstanceState {
  const state = INSTANCE_STATES.find((each) => each === text.toLowerCase());
  if (state === undefined) throw usageFailure(`--state must be one of ${INSTANCE_STATES.join(", ")}, not ${text}`);
  return state;
}

async function columnsFor(io: TenantIo, items: readonly Instance[]): Promise<readonly Column<Instance>[]> {
  if (io.is_data) return INSTANCE.columns;
  const addresses = await addressesOf(io, items);
  const [name, id, state, ...rest] = INSTANCE.columns;
  return [
    name!,
    id!,
    state!,
    ["ADDRESSES", (instance) => addresses.get(instance.id)?.join(",")],
    ...rest,
    ["HOST", (instance) => instance.host_cn_uuid, ID_COLUMN],
    ["HOST_PROBLEM", hostTrouble, WIDE_COLUMN],
    ["LABELS", (instance) => labelText(instance.labels), WIDE_COLUMN],
  ];
}

function noteTrouble(io: TenantIo, items: readonly Instance[]): void {
  if (io.format !== "table") return;
  const stale = items.filter((instance) => hostTrouble(instance) !== null).length;
  if (stale === 0) return;
  const what = stale === 1 ? "1 instance" : `${stale} instances`;
  io.note(
    `The state of ${what} may be out of date: the node sends no heartbeat or does not report the instance; ` +
      "-o wide shows the node",
  );
}
