// Formats the explanation of a placement as text: one line per node with its rejections, or one node in full.
import type { FilterResult, NodeReport, PlacementExplanation, ScorerResult } from "../../../src/contract/placement.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { type Column, tableText } from "../../internal/table.ts";

const NODES: readonly Column<NodeReport>[] = [
  ["HOSTNAME", (node) => node.hostname],
  ["SERVER_UUID", (node) => node.server_uuid],
  ["SCORE", (node) => node.total_score?.toFixed(3)],
  ["REJECTED_BY", (node) => rejections(node).map(({ filter_name, reason }) => `${filter_name}: ${reason}`).join("; ")],
];

const FILTERS: readonly Column<FilterResult>[] = [
  ["FILTER", (result) => result.filter_name],
  ["VERDICT", (result) => result.verdict],
  ["REASON", (result) => result.reason],
];

const SCORES: readonly Column<ScorerResult>[] = [
  ["SCORER", (result) => result.name],
  ["RAW", (result) => result.raw.toFixed(3)],
  ["WEIGHT", (result) => result.weight],
  ["CONTRIBUTION", (result) => result.contribution.toFixed(3)],
];

export function explanationText(explanation: PlacementExplanation): string {
  if (explanation.per_cn.length === 0) return "No approved compute node";
  const chosen = explanation.per_cn.find(({ server_uuid }) => server_uuid === explanation.chosen);
  const verdict = chosen === undefined
    ? `None of the ${explanation.per_cn.length} approved nodes can take it`
    : `Would be placed on ${titleOf(chosen)}, by profile ${plainText(explanation.profile)}`;
  return `${verdict}\n\n${tableText(NODES, explanation.per_cn)}`;
}

export function nodeText(explanation: PlacementExplanation, server_uuid: string): string {
  const node = explanation.per_cn.find((each) => each.server_uuid === server_uuid);
  if (node === undefined) throw new Failure(`compute node ${server_uuid} is not approved`, EXIT.failure);
  const verdict = node.accepted
    ? `${titleOf(node)}: ${node.total_score?.toFixed(3)} points`
    : `${titleOf(node)}: rejected`;
  const scores = node.accepted ? `\n\n${tableText(SCORES, node.scorer_results)}` : "";
  return `${verdict}\n\n${tableText(FILTERS, node.filter_results)}${scores}`;
}

function rejections({ filter_results }: NodeReport): FilterResult[] {
  return filter_results.filter(({ verdict }) => verdict === "reject");
}

function titleOf({ hostname, server_uuid }: NodeReport): string {
  return `${plainText(hostname)} (${plainText(server_uuid)})`;
}
