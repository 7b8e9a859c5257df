// The Compose file of a release, run by podman-compose. The image of PostgreSQL is made from Debian's packages, with the
// name and the variables of the image that the file names, because no registry is reached.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { debianLayers } from "../../cli/release/container/debian-base.ts";
import { denoExecutable } from "../../cli/release/deno-runtime.ts";
import { VERSION } from "../../cli/version.ts";
import { guidePort } from "../guides/ports.ts";
import { buildExecutables, run as runProgram } from "../processes/executables.ts";
import { podmanSettings } from "../release/podman-settings.ts";
import { releaseKeyIn, ROOT, smallRelease } from "../release/small-release.ts";
import { run } from "../release/tools.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROJECT = `berth-compose-${process.pid}`;
const READY_LIMIT_MS = 180_000;
const POSTGRES = "docker.io/library/postgres:18";

test("the Compose file starts a control plane that keeps its data over a restart", async (context) => {
  context.skip(process.getuid?.() !== 0, "Podman's networks need root");
  needs(context, "apt-get", "dpkg-deb", "mmdebstrap", "podman", "podman-compose", "runc", "the name server of Podman");
  const folder = await temporaryFolder("compose");
  const env = await podmanSettings(folder.path);
  const must = async (program: string, ...argv: readonly string[]) => {
    const ended = await run(program, argv, env);
    expect(ended, `${argv.join(" ")}\n${ended.stderr}`).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  const podman = (...argv: readonly string[]) => must(present("podman"), ...argv);
  const release = join(folder.path, "release");
  const file = join(release, "compose.yaml");
  const compose = (...argv: readonly string[]) => must(present("podman-compose"), "-f", file, "-p", PROJECT, ...argv);
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

    const port = await guidePort();
    const text = await readFile(file, "utf8");
    expect(text).toContain("127.0.0.1:8080:8080");
    expect(text).toContain(POSTGRES);
    await writeFile(file, text.replace("127.0.0.1:8080:8080", `127.0.0.1:${port}:8080`));
    await writeFile(join(release, ".env"), `BERTH_DATABASE_PASSWORD=${hex(16)}\n`);
    const key = `opsk_${hex(6)}_${hex(16)}`;
    await writeFile(
      join(release, "control-plane.env"),
      `BERTH_SECRET_KEY=${hex(32)}\nBERTH_ROOT_KEY=${key}\n`,
    );
    const url = `http://127.0.0.1:${port}`;
    const opsctl = async (...argv: readonly string[]) => {
      const ended = await runProgram("opsctl", argv, { env: { OPSCTL_ENDPOINT: url, OPSCTL_API_KEY: key } });
      expect(ended, ended.err).toMatchObject({ code: 0 });
      return ended.out;
    };

    await compose("up", "-d");
    await untilReady(url);
    expect(await opsctl("silo", "list")).not.toContain("acme");
    await opsctl("silo", "create", "acme");
    await compose("down");
    expect(await podman("ps", "--all", "--quiet")).toBe("");
    await compose("up", "-d");
    await untilReady(url);
    expect(await opsctl("silo", "list")).toContain("acme");
    await opsctl("audit", "verify");
  } finally {
    // The results do not count: if the test failed early, there is nothing to remove.
    await run(present("podman-compose"), ["-f", file, "-p", PROJECT, "down", "--volumes"], env);
    await run(present("podman"), ["network", "rm", "--force", `${PROJECT}_default`], env);
    await folder.remove();
  }
});

function hex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + READY_LIMIT_MS; Date.now() < end;) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    if (answer?.ok === true) return;
    await new Promise((wake) => setTimeout(wake, 500));
  }
  throw new Error(`${url} is not ready`);
}
