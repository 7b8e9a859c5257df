// Runs index-builder in the process of a test, with recorded responses of vendors.
import { runIndexBuilder } from "../../index-builder/program.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { webFolder } from "./recorded-vendor.ts";

/** Runs index-builder in this process. Returns its exit code and output. */
export async function index(...argv: string[]) {
  const { environment, out, err } = fakeEnvironment();
  return { code: await runIndexBuilder(argv, environment), output: `${out()}${err()}`.trimEnd() };
}

/** The options that read the recorded responses of Debian. */
export const T0 = ["--recorded", webFolder("t0"), "--vendor", "debian"];
