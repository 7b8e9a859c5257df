import type { BootPolicy, StagedImage } from "../../../../../src/contract/boot.ts";
import { type AnyCommand, command, each, oneOf } from "../../../../framework.ts";
import { usageFailure } from "../../../../internal/failure.ts";
import type { Io } from "../../../../internal/io.ts";
import { withIo } from "../../../../internal/run.ts";
import { STAGED_PATH } from "../../../pi/list.ts";
import { changePolicy, policyText } from "./policy.ts";

export function set(): AnyCommand {
  return command("set", "Change fields of the boot policy; omitted fields do not change", "--auto-enroll true")
    .option("--enrollment-pi <stamp>", "platform image of enrolments (opsctl pi list)")
    .addOption(oneOf("--auto-enroll <boolean>", "whether machines may enrol without authorization", ["true", "false"]))
    .option(
      "--enrollment-kernel-arg <argument>",
      'extra kernel argument of enrolments; may be repeated; replaces the whole list; "" clears the list',
      each,
    )
    .action(withIo(async (io, { enrollmentPi, autoEnroll, enrollmentKernelArg }) => {
      const change: Partial<BootPolicy> = {
        ...(enrollmentPi === undefined ? {} : { enrollment_pi: enrollmentPi }),
        ...(autoEnroll === undefined ? {} : { auto_enroll: autoEnroll === "true" }),
        ...(enrollmentKernelArg === undefined
          ? {}
          : { enrollment_kernel_args: enrollmentKernelArg.filter((argument) => argument !== "") }),
      };
      if (Object.keys(change).length === 0) throw usageFailure("there is nothing to set; pass at least one option");
      const policy = await changePolicy(io, () => change);
      io.print(policy, policyText(policy));
      if (enrollmentPi !== undefined) await noteUnstaged(io, enrollmentPi);
    }));
}

/** Warns about an image that no booter has: a booter without the image refuses to serve enrolments. */
async function noteUnstaged(io: Io, stamp: string): Promise<void> {
  const staged = await io.all<StagedImage>(STAGED_PATH);
  if (staged.some((image) => image.stamp === stamp)) return;
  io.note(`note: ${stamp} is not staged on any booter; machines cannot enrol until a booter has staged it`);
}
