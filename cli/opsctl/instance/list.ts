import { INSTANCE_STATES } from "../../../src/contract/enums.ts";
import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, listCommand, oneOf } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { resolveNode } from "../node-name.ts";
import { resolveTenant } from "../tenant/tenant.ts";
import { INSTANCE_COLUMNS, SYSTEM_INSTANCES_PATH } from "./instance.ts";

export function list(): AnyCommand {
  return listCommand("list", "List the instances of all tenants", "web --state running --host cn-17")
    .argument("[text]", "only instances with this text in the name, the UUID or an address")
    .addOption(oneOf("--state <state>", "only instances in this state", INSTANCE_STATES))
    .option("--tenant <tenant>", "only instances of this tenant: name, SILO/NAME or UUID")
    .option("--host <node>", "only instances on this node: UUID, unique UUID prefix or hostname")
    .option("--image <uuid>", "only instances of this image")
    .action(withIo(async (io, text, { state, tenant, host, image }) => {
      const items = await io.all<Instance>(SYSTEM_INSTANCES_PATH, {
        q: text,
        state,
        image,
        tenant: tenant === undefined ? undefined : await resolveTenant(io, tenant),
        cn: host === undefined ? undefined : await resolveNode(io, host),
      });
      io.table({ items }, items, INSTANCE_COLUMNS, "(no instances)");
    }));
}
