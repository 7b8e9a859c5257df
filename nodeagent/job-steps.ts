// How each kind of job is carried out: steps that may each be repeated, and how the node's part is undone when the job is
// taken from it or fails. Document 4, 1.8 and 1.9.
import type { JobKind } from "../src/contract/enums.ts";
import type { Blueprint, Job } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Agent } from "./agent.ts";
import type { AddressBinding, AddressRelease, VmPlan } from "./driver.ts";
import type { ImageCache } from "./image-cache.ts";

export type JobContext = {
  readonly agent: Agent;
  readonly job: Job;
  readonly images: ImageCache;
  /** Fetched when a step first asks for it. */
  blueprint(): Promise<Blueprint>;
  /** The setting `fetch.allowed_private`, read from the control plane now. */
  allowedPrivate(): Promise<readonly unknown[]>;
  tell(step: string, percent: number | null): void;
};

type JobSteps = {
  /** In order. What the last one answers is the job's result. */
  readonly steps: Readonly<Record<string, (context: JobContext) => Promise<unknown>>>;
  /** Leaves of the job what its end without success should: nothing of what it made. */
  readonly undo?: (agent: Agent, job: Job) => Promise<void>;
};

export const RECIPES: Readonly<Record<JobKind, JobSteps>> = {
  provision: {
    steps: {
      image: fetchImage,
      disks: async (k) => await k.agent.driver.vms.createDisks(await vmPlan(k)),
      network: async (k) => await k.agent.driver.vms.createNics(await vmPlan(k)),
      create: async (k) => await k.agent.driver.vms.create(await vmPlan(k)),
      boot: async ({ agent: { driver }, job }) => {
        await driver.vms.boot(instanceOf(job));
        return { disks: driver.vms.disksOf(instanceOf(job)) };
      },
    },
    undo: ({ driver }, job) => driver.vms.destroy(instanceOf(job)),
  },
  start: {
    steps: { boot: existing(boot) },
    undo: ({ driver }, job) => driver.vms.halt(instanceOf(job)),
  },
  // What was halted is not brought back: whoever gave up on the job no longer relies on the instance running.
  stop: { steps: { halt: existing(halt) } },
  restart: { steps: { halt: existing(halt), boot } },
  delete: { steps: { destroy: ({ agent, job }) => agent.driver.vms.destroy(instanceOf(job)) } },
  // A disk that grew stays large: what is in it may have grown too.
  resize_disk: { steps: { resize: existing(resize) } },
  fip_claim: {
    steps: { address: ({ agent, job }) => agent.driver.vms.bindAddress(bindingOf(job)) },
    undo: ({ driver }, job) => driver.vms.releaseAddress(releaseOf(job)),
  },
  fip_release: {
    steps: { address: ({ agent, job }) => agent.driver.vms.releaseAddress(releaseOf(job)) },
    // Whoever gave up on the release relies on the address being where it was.
    undo: async ({ driver }, job) => {
      if (driver.vms.hasNic(String(job.kind["nic_id"]))) await driver.vms.bindAddress(bindingOf(job));
    },
  },
};

/** All steps in order, as a machine can be told to fail at. */
export const STEP_NAMES: readonly string[] = Object.entries(RECIPES).flatMap(([kind, { steps }]) =>
  Object.keys(steps).map((step) => `${kind}:${step}`)
);

async function fetchImage(k: JobContext): Promise<void> {
  const { image, instance } = await planned(k);
  const { platform_version } = await k.agent.driver.capacity();
  const oldest = image.compatibility?.min_platform;
  if (oldest !== undefined && platform_version < oldest) {
    throw new Failure(`the image needs platform ${oldest}, this node runs ${platform_version}`, EXIT.failure);
  }
  await k.images.fetch(k.agent, image, {
    job_id: k.job.id,
    tenant_id: instance.tenant_id,
    allowed_private: await k.allowedPrivate(),
    tell: (percent) => k.tell("image", percent),
  });
}

async function vmPlan(k: JobContext): Promise<VmPlan> {
  const { image, instance, blueprint } = await planned(k);
  const image_path = await k.images.fetch(k.agent, image, {
    job_id: k.job.id,
    tenant_id: instance.tenant_id,
    allowed_private: await k.allowedPrivate(),
    tell: () => {},
  });
  return { ...blueprint, instance, image_path };
}

async function planned(k: JobContext) {
  const blueprint = await k.blueprint();
  const { instance, image } = blueprint;
  if (instance === null) throw new Failure("the instance is gone", EXIT.not_found);
  if (image === null) throw new Failure("the image is gone", EXIT.not_found);
  return { blueprint, instance, image };
}

/** For steps that make sense only while the control plane knows the instance. */
function existing<T>(step: (k: JobContext) => Promise<T>): (k: JobContext) => Promise<T> {
  return async (k) => {
    if ((await k.blueprint()).instance === null) throw new Failure("the instance is gone", EXIT.not_found);
    return await step(k);
  };
}

function boot({ agent, job }: JobContext): Promise<void> {
  return agent.driver.vms.boot(instanceOf(job));
}

function halt({ agent, job }: JobContext): Promise<void> {
  return agent.driver.vms.halt(instanceOf(job));
}

async function resize({ agent, job }: JobContext) {
  const disk = { id: text(job, "disk_id"), size_bytes: wholeNumber(job, "size_bytes") };
  return { disk_id: disk.id, size_bytes: await agent.driver.vms.resize(instanceOf(job), disk) };
}

/** What a job is about: the jobs of one of these are done one after another. */
export function subjectsOf({ id, kind }: Job): readonly string[] {
  const named = [kind["instance_id"], kind["floating_ip_id"]].filter((each) => typeof each === "string");
  return named.length === 0 ? [id] : named;
}

function instanceOf(job: Job): string {
  return text(job, "instance_id");
}

function bindingOf(job: Job): AddressBinding {
  const { nic_id, external_nic_tag, vlan_id } = job.kind;
  return {
    floating_ip_id: text(job, "floating_ip_id"),
    fip_addr: text(job, "fip_addr"),
    nic_id: typeof nic_id === "string" ? nic_id : null,
    external_nic_tag: typeof external_nic_tag === "string" ? external_nic_tag : null,
    vlan_id: typeof vlan_id === "number" ? vlan_id : null,
    generation: wholeNumber(job, "generation"),
  };
}

function releaseOf({ kind }: Job): AddressRelease {
  const { floating_ip_id, nic_id, generation } = kind;
  if (typeof floating_ip_id !== "string") throw new Failure("the job has no floating_ip_id", EXIT.failure);
  return {
    floating_ip_id,
    nic_id: typeof nic_id === "string" ? nic_id : null,
    generation: typeof generation === "number" ? generation : null,
  };
}

function text({ kind }: Job, field: string): string {
  const value = kind[field];
  if (typeof value !== "string") throw new Failure(`the job has no ${field}`, EXIT.failure);
  return value;
}

function wholeNumber({ kind }: Job, field: string): number {
  const value = kind[field];
  if (!Number.isSafeInteger(value)) throw new Failure(`the job has no ${field}`, EXIT.failure);
  return value as number;
}
