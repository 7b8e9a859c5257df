// Shows an instance with its NICs, its disks and its newest events.
import type { Instance } from "../../../src/contract/instance.ts";
import { describedInstance } from "../../internal/described-instance.ts";
import type { DescribedNoun } from "../../internal/describe.ts";
import { blockText } from "../../internal/table.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

export const DESCRIBED_INSTANCE: DescribedNoun<TenantIo> = {
  noun: "an instance",
  argument: ["<instance>", NAME_HELP],
  example: "web1",
  withIo,
  resolve: async (io, name) => ({ scope: "instance", id: await resolveInstance(io, name) }),
  describe: async (io, name) => {
    const instance = await io.get<Instance>(`${INSTANCE.path}/${await resolveInstance(io, name)}`);
    return await describedInstance(io, instance, blockText(INSTANCE.lines(instance)));
  },
};
