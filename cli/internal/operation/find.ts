import { resolveId } from "../found-id.ts";
import type { Io } from "../io.ts";

/** Finds an operation by its UUID or a unique prefix of the UUID, and returns the UUID. */
export async function resolveOperation(io: Io, text: string): Promise<string> {
  const list = `${io.program} operation list`;
  return await resolveId(io, text, { kind: "operation", one: "operation", many: "operations", list });
}

/** The help of the argument that names an operation. */
export function operationHelp(program: Io["program"]): string {
  return `UUID or unique UUID prefix (${program} operation list)`;
}
