// `booter check` checks the configuration, the files, the ports, the other booters, the upstream channel and the
// control plane. With a MAC address it also shows what that machine would boot, or why it gets no answer. The check
// changes nothing: it only reads records, and never reports a machine as seen.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { fail, type Finding, ok, warn } from "./check-finding.ts";
import { ownerFindings } from "./check-owner.ts";
import { peerFindings } from "./check-peers.ts";
import { portFindings } from "./check-ports.ts";
import { tlsFindings } from "./check-tls.ts";
import type { BooterConfig } from "./config.ts";
import { type ClientKind, decide, type Decision } from "./decision.ts";
import { efiSections } from "./efi-sections.ts";
import { ARM64_PROGRAM, type Files, openFiles, PROGRAMS, SECURE_PROGRAMS } from "./files.ts";
import { verifiedChannel } from "./mirror/channel.ts";
import { fetchSmall } from "./mirror/mirror.ts";
import { imageKey, upstreamKey } from "./mirror/upstream-key.ts";
import { type ApiClient, openApiClient } from "./api-client/client.ts";
import type { BootFacts, PolicyFacts } from "./api-client/wire.ts";
import { readSecretLine } from "./private-file.ts";
import { fileReason } from "../cli/internal/file-problem.ts";

export type CheckOptions = {
  readonly config: BooterConfig;
  readonly mac: string | null;
  readonly client: ClientKind;
  readonly api?: ApiClient;
};

export async function check(options: CheckOptions): Promise<Finding[]> {
  const { config } = options;
  const files = openFiles(config.files_dir, () => imageKey(config.image_key_file));
  await files.scan();
  const findings: Finding[] = [];
  for (const name of PROGRAMS) {
    findings.push(
      files.program(name) === null ? fail(`${config.files_dir}/${name}: is missing`) : ok(`${name}: found`),
    );
  }
  findings.push(...optionalPrograms(config.files_dir, files));
  if (config.https !== undefined) findings.push(...await tlsFindings(config.https, config.segment));
  const staged = [...files.staged()].sort();
  findings.push(
    staged.length === 0
      ? fail(`${config.files_dir}/os: contains no platform image with kernel and archive`)
      : ok(`platform images: ${staged.map((stamp) => `${stamp} (${files.image(stamp)?.kind})`).join(", ")}`),
  );
  for (const [stamp, reason] of files.refused()) findings.push(fail(`os/${stamp}: ${reason}`));
  findings.push(...await portFindings(config));
  findings.push(...await ownerFindings(config, process.getuid?.() ?? 0));
  findings.push(...await peerFindings(config));
  findings.push(...await setupFindings(config, files));
  findings.push(...await channelFindings(config));
  const answers = await apiFindings(options);
  findings.push(...answers.findings);
  if (answers.policy !== null && answers.records !== null) {
    findings.push(...imageFindings(answers.policy, files.staged()));
    if (options.mac !== null) findings.push(machineFinding(options, { ...answers, staged: files.staged() }));
  }
  return findings;
}

/**
 * Checks the programs for ARM64 and Secure Boot. A shim starts nothing if its second program is missing or has no
 * section .sbat.
 */
export function optionalPrograms(folder: string, files: Files): Finding[] {
  const arm64 = files.program(ARM64_PROGRAM) === null ? [] : [ok(`${ARM64_PROGRAM}: found; ARM64 machines can boot`)];
  const secure = Object.values(SECURE_PROGRAMS).flatMap(([shim, second]) => {
    if (files.program(shim) === null) return [];
    const program = files.program(second);
    if (program === null) return [fail(`${folder}/${second}: is missing, and ${shim} loads it`)];
    const sections = efiSections(program);
    if (sections === null) return [fail(`${folder}/${second}: is not an EFI program`)];
    return sections.includes(".sbat")
      ? [ok(`${shim} and ${second}: found; UEFI machines start the shim`)]
      : [fail(`${folder}/${second}: has no section .sbat, so ${shim} refuses it; sign the iPXE of Debian 13 or later`)];
  });
  return [...arm64, ...secure];
}

async function setupFindings({ ur }: BooterConfig, files: Files): Promise<Finding[]> {
  if (ur === undefined) return [warn("there is no [ur] block: no bare machine can announce itself")];
  const { setup } = ur;
  if (setup === undefined) return [warn("there is no [ur.setup] block: machines are announced, but not set up")];
  const { platform_stamp, platform_image_sha256, boot_image_stamp, boot_image_sha256 } = setup;
  const image = files.image(platform_stamp);
  if (platform_image_sha256 === undefined || boot_image_stamp === undefined || boot_image_sha256 === undefined) {
    return [
      image?.kind === "linux"
        ? ok(`setup: ${platform_stamp} is a Linux node image`)
        : fail(`ur.setup: ${platform_stamp} is not a staged Linux node image, so platform_image_sha256 must be set`),
    ];
  }
  const wanted = [
    [`platform-${platform_stamp}.tgz`, platform_image_sha256],
    [`boot-${boot_image_stamp}.tgz`, boot_image_sha256],
  ] as const;
  return await Promise.all(wanted.map(async ([name, sha256]) => {
    const path = await files.setupFile(name);
    if (path === null) return fail(`setup/${name}: is missing`);
    const hash = createHash("sha256");
    for await (const part of createReadStream(path)) hash.update(part);
    const found = hash.digest("hex");
    return found === sha256
      ? ok(`setup/${name}: SHA-256 matches`)
      : fail(`setup/${name}: has SHA-256 ${found}, not ${sha256}`);
  }));
}

/** Verifies the signature of the upstream channel, but does not download the channel's files. */
async function channelFindings({ ur }: BooterConfig): Promise<Finding[]> {
  const { upstream_channel_url: url, upstream_key_file } = ur?.setup ?? {};
  if (url === undefined) return [];
  try {
    const key = await upstreamKey(upstream_key_file);
    const [document, signature] = [await fetchSmall(fetch, url), await fetchSmall(fetch, `${url}.asc`)];
    const { files, signed_at } = await verifiedChannel({ document, signature, key, now: new Date() });
    return [ok(`channel: ${url} lists ${files.length} files, signed ${signed_at.toISOString()}`)];
  } catch (error) {
    return [fail(`channel: ${error instanceof Error ? error.message : "unknown error"}`)];
  }
}

type ApiAnswers = {
  readonly findings: Finding[];
  readonly policy: PolicyFacts | null;
  readonly records: readonly BootFacts[] | null;
};

async function apiFindings({ config, api: given }: CheckOptions): Promise<ApiAnswers> {
  const { url, key_file } = config.control_plane;
  try {
    const api = given ?? openApiClient({ url, key: await readSecretLine(key_file, "control_plane.key_file") });
    const [policy, records] = await Promise.all([api.policy(), api.records()]);
    return {
      findings: [
        ok(`control plane: ${url} knows ${records.length === 1 ? "1 machine" : `${records.length} machines`}`),
      ],
      policy,
      records,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown error";
    return { findings: [fail(`control plane: ${url}: ${reason}`)], policy: null, records: null };
  }
}

function imageFindings({ enrollment_pi }: PolicyFacts, staged: ReadonlySet<string>): Finding[] {
  if (enrollment_pi === null) return [warn("the boot policy names no enrollment_pi: no machine can enrol")];
  if (!staged.has(enrollment_pi)) {
    return [fail(`enrollment_pi ${enrollment_pi}: is not staged on this booter; no machine can enrol`)];
  }
  return [ok(`enrollment_pi ${enrollment_pi}: is staged`)];
}

function machineFinding(
  { config, mac, client }: CheckOptions,
  { policy, records, staged }: ApiAnswers & { readonly staged: ReadonlySet<string> },
): Finding {
  const record = records?.find((each) => each.mac === mac) ?? null;
  const decision = decide({
    client,
    architecture: null,
    record,
    verified: true,
    policy: {
      answer_only_pxe: config.dhcp.answer_only_pxe,
      enrollment_pi: policy?.enrollment_pi ?? null,
      staged,
      arm64_images: new Set(),
      has_arm64: true,
    },
  });
  const machine = `${mac} as ${client}${record === null ? "" : ` (${record.state}${record.rescue ? ", rescue" : ""})`}`;
  return decision.kind === "nothing"
    ? warn(`${machine}: gets no answer: ${REASONS[decision.reason]}`)
    : ok(`${machine}: ${describe(decision)}`);
}

function describe(decision: Exclude<Decision, { readonly kind: "nothing" }>): string {
  return decision.kind === "lease"
    ? "gets an address and nothing to boot"
    : `boots ${decision.stamp} (${decision.kind})`;
}

const REASONS: Readonly<Record<Extract<Decision, { readonly kind: "nothing" }>["reason"], string>> = {
  not_pxe: "it is not a netboot client, and answer_only_pxe is on",
  foreign_architecture: "the booter has no boot file for its architecture",
  no_record: "the control plane has no record of it; its first DISCOVER creates one",
  not_verified: "the control plane does not answer, and only enrolled nodes boot without it",
  no_address: "its record has no address",
  discovered: "its record is discovered; authorize it with opsctl",
  decommissioned: "its record is decommissioned; reactivate it with opsctl",
  no_enrollment_image: "the boot policy names no enrollment_pi",
  image_of_other_architecture: "its image is for another architecture; assign one: opsctl cn boot assign",
  image_not_staged: "its platform image is not staged on this booter",
};

/** Reads a configuration file. Throws an error that names the file if it cannot be read. */
export async function readConfigText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new Error(`${path}: cannot be read: ${fileReason(error)}`);
  }
}
