import type { Instance, InstancePatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { usageFailure } from "../../internal/failure.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

export function resize(): AnyCommand {
  return command("resize", "Change the vCPUs and the memory of a stopped instance", "web1 --cpu 4 --memory 8GiB")
    .argument("<instance>", NAME_HELP)
    .option("--cpu <number>", "virtual CPUs", wholeNumber(0))
    .option(
      "--memory, --memory-bytes <size>",
      "memory: bytes, or a size such as 4GiB",
      (text: string) => parseByteSize(text, "--memory"),
    )
    .action(withIo(async (io, name, { cpu, memoryBytes: memory_bytes }) => {
      if (cpu === undefined && memory_bytes === undefined) {
        throw usageFailure("there is nothing to change; pass --cpu, --memory or both");
      }
      const body: InstancePatch = { cpu, memory_bytes };
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const instance = await io.send<Instance>({ method: "PATCH", path, body });
      io.print(instance, `${blockText(INSTANCE.lines(instance))}\nThe next start applies the new size.`);
    }));
}
