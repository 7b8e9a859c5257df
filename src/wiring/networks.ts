// Builds the network documents in this process. Answers the polls of nodes, stores their reports, and returns how far
// the nodes have applied the documents.
import { findApplied, findRealized } from "../../actors/realization/reads.ts";
import { CN_LIVE_S, UNDERLAY_MTU_DEFAULT } from "../contract/limits.ts";
import type { NetworkPollView } from "../contract/network-document.ts";
import type { NetworkPorts } from "../routes/deps.ts";
import type { Hints } from "../db/hints.ts";
import { createLookup } from "../db/lookup.ts";
import { createLongPolls } from "../db/long-polls.ts";
import { type CurrentNetwork, listVpcsOfNodes, readNetworks, type VpcOfNode } from "../db/network-content.ts";
import { createNetworkWatch, type Have } from "../db/network-watch.ts";
import type { TraceAnswer } from "../contract/network-trace.ts";
import {
  askTrace,
  endTrace,
  findTraceAnswers,
  listQuestions,
  pruneTraces,
  storeTraceAnswer,
} from "../db/network-traces.ts";
import { storeRuleCounts } from "../db/rule-counts.ts";
import { storeNicTags } from "../db/nic-tags.ts";
import { listHostlessGateways } from "../db/hostless-gateways.ts";
import { listCandidates, listFloatingNodes, listHomeless, listUnfit } from "../db/nat-gateway-hosts.ts";
import type { Db } from "../db/pool.ts";
import { releaseResting } from "../db/resting-addresses.ts";
import type { NatGatewayHostsOptions } from "../workers/nat-gateway-hosts.ts";
import type { Engine } from "../../actors/engine/engine.ts";
import { foldChanges, forgetDocuments, offerDocuments, storeReports, type Verdict } from "../db/realizations.ts";
import { documentFor, type DocumentSettings, hasPart, type NetworkContent } from "../lib/net/network-content.ts";

type Asked = { readonly server_uuid: string; readonly have: Have; readonly answers_traces: boolean };
type Current = { readonly vpc_id: string; readonly generation: number; readonly content: NetworkContent };

/** The maximum number of VPCs whose content one process keeps. The content takes about 1 kB for 4 NICs. */
const CONTENTS_MAX = 1_000;
/** Periodic work on the tables of network documents. */
export const NETWORK_MAINTENANCE = [foldChanges, pruneTraces] as const;
/** The kinds of actors whose commits change documents, or change the nodes that get documents. */
const KINDS = new Set([
  ...[
    "vpc",
    "subnet",
    "route",
    "firewall-rule",
    "nat-gateway",
    "port-forward",
    "floating-ip",
    "instance",
    "cn",
    "external-subnet",
  ],
]);

type Ports = {
  readonly db: Db;
  readonly hints: Pick<Hints, "hint" | "onHint">;
  readonly held_max: number;
  readonly report: (message: string, error: unknown) => void;
  /** Reads the settings that documents contain. */
  readonly settings: () => Promise<DocumentSettings>;
};

export function createNetworks({ db, hints, held_max, report, settings: readSettings }: Ports) {
  const watch = createNetworkWatch(db, () => performance.now());
  const polls = {
    networks: createLongPolls<string, { readonly changed: true }>({ sweep: watch.sweep, held_max, report }),
    realizations: createLongPolls<string, { readonly applied: true }>({
      sweep: (keys) => findApplied(db.kysely, keys),
      held_max,
      report,
    }),
    traces: createLongPolls<string, TraceAnswer>({ sweep: (ids) => findTraceAnswers(db, ids), held_max, report }),
  };
  hints.onHint((hint) => {
    if (hint === "all" || hint.some(({ kind }) => KINDS.has(kind))) polls.networks.nudge();
  });

  const cache = new Map<string, Current>();
  const vpcsOf = createLookup<readonly VpcOfNode[]>(async (nodes) =>
    Map.groupBy(await listVpcsOfNodes(db, nodes), ({ server_uuid }) => server_uuid)
  );
  const networkOf = createLookup<Current>(async (vpc_ids) => {
    const known = new Map(vpc_ids.map((id) => [id, cache.get(id)] as const));
    const asked = new Map(vpc_ids.map((id) => [id, known.get(id)?.generation ?? null] as const));
    const found = await readNetworks(db, asked, UNDERLAY_MTU_DEFAULT);
    return new Map(found.map((each) => [each.vpc_id, keep(each, known.get(each.vpc_id))]));
  });

  /** `known` is the cached network. If `content` is null, the cached content has not changed. */
  function keep({ vpc_id, generation, content }: CurrentNetwork, known: Current | undefined): Current {
    const current = content === null ? known : { vpc_id, generation, content };
    if (current === undefined) throw new Error(`no content of vpc ${vpc_id} is known`);
    cache.delete(vpc_id);
    cache.set(vpc_id, current);
    const [oldest] = cache.keys();
    if (cache.size > CONTENTS_MAX && oldest !== undefined) cache.delete(oldest);
    return current;
  }

  async function answer(asked: Asked, vpcs: readonly VpcOfNode[]): Promise<NetworkPollView> {
    const { server_uuid, have } = asked;
    const traces = asked.answers_traces ? await listQuestions(db, server_uuid) : [];
    const hosted = vpcs.filter(({ generation }) => generation !== null);
    const unoffered = hosted.filter(({ is_offered }) => !is_offered).map(({ vpc_id }) => vpc_id);
    // Creates the rows before the documents are read. Therefore, if a reader sees no row, the node has no document.
    if (unoffered.length > 0) await offerDocuments(db, server_uuid, unoffered);
    const found = await Promise.all(hosted.map(({ vpc_id }) => networkOf(vpc_id)));
    const current = found.filter((each) => each !== null && hasPart(server_uuid, each.content)) as Current[];
    const peers = current.flatMap(({ content }) => content.hosts).filter((host) => host.server_uuid !== server_uuid);
    const nodes = new Set(peers.flatMap(({ underlay_address }) => underlay_address ?? []));
    const listed = new Set(hosted.map(({ vpc_id }) => vpc_id));
    const newer = current.filter(({ vpc_id, generation }) => generation > (have[vpc_id] ?? -1));
    const settings = newer.length === 0 ? null : await readSettings();
    return {
      nodes: [...nodes].sort(),
      vpcs: settings === null ? [] : newer.map((each) => documentFor(server_uuid, each, settings)),
      gone: Object.keys(have).filter((vpc_id) => !listed.has(vpc_id)),
      ...(traces.length > 0 && { traces }),
    };
  }

  const judged = createLookup<Verdict>((reports) => storeReports(db, reports));

  const networks: NetworkPorts = {
    async begin(asked) {
      watch.note(asked.server_uuid, asked.have, asked.answers_traces);
      const vpcs = await vpcsOf(asked.server_uuid) ?? [];
      const ended = vpcs.filter(({ vpc_id, generation }) => generation === null && asked.have[vpc_id] === undefined);
      if (ended.length > 0) await forgetDocuments(db, asked.server_uuid, ended.map(({ vpc_id }) => vpc_id));
      return isNews(asked, vpcs) ? await answer(asked, vpcs) : null;
    },
    answer: async (asked) => await answer(asked, await vpcsOf(asked.server_uuid) ?? []),
    async report(given) {
      const verdict = await judged(JSON.stringify(given));
      if (verdict?.verdict === "stored") polls.realizations.nudge();
      return verdict!;
    },
    count: (server_uuid, counts) => storeRuleCounts(db, server_uuid, counts),
    async nicTags(server_uuid, tags) {
      if (await storeNicTags(db, server_uuid, tags)) hints.hint([{ kind: "cn", id: server_uuid }]);
    },
    async ask(server_uuid, question) {
      const is_asked = await askTrace(db, server_uuid, question);
      if (is_asked) hints.hint([{ kind: "cn", id: server_uuid }]);
      return is_asked;
    },
    unask: (trace_id) => endTrace(db, trace_id),
    async answerTrace(server_uuid, answer) {
      const is_stored = await storeTraceAnswer(db, server_uuid, answer);
      if (is_stored) polls.traces.answer(answer.trace_id, answer);
      return is_stored;
    },
    async nodesOf(vpc_id) {
      const current = await networkOf(vpc_id);
      if (current === null) return null;
      const { generation, content: { hosts, nics } } = current;
      return { generation, hosts, nics };
    },
    hostless: (subnet_id, address) => listHostlessGateways(db, { subnet_id, address, live_s: CN_LIVE_S }),
    isApplied: async (key) => (await findApplied(db.kysely, [key])).has(key),
    realized: (vpc_id) => findRealized(db.kysely, [vpc_id]).then((found) => found.get(vpc_id) ?? null),
  };
  return {
    deps: { networks, networkPolls: polls.networks, realizations: polls.realizations, traceAnswers: polls.traces },
    release: () => {
      for (const poll of Object.values(polls)) poll.close();
    },
  };
}

/** Returns the ports of the worker that chooses the nodes of NAT gateways. */
export function natGatewayPorts(db: Db, engine: Pick<Engine, "send">): Omit<NatGatewayHostsOptions, "ports"> {
  return {
    unfit: (live_s, rows_max) => listUnfit(db, live_s, rows_max),
    homeless: (fence_s, part) => listHomeless(db, fence_s, part),
    candidates: (live_s, nic_tags) => listCandidates(db, live_s, nic_tags),
    floating: (id) => listFloatingNodes(db, id),
    send: (id, message) => engine.send({ kind: "nat-gateway", id }, message),
    releaseAddresses: (fence_s, rows_max) => releaseResting(db, fence_s, rows_max),
  };
}

function isNews({ have }: Asked, vpcs: readonly VpcOfNode[]): boolean {
  const hosted = new Map(vpcs.map(({ vpc_id, generation }) => [vpc_id, generation]));
  return Object.keys(have).some((vpc_id) => (hosted.get(vpc_id) ?? null) === null) ||
    vpcs.some(({ vpc_id, generation }) => generation !== null && generation > (have[vpc_id] ?? -1));
}
