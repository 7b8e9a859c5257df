// Parses the additional NICs of a new instance (--nic).
import type { ExtraNic } from "../../../src/contract/instance.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { TenantIo } from "../open-io.ts";
import { resolveRecord } from "../record/scope.ts";
import { SUBNET } from "../subnet/subnet.ts";

export type NicFlag = { readonly subnet: string; readonly name: string };

/** Parses SUBNET or SUBNET:NAME, split at the last colon. The default name is `nic` followed by `ordinal`. */
export function parseNicFlag(text: string, ordinal: number): NicFlag {
  const at = text.lastIndexOf(":");
  const [subnet, name] = at < 0 ? [text, `nic${ordinal}`] : [text.slice(0, at), text.slice(at + 1)];
  if (subnet === "" || name === "") throw usageFailure(`--nic must be SUBNET or SUBNET:NAME, not ${text}`);
  return { subnet, name };
}

export async function extraNics(
  io: TenantIo,
  wanted: readonly NicFlag[],
  vpc: string | undefined,
): Promise<ExtraNic[]> {
  const nics: ExtraNic[] = [];
  for (const { subnet, name } of wanted) {
    nics.push({ subnet_id: await resolveRecord(io, SUBNET, { name: subnet, vpc }), name });
  }
  return nics;
}
