// Defines the idempotent steps of each kind of job, and how the node undoes them when the job fails or is withdrawn.
// docs/instances.md, "Jobs".
import type { JobKind } from "../src/contract/enums.ts";
import type { Blueprint, Job } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { bindAddress, releaseAddress } from "./address-steps.ts";
import type { Agent } from "./agent.ts";
import type { Driver, NewDisk, VmPlan } from "./driver.ts";
import { bindingOf, diskOf, instanceOf, releaseOf, text, wholeNumber } from "./job-fields.ts";
import { activate, movingOf, receive, send } from "./migration/steps.ts";
import type { ImageCache } from "./image-cache.ts";

export type JobContext = {
  readonly agent: Agent;
  readonly job: Job;
  readonly images: ImageCache;
  /** Returns the blueprint, fetched on first use. */
  blueprint(): Promise<Blueprint>;
  /** Returns the setting `fetch.allowed_private`, which is read from the control plane once per job. */
  allowedPrivate(): Promise<readonly unknown[]>;
  onProgress(step: string, percent: number | null): void;
  /** Asks the control plane whether it still wants the job. Throws if the control plane no longer wants the job. */
  isWanted(): Promise<void>;
};

type JobSteps = {
  /** The steps in order. The last one returns the job's result. */
  readonly steps: Readonly<Record<string, (context: JobContext) => Promise<unknown>>>;
  /** Undoes the effects of the job. Absent for a job that is never undone. */
  readonly undo?: (agent: Agent, job: Job) => Promise<void>;
};

export const JOB_STEPS: Readonly<Record<JobKind, JobSteps>> = {
  provision: {
    steps: {
      image: fetchImage,
      disks: async (context) => await context.agent.driver.vms.createDisks(await vmPlan(context)),
      network: createNetwork,
      create: async (context) => await context.agent.driver.vms.create(await vmPlan(context)),
      boot: async ({ agent: { driver, environment }, job }) => {
        await driver.vms.boot(instanceOf(job), environment.signal);
        return { disks: driver.vms.disksOf(instanceOf(job)) };
      },
    },
    undo: ({ driver }, job) => driver.vms.destroy(instanceOf(job)),
  },
  start: {
    steps: { boot: existing(bootAsRecorded) },
    undo: ({ driver }, job) => driver.vms.halt(instanceOf(job)),
  },
  // A failed or withdrawn stop is not undone: no operation expects the halted instance to run again.
  stop: { steps: { halt: existing(halt) } },
  restart: { steps: { halt: existing(halt), boot } },
  // A failed or withdrawn reset is not undone, because the guest runs in any case.
  reset: { steps: { reset: existing(reset) } },
  // A failed or withdrawn rebuild is not undone: after the step `disk`, the old disk is gone.
  rebuild: { steps: { image: existing(fetchImage), halt, disk: replaceBootDisk, boot: bootIfWanted } },
  delete: { steps: { destroy: ({ agent, job }) => agent.driver.vms.destroy(instanceOf(job)) } },
  // A grown disk is not shrunk, because its content may have grown, too.
  resize_disk: { steps: { resize: existing(resize) } },
  create_disk: {
    steps: { image: existing(fetchCopied), disk: existing(createDisk) },
    undo: ({ driver }, job) => driver.vms.deleteDisk(instanceOf(job), diskOf(job)),
  },
  attach_disk: {
    steps: { attach: existing(({ agent, job }) => agent.driver.vms.attachDisk(instanceOf(job), diskOf(job))) },
    undo: ({ driver }, job) => unlessGone(driver, job, () => driver.vms.detachDisk(instanceOf(job), diskOf(job))),
  },
  detach_disk: {
    steps: { detach: existing(({ agent, job }) => agent.driver.vms.detachDisk(instanceOf(job), diskOf(job))) },
    // After a failed or withdrawn detach, the guest gets the disk back, because the control plane still records it as
    // attached.
    undo: ({ driver }, job) => unlessGone(driver, job, () => driver.vms.attachDisk(instanceOf(job), diskOf(job))),
  },
  // A failed or withdrawn deletion is not undone: the data may be gone. The control plane keeps the record of the disk.
  delete_disk: {
    steps: { delete: ({ agent, job }) => agent.driver.vms.deleteDisk(instanceOf(job), diskOf(job)) },
  },
  create_snapshot: {
    steps: { copy: existing(createSnapshot) },
    undo: ({ driver }, job) => driver.vms.deleteSnapshot(instanceOf(job), diskOf(job)),
  },
  // A failed or withdrawn deletion is not undone: the data of the snapshot may be gone.
  delete_snapshot: {
    steps: { delete: ({ agent, job }) => agent.driver.vms.deleteSnapshot(instanceOf(job), diskOf(job)) },
  },
  create_image: {
    steps: { export: existing(exportSnapshot), send: existing(sendImage) },
    undo: ({ driver }, job) => driver.vms.deleteExport(instanceOf(job), diskOf(job)),
  },
  fip_claim: {
    steps: { address: bindAddress },
    undo: ({ driver }, job) => driver.vms.releaseAddress(releaseOf(job)),
  },
  fip_release: {
    steps: { address: releaseAddress },
    // After a failed or withdrawn release, the address is bound as before, if its NIC is still on this node.
    undo: async ({ driver }, job) => {
      if (driver.vms.hasNic(String(job.kind["nic_id"]))) await driver.vms.bindAddress(bindingOf(job));
    },
  },
  migrate_receive: {
    steps: { image: fetchImage, receive: async (context) => await receive(context, await vmPlan(context)) },
    undo: ({ driver }, job) => driver.migrations.discard(movingOf(job)),
  },
  migrate_send: {
    steps: { send: existing(send) },
    undo: ({ driver }, job) => driver.migrations.resume(movingOf(job)),
  },
  migrate_resume: { steps: { resume: ({ agent, job }) => agent.driver.migrations.resume(movingOf(job)) } },
  // The VM has belonged to this node since the job was created, so even a withdrawn job is carried out.
  migrate_activate: {
    steps: { activate: ({ agent, job }) => activate(agent, job) },
    undo: async (agent, job) => void await activate(agent, job),
  },
  migrate_discard: { steps: { discard: ({ agent, job }) => agent.driver.migrations.discard(movingOf(job)) } },
  migrate_clean: {
    steps: { clean: ({ agent, job }) => agent.driver.migrations.clean(movingOf(job)) },
    undo: ({ driver }, job) => driver.migrations.clean(movingOf(job)),
  },
  // A failed or withdrawn reboot is not undone, because a restart cannot be reversed.
  reboot: {
    steps: {
      reboot: ({ agent, job }) => agent.driver.reboot(text(job, "boot_id"), text(job, "platform_image")),
    },
  },
};

/** All steps in order as KIND:STEP, the form in the setting `fail_at` of a simulated machine. */
export const STEP_NAMES: readonly string[] = Object.entries(JOB_STEPS).flatMap(([kind, { steps }]) =>
  Object.keys(steps).map((step) => `${kind}:${step}`)
);

async function fetchImage(context: JobContext): Promise<void> {
  const { image, instance } = await planned(context);
  const { platform_version } = await context.agent.driver.capacity();
  const oldest = image.compatibility?.min_platform;
  if (oldest !== undefined && platform_version < oldest) {
    throw new Failure(
      `the image needs platform ${oldest} or later, but this node runs ${platform_version}`,
      EXIT.failure,
    );
  }
  await context.images.fetch(context.agent, image, {
    job_id: context.job.id,
    tenant_id: instance.tenant_id,
    allowed_private: await context.allowedPrivate(),
    onProgress: (percent) => context.onProgress("image", percent),
  });
}

async function replaceBootDisk(context: JobContext): Promise<void> {
  const { agent, job } = context;
  const image_path = await fetchPlanned(context);
  const { image } = await planned(context);
  const disk = { id: diskOf(job), size_bytes: wholeNumber(job, "size_bytes"), image_sha256: image.sha256, image_path };
  await agent.driver.vms.rebuild(instanceOf(job), disk);
}

/** Boots the rebuilt VM if the job requests this, as earlier servers do. Newer servers send a job `start` instead. */
async function bootIfWanted(context: JobContext): Promise<void> {
  if (context.job.kind["boot"] === true) await bootAsRecorded(context);
}

/** Creates the NICs, and waits until this node has applied their networks. */
async function createNetwork(context: JobContext): Promise<void> {
  const { driver, environment } = context.agent;
  const plan = await vmPlan(context);
  await driver.vms.createNics(plan);
  await driver.network.untilApplied(plan.nics, environment.signal);
}

async function vmPlan(context: JobContext): Promise<VmPlan> {
  const { instance, blueprint } = await planned(context);
  return { ...blueprint, instance, image_path: await fetchPlanned(context) };
}

/** Returns the path of the image's file, which an earlier step fetched. */
async function fetchPlanned(context: JobContext): Promise<string> {
  const { image, instance } = await planned(context);
  return await context.images.fetch(context.agent, image, {
    job_id: context.job.id,
    tenant_id: instance.tenant_id,
    allowed_private: await context.allowedPrivate(),
    onProgress: () => {},
  });
}

async function planned(context: JobContext) {
  const blueprint = await context.blueprint();
  const { instance, image } = blueprint;
  if (instance === null) throw new Failure("the instance no longer exists", EXIT.not_found);
  if (image === null) throw new Failure("the image no longer exists", EXIT.not_found);
  return { blueprint, instance, image };
}

/** Wraps a step so that it fails if the instance no longer exists in the control plane. */
function existing<T>(step: (context: JobContext) => Promise<T>): (context: JobContext) => Promise<T> {
  return async (context) => {
    if ((await context.blueprint()).instance === null) {
      throw new Failure("the instance no longer exists", EXIT.not_found);
    }
    return await step(context);
  };
}

function boot({ agent, job }: JobContext): Promise<void> {
  return agent.driver.vms.boot(instanceOf(job), agent.environment.signal);
}

/** Boots the VM with the size and the NICs in the control plane's record, which may be newer than the VM's record. */
async function bootAsRecorded(context: JobContext): Promise<void> {
  const { vms, network } = context.agent.driver;
  const { instance, nics, subnets } = await context.blueprint();
  if (instance !== null) {
    await vms.setSize(instance.id, instance);
    // An older server names no NICs for this job.
    if (nics.length > 0) {
      // The guest's network configuration contains the MTU of each VPC, which comes with the VPC's document.
      await network.untilApplied(vms.newNics(instance.id, { nics, subnets }), context.agent.environment.signal);
      await vms.setNics(instance.id, { nics, subnets });
    }
  }
  await boot(context);
}

function halt({ agent, job }: JobContext): Promise<void> {
  return agent.driver.vms.halt(instanceOf(job));
}

function reset({ agent, job }: JobContext): Promise<void> {
  return agent.driver.vms.reset(instanceOf(job));
}

async function resize({ agent, job }: JobContext) {
  const disk = { id: text(job, "disk_id"), size_bytes: wholeNumber(job, "size_bytes") };
  return { disk_id: disk.id, size_bytes: await agent.driver.vms.resize(instanceOf(job), disk) };
}

/** If a new data disk is a copy of an image, fetches the image and returns its file's path; otherwise null. */
async function fetchCopied(context: JobContext): Promise<string | null> {
  const { agent, job, images } = context;
  if (typeof job.kind["image_id"] !== "string") return null;
  const { image, instance } = await planned(context);
  return await images.fetch(agent, image, {
    job_id: job.id,
    tenant_id: instance.tenant_id,
    allowed_private: await context.allowedPrivate(),
    onProgress: (percent) => context.onProgress("image", percent),
  });
}

async function createDisk(context: JobContext) {
  const { agent, job } = context;
  const disk = newDiskOf(job);
  const image_path = await fetchCopied(context);
  const disk_id = job.kind["source_disk_id"];
  const source = image_path !== null ? { image_path } : typeof disk_id === "string" ? { disk_id } : null;
  await agent.driver.vms.createDisk(instanceOf(job), disk, { source, signal: agent.environment.signal });
  return { disk_id: disk.id, size_bytes: disk.size_bytes };
}

async function createSnapshot({ agent, job }: JobContext) {
  const snapshot = newDiskOf(job);
  const copy = { source_disk_id: text(job, "source_disk_id"), signal: agent.environment.signal };
  const consistency = await agent.driver.vms.createSnapshot(instanceOf(job), snapshot, copy);
  return { snapshot_id: snapshot.id, consistency };
}

function exportSnapshot({ agent, job }: JobContext): Promise<string> {
  return agent.driver.vms.exportSnapshot(instanceOf(job), diskOf(job), agent.environment);
}

/** Sends the file of the image to the control plane, then removes the file. */
async function sendImage(context: JobContext) {
  const { agent, job, images } = context;
  const path = await exportSnapshot(context);
  const onProgress = (percent: number) => context.onProgress("send", percent);
  const sent = await images.send(agent, { id: text(job, "upload_id"), path, onProgress });
  await agent.driver.vms.deleteExport(instanceOf(job), diskOf(job));
  return sent;
}

function newDiskOf(job: Job): NewDisk {
  return { id: diskOf(job), name: text(job, "name"), size_bytes: wholeNumber(job, "size_bytes") };
}

/** Runs the undo of a job on a data disk, if the disk still exists. */
async function unlessGone({ vms }: Driver, job: Job, undo: () => Promise<void>): Promise<void> {
  if (vms.disksOf(instanceOf(job)).some(({ id }) => id === diskOf(job))) await undo();
}

/** Returns the ids of the objects that a job acts on. Jobs on the same object run one at a time. */
export function subjectsOf({ id, kind }: Job): readonly string[] {
  const named = [kind["instance_id"], kind["floating_ip_id"]].filter((each) => typeof each === "string");
  return named.length === 0 ? [id] : named;
}
