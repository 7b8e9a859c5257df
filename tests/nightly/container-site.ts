// A release with the image of the control plane, loaded into a Podman of its own, and an image of PostgreSQL that is made
// from Debian's packages, with the name and the variables of the image that compose.yaml names. No registry is reached.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, type TestContext } from "vitest";
import { debianLayers } from "../../cli/release/container/debian-base.ts";
import { denoExecutable } from "../../cli/release/deno-runtime.ts";
import { VERSION } from "../../cli/version.ts";
import { buildExecutables, run as runProgram } from "../processes/executables.ts";
import { podmanSettings } from "../release/podman-settings.ts";
import { releaseKeyIn, ROOT, smallRelease } from "../release/small-release.ts";
import { run } from "../release/tools.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const READY_LIMIT_MS = 180_000;
export const POSTGRES = "docker.io/library/postgres:18";
/** The image's name in Podman. */
export const CONTROL_PLANE = `berth-control-plane:${VERSION}`;

export type ContainerSite = {
  /** The folder of the release. */
  readonly release: string;
  /** Runs a program with the settings of Podman. It must succeed. */
  must(program: string, ...argv: readonly string[]): Promise<string>;
  podman(...argv: readonly string[]): Promise<string>;
  /** Removes the containers, the network and the folder. */
  close(network: string): Promise<void>;
};

export function skipWithoutPodman(context: Pick<TestContext, "skip">): void {
  context.skip(process.getuid?.() !== 0, "Podman's networks need root");
  needs(context, "apt-get", "dpkg-deb", "mmdebstrap", "podman", "runc", "the name server of Podman");
}

export async function openContainerSite(): Promise<ContainerSite> {
  const folder = await temporaryFolder("containers");
  const env = await podmanSettings(folder.path);
  const release = join(folder.path, "release");
  const must = async (program: string, ...argv: readonly string[]) => {
    const ended = await run(program, argv, env);
    expect(ended, `${argv.join(" ")}\n${ended.stderr}`).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  const podman = (...argv: readonly string[]) => must(present("podman"), ...argv);
  const close = async (network: string) => {
    // The results do not count: if the test failed early, there is nothing to remove.
    for (const argv of [["pod", "rm", "-fa"], ["rm", "-fa"], ["network", "rm", "--force", network]]) {
      await run(present("podman"), argv, env);
    }
    await folder.remove();
  };
  try {
    await buildExecutables(["opsctl"]);
    const base = await debianLayers("amd64", (reason) => expect.fail(reason));
    await smallRelease({
      ...{ folder: release, version: VERSION, packages: ["berth-control-plane"], tree: "whole" },
      ...{ program: await denoExecutable("amd64"), key_path: await releaseKeyIn(folder.path), container_base: base! },
    });
    await podman("load", "--quiet", "--input", join(release, `berth-control-plane_${VERSION}_amd64.oci.tar`));
    const debian = join(folder.path, "postgres.tar");
    const options = ["--mode=root", "--variant=minbase", "--dpkgopt=force-unsafe-io", "--include=postgresql"];
    await must(present("mmdebstrap"), "--quiet", ...options, "bookworm", debian);
    const start = await readFile(join(ROOT, "tests/nightly/postgres-container.sh"), "utf8");
    const entry = `ENTRYPOINT ${JSON.stringify(["sh", "-c", start])}`;
    await podman("import", "--quiet", "--change", entry, debian, POSTGRES);
  } catch (error) {
    await close("none");
    throw error;
  }
  return { release, must, podman, close };
}

export function hex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

export const operatorKey = (): string => `opsk_${hex(6)}_${hex(16)}`;

/** Runs opsctl, which must succeed. */
export async function opsctl(url: string, key: string, ...argv: readonly string[]): Promise<string> {
  const ended = await runProgram("opsctl", argv, { env: { OPSCTL_ENDPOINT: url, OPSCTL_API_KEY: key } });
  expect(ended, ended.err).toMatchObject({ code: 0 });
  return ended.out;
}

export async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + READY_LIMIT_MS; Date.now() < end;) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    if (answer?.ok === true) return;
    await new Promise((wake) => setTimeout(wake, 500));
  }
  throw new Error(`${url} is not ready`);
}
