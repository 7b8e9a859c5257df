// Shows an instance of any tenant with its NICs, its disks and its newest events.
import { describedInstance } from "../../internal/described-instance.ts";
import type { DescribedNoun } from "../../internal/describe.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { findInstance, findNamedInstance, INSTANCE_ARGUMENT, instanceText } from "./instance.ts";

export const DESCRIBED_INSTANCE: DescribedNoun<Io> = {
  noun: "an instance",
  argument: INSTANCE_ARGUMENT,
  example: "web1",
  withIo,
  resolve: async (io, name) => ({ scope: "instance", id: (await findInstance(io, name)).id }),
  describe: async (io, name) => {
    const instance = await findNamedInstance(io, name);
    return await describedInstance(io, instance, instanceText(instance));
  },
};
