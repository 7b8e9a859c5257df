// Further NICs of a new instance, as --nic writes them.
import type { ExtraNic } from "../../../src/contract/instance.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { TenantIo } from "../open-io.ts";
import { resolveRecord } from "../record/scope.ts";
import { SUBNET } from "../subnet/subnet.ts";

export type NicWords = { readonly subnet: string; readonly name: string };

/** SUBNET or SUBNET:NAME, of which the last colon counts; without a name nic1, nic2, as they stand. */
export function nicWords(text: string, ordinal: number): NicWords {
  const at = text.lastIndexOf(":");
  const [subnet, name] = at < 0 ? [text, `nic${ordinal}`] : [text.slice(0, at), text.slice(at + 1)];
  if (subnet === "" || name === "") throw usageFailure(`--nic is SUBNET or SUBNET:NAME, not ${text}`);
  return { subnet, name };
}

export async function extraNics(
  io: TenantIo,
  wanted: readonly NicWords[],
  vpc: string | undefined,
): Promise<ExtraNic[]> {
  const nics: ExtraNic[] = [];
  for (const { subnet, name } of wanted) {
    nics.push({ subnet_id: await resolveRecord(io, SUBNET, { name: subnet, vpc }), name });
  }
  return nics;
}
