import type { BootRecord } from "../../../src/contract/boot.ts";
import type { BootDiagnosis, CnDiagnosis, Finding } from "../../../src/contract/node-diagnosis.ts";
import { canonicalMac } from "../../../src/lib/net/mac.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { NODES_PATH, nodeTitle, resolveNode } from "../node-name.ts";
import { recordPath } from "./boot/record.ts";

export function doctor(): AnyCommand {
  return command("doctor", "Show why a node is not usable, and what to do; exit code 1 if it is not usable", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname; or a MAC of the machine")
    .action(withIo(async (io, name) => {
      const diagnosis = await diagnose(io, name);
      const { usable, findings } = diagnosis;
      io.print(diagnosis, diagnosisText(titleOf(diagnosis), findings, usable));
      const count = findings.filter(({ level }) => level === "stops").length;
      if (!usable) throw new Failure(`not usable: ${count} problem${count === 1 ? "" : "s"}`, EXIT.failure);
    }));
}

async function diagnose(io: Io, name: string): Promise<CnDiagnosis | BootDiagnosis> {
  const mac = canonicalMac(name);
  const record = mac === null ? null : await findRecord(io, mac);
  if (record !== null && record.server_uuid === null) {
    return await io.get<BootDiagnosis>(`${recordPath(record.mac)}/doctor`);
  }
  const server_uuid = await resolveNode(io, record?.server_uuid ?? name).catch((error) => {
    if (mac === null || record !== null || !isMissing(error)) throw error;
    throw new Failure(`no booter has seen ${mac}, and no compute node has this name`, EXIT.not_found);
  });
  return await io.get<CnDiagnosis>(`${NODES_PATH}/${server_uuid}/doctor`);
}

/** Finds the boot record with this MAC. Returns null if no record has it: a hostname may look like a MAC. */
async function findRecord(io: Io, mac: string): Promise<BootRecord | null> {
  try {
    return await io.get<BootRecord>(recordPath(mac));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Failure && error.exit_code === EXIT.not_found;
}

function titleOf(diagnosis: CnDiagnosis | BootDiagnosis): string {
  const name = "mac" in diagnosis ? `Boot record ${plainText(diagnosis.mac)}` : nodeTitle(diagnosis);
  return `${name}, ${diagnosis.state},`;
}

function diagnosisText(title: string, findings: readonly Finding[], usable: boolean): string {
  const head = `${title} ${usable ? "is usable" : "is not usable"}`;
  const lines = findings.flatMap(({ level, text, mend }) => [
    "",
    `${level === "stops" ? "STOPS" : "warns"}  ${plainText(text)}`,
    ...(mend === null ? [] : [`       -> ${plainText(mend)}`]),
  ]);
  return [head, ...lines].join("\n");
}
