import { INSTANCE_STATES, type InstanceState } from "../../../src/contract/enums.ts";
import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Column } from "../../internal/table.ts";
import { resolveImage } from "../image/image.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { projectScope } from "../scope.ts";
import { addressesOf } from "./address.ts";
import { hostTrouble, INSTANCE } from "./instance.ts";

export function list(): AnyCommand {
  return command("list", "List the instances of a project, or of an image", "--state running")
    .option("--image <image>", `only instances of this image: ${NAME_HELP}`)
    .addOption(option("--state <state>", "only instances in this state").choices(INSTANCE_STATES).argParser(parseState))
    .action(withIo(async (io, { image, state }) => {
      const scope = {
        ...await projectScope(io),
        image: image === undefined ? undefined : await resolveImage(io, image),
      };
      const items = await io.all<Instance>(INSTANCE.path, { ...scope, state });
      io.table({ items }, items, await columnsFor(io, items), "(no instances)");
      noteTrouble(io, items);
    }));
}

/** Parses a state in any case. */
function parseState(text: string): InstanceState {
  const state = INSTANCE_STATES.find((each) => each === text.toLowerCase());
  if (state === undefined) throw usageFailure(`--state must be one of ${INSTANCE_STATES.join(", ")}, not ${text}`);
  return state;
}

async function columnsFor(io: TenantIo, items: readonly Instance[]): Promise<readonly Column<Instance>[]> {
  if (io.flags.output !== "wide") return INSTANCE.columns;
  const addresses = await addressesOf(io, items);
  return [
    ...INSTANCE.columns,
    ["ADDRESSES", ({ id }) => addresses.get(id)?.join(",")],
    ["HOST", (instance) => hostText(instance)],
  ];
}

function hostText(instance: Instance): string | null {
  const trouble = hostTrouble(instance);
  return trouble === null ? instance.host_cn_uuid : `${instance.host_cn_uuid} (${trouble})`;
}

function noteTrouble(io: TenantIo, items: readonly Instance[]): void {
  if (io.json || io.flags.output === "wide") return;
  const stale = items.filter((instance) => hostTrouble(instance) !== null).length;
  if (stale === 0) return;
  const what = stale === 1 ? "1 instance" : `${stale} instances`;
  io.note(
    `The state of ${what} may be out of date: the node sends no heartbeat or does not report the instance; ` +
      "-o wide shows the node",
  );
}
