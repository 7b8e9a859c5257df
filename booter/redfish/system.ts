// Finds the computer system on a BMC. A BMC can have several: an NVIDIA GB200 or DGX shows its board of GPUs as a
// second system.
import type { Bmc } from "./bmc.ts";
import { BmcFault } from "./fault.ts";
import { linkOf } from "./messages.ts";

export type System = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };

/**
 * Returns the system whose UUID, name, id or path is `wanted`. If `wanted` is null, returns the BMC's only system.
 * @throws BmcFault with a list of the systems if there is not exactly one
 */
export async function systemOf(bmc: Bmc, wanted: string | null): Promise<System> {
  const root = await bmc.get("/redfish/v1/");
  const { body } = await bmc.get(linkOf(root.body.Systems) ?? "/redfish/v1/Systems");
  const paths = (Array.isArray(body.Members) ? body.Members : []).flatMap((each) => linkOf(each) ?? []);
  if (paths.length === 0) throw new BmcFault("the BMC has 0 systems");
  if (paths.length === 1 && wanted === null) return { path: paths[0]!, body: (await bmc.get(paths[0]!)).body };
  const systems: System[] = [];
  for (const path of paths) {
    // A member that the BMC lists but does not serve can still be chosen by its path or id.
    const body = await bmc.get(path).then((answer) => answer.body, (error) => {
      if (error instanceof BmcFault && error.status !== null) return {};
      throw error;
    });
    systems.push({ path, body });
  }
  const found = wanted === null ? [] : systems.filter((each) => namesOf(each).includes(wanted.toLowerCase()));
  if (found.length === 1) return found[0]!;
  const list = systems.map((each) => described(each)).join("; ");
  const count = `the BMC has ${systems.length} ${systems.length === 1 ? "system" : "systems"}`;
  if (wanted === null) throw new BmcFault(`${count}; choose one with --system: ${list}`);
  throw new BmcFault(`${count}; --system ${wanted} fits ${found.length === 0 ? "none" : "several"} of them: ${list}`);
}

function namesOf({ path, body: { Id, Name, UUID } }: System): string[] {
  return [path, path.split("/").findLast((part) => part !== ""), Id, Name, UUID].flatMap((each) =>
    typeof each === "string" ? each.toLowerCase() : []
  );
}

function described({ path, body: { Name, UUID } }: System): string {
  const more = [Name, UUID].filter((each) => typeof each === "string" && each !== "");
  return more.length === 0 ? path : `${path} (${more.join(", ")})`;
}
