// Tests the container image of a release: Skopeo reads it, and the commands of the guide run it with Podman beside a
// real PostgreSQL.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { debianLayers } from "../../cli/release/container/debian-base.ts";
import { denoExecutable } from "../../cli/release/deno-runtime.ts";
import { VERSION } from "../../cli/version.ts";
import { guidePort } from "../guides/ports.ts";
import { runGuides, SESSION } from "../guides/run.ts";
import { buildExecutables } from "../processes/executables.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { podmanSettings } from "./podman-settings.ts";
import { releaseKeyIn, ROOT, smallRelease } from "./small-release.ts";
import { run } from "./tools.ts";

const LIMIT_MS = 300_000;

let folder: TemporaryFolder;
let database: FreshDatabase;
let names: readonly string[];

beforeAll(async () => {
  folder = await temporaryFolder("container");
  database = await emptyDatabase();
}, LIMIT_MS);
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

const text = (...path: readonly string[]) => readFile(join(folder.path, ...path), "utf8");

test(
  "the guide to containers works with a release's image, which is verified, loaded and run without privileges",
  async (context) => {
    needs(context, ...SESSION, "apt-get", "curl", "dpkg-deb", "gpg", "gpgv", "openssl", "podman", "runc", "skopeo");
    await buildExecutables();
    const base = await debianLayers("amd64", (reason) => expect.fail(reason));
    names = await smallRelease({
      folder: join(folder.path, "release"),
      version: VERSION,
      packages: ["berth-control-plane"],
      tree: "whole",
      program: await denoExecutable("amd64"),
      key_path: await releaseKeyIn(folder.path),
      container_base: base!,
    });
    const image = `berth-control-plane_${VERSION}_amd64.oci.tar`;
    expect(names).toEqual(expect.arrayContaining([image, "compose.yaml", "kubernetes.yaml"]));
    expect(await text("release", "SHA256SUMS")).toContain(image);

    for (const form of ["oci-archive", "docker-archive"]) {
      const inspected = await run(present("skopeo"), ["inspect", `${form}:${join(folder.path, "release", image)}`]);
      expect(inspected, inspected.stderr).toMatchObject({ code: 0 });
      const { Digest, Layers, Architecture } = JSON.parse(inspected.stdout);
      expect([Architecture, Layers.length]).toEqual(["amd64", base!.length + 1]);
      if (form === "docker-archive") continue;
      expect(await text("release", "kubernetes.yaml")).toContain(`/berth-control-plane:${VERSION}@${Digest}`);
    }

    const env = await podmanSettings(folder.path);
    const instead = {
      "8080": String(await guidePort()),
      "postgres://berth:change-this@127.0.0.1:5432/berth": database.url,
      "postgres://berth_owner:change-this-owner@127.0.0.1:5432/berth": database.url,
    };
    await runGuides(["containers"], { folder: join(folder.path, "release"), env, instead });
  },
  LIMIT_MS,
);

test("in Compose, berth is read-only and has no capabilities; the Kubernetes objects share labels and mount every volume", async () => {
  const template = (name: string) => readFile(join(ROOT, "cli/release/container", name), "utf8");
  const { services } = parse(await template("compose.yaml"));
  expect(Object.keys(services)).toEqual(["postgres", "berth"]);
  expect(services.berth).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
  const documents = parseAllDocuments(await template("kubernetes.yaml")).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  });
  expect(documents.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  const [{ spec: { selector, template: pod } }, service, budget] = documents;
  for (const each of [pod.metadata.labels, service.spec.selector, budget.spec.selector.matchLabels]) {
    expect(each).toEqual(selector.matchLabels);
  }
  const [container] = pod.spec.containers;
  const mounts = container.volumeMounts.map(({ name }: { name: string }) => name);
  expect(pod.spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounts);
});
