// Defines the queries of the pages of one node. Pages of other objects use some of them, too.
import type { StagedImage } from "../../src/contract/boot.ts";
import type { CnPlacement } from "../../src/contract/cn-placement.ts";
import type { CnView } from "../../src/contract/cn.ts";
import type { Page } from "../../src/contract/common.ts";
import type { PlacedInstance } from "../../src/contract/instance.ts";
import type { Job } from "../../src/contract/job.ts";
import type { CnDiagnosis } from "../../src/contract/node-diagnosis.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import type { LayoutProposal } from "../../src/contract/setup.ts";
import { get, getAll } from "../core/client.ts";
import type { Query } from "../core/store.ts";
import { NODES_FRESH_MS } from "./node-rows.ts";

/** The platform images that booters have staged. */
export const stagedImagesQuery: Query<StagedImage[]> = {
  key: "platform images",
  kinds: ["staging"],
  read: (signal) => getAll<StagedImage>("/v2/platform-images", {}, signal),
};

export function nodeQuery(id: string): Query<CnView> {
  return {
    key: `node ${id}`,
    kinds: ["cn"],
    fresh_ms: NODES_FRESH_MS,
    read: (signal) => get<CnView>(`/v1/system/cns/${id}`, undefined, signal),
  };
}

export function diagnosisQuery(id: string): Query<CnDiagnosis> {
  return {
    key: `node ${id} diagnosis`,
    kinds: ["cn", "saga", "job"],
    fresh_ms: NODES_FRESH_MS,
    read: (signal) => get<CnDiagnosis>(`/v1/system/cns/${id}/doctor`, undefined, signal),
  };
}

export function placementQuery(id: string): Query<CnPlacement> {
  return {
    key: `node ${id} placement`,
    kinds: ["cn"],
    read: (signal) => get<CnPlacement>(`/v1/cns/${id}/placement`, undefined, signal),
  };
}

export function nodeInstancesQuery(id: string): Query<PlacedInstance[]> {
  return {
    key: `node ${id} instances`,
    kinds: ["instance", "cn"],
    read: (signal) => getAll<PlacedInstance>(`/v1/system/cns/${id}/instances`, {}, signal),
  };
}

/** The page of an object reads at most this number of its newest jobs, and the same number of its newest operations. */
export const NEWEST = 100;

export function nodeJobsQuery(id: string): Query<Job[]> {
  return {
    key: `node ${id} jobs`,
    kinds: ["job"],
    read: async (signal) => (await get<Page<Job>>("/v1/system/jobs", { cn: id, limit: NEWEST }, signal)).items,
  };
}

export function operationsOfQuery(scope: string, id: string): Query<OperationSummary[]> {
  return {
    key: `operations of ${scope} ${id}`,
    kinds: ["saga"],
    read: (signal) =>
      get<OperationSummary[]>("/v1/operations", { resource_scope: scope, resource_id: id, limit: NEWEST }, signal),
  };
}

export function proposalQuery(id: string): Query<LayoutProposal> {
  return {
    key: `node ${id} proposal`,
    kinds: ["cn"],
    read: (signal) => get<LayoutProposal>(`/v1/cns/${id}/setup-layout-proposal`, undefined, signal),
  };
}
