// Runs the packaged opsctl on this machine, as an operator does.
import { opsctl } from "./control-plane.ts";
import { check } from "./report.ts";

/** Runs opsctl, which must succeed, and returns its output. */
export async function operate(...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await opsctl(argv);
  if (code !== 0) throw new Error(`opsctl ${argv.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** Runs opsctl and returns the JSON that it prints. */
export async function operateJson(...argv: readonly string[]) {
  return JSON.parse(await operate(...argv, "-o", "json"));
}

/** Checks that opsctl ends with 0. */
export async function checkOpsctl(claim: string, ...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await opsctl(argv);
  check(claim, code === 0, `${stdout}${stderr}`);
  return stdout;
}
