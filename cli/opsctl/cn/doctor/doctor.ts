import type { BootRecord } from "../../../../src/contract/boot.ts";
import { canonicalMac } from "../../../../src/lib/net/mac.ts";
import { type AnyCommand, command } from "../../../framework.ts";
import { EXIT } from "../../../internal/exit-code.ts";
import { Failure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { findNode, nodeTitle } from "../../node-name.ts";
import { recordPath } from "../boot/record.ts";
import { enrollingFindings, enrolmentFindings } from "./boot-findings.ts";
import { nodeFacts, siteFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { nodeFindings } from "./node-findings.ts";

type Diagnosis = { readonly about: object; readonly title: string; readonly findings: readonly Finding[] };

export function doctor(): AnyCommand {
  return command("doctor", "Show why a node is not usable, and what to do; exit code 1 if it is not", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname; a MAC for a machine that has not announced itself")
    .action(withIo(async (io, name) => {
      const { about, title, findings } = await diagnose(io, name);
      const count = findings.filter(({ level }) => level === "stops").length;
      const usable = count === 0;
      io.print({ ...about, usable, findings }, diagnosisText(title, findings, usable));
      if (!usable) throw new Failure(`not usable: ${count} problem${count === 1 ? "" : "s"}`, EXIT.failure);
    }));
}

async function diagnose(io: Io, name: string): Promise<Diagnosis> {
  const mac = canonicalMac(name);
  const record = mac === null ? null : await findRecord(io, mac);
  if (record !== null && record.server_uuid === null) return await diagnoseRecord(io, record);
  const node = await findNode(io, record?.server_uuid ?? name).catch((error) => {
    if (mac === null || record !== null || !isMissing(error)) throw error;
    throw new Failure(`no booter has seen ${mac}, and no compute node has this name`, EXIT.not_found);
  });
  const { server_uuid, hostname, state } = node;
  return {
    about: { server_uuid, hostname, state },
    title: `${nodeTitle(node)}, ${state},`,
    findings: nodeFindings(await nodeFacts(io, node)),
  };
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

async function diagnoseRecord(io: Io, record: BootRecord): Promise<Diagnosis> {
  const site = await siteFacts(io);
  const { mac, state } = record;
  const not_set_up: Finding = {
    level: "stops",
    text: "no node is bound to this port: the machine has not been set up",
    mend: "boot the machine; after it has announced itself, opsctl cn list shows it",
  };
  return {
    about: { mac, state },
    title: `Boot record ${plainText(mac)}, ${state},`,
    findings: [...enrollingFindings(record, site), ...enrolmentFindings(site), not_set_up],
  };
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
