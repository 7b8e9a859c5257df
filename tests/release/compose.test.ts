// Runs the Compose file and the Kubernetes manifests of a release with Podman. The tests use an image of the PostgreSQL
// in node_modules instead of an image from a registry.
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../cli/version.ts";
import { guidePort } from "../guides/ports.ts";
import { must, request } from "../processes/client.ts";
import { needs, pathOf, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { CONTAINER_PROGRAMS, containerRelease, loadPostgresImage, succeeds } from "./container-fixture.ts";
import { podmanSettings } from "./podman-settings.ts";
import { run } from "./tools.ts";

const LIMIT_MS = 300_000;
const READY = { timeout: 90_000, interval: 500 };
const POSTGRES = "localhost/postgres-of-the-test:18";
const DATABASE_PASSWORD = "change-this";
/** A password with characters that have a meaning in a URL or in a file of variables. */
const PASSWORD_OF_SIGNS = "a/b#c?d@e:f%2Fg $h";
const IMAGE = `berth-control-plane:${VERSION}`;
const PROGRAMS = [...CONTAINER_PROGRAMS, "bash", "podman-compose", "the name server of Podman"] as const;

let folder: TemporaryFolder;
let env: Readonly<Record<string, string>>;
/** The first part of the names of this run's networks, volumes and containers. Other runs have other names. */
let name: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await temporaryFolder("compose");
  name = `berth-${randomBytes(4).toString("hex")}`;
  if (PROGRAMS.some((each) => pathOf(each) === null)) return;
  await containerRelease(folder.path);
  env = await podmanSettings(folder.path);
  const image = join(folder.path, "release", `berth-control-plane_${VERSION}_amd64.oci.tar`);
  await succeeds(present("podman"), ["load", "--quiet", "--input", image], env);
  await loadPostgresImage(folder.path, env, POSTGRES);
}, LIMIT_MS);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await folder.remove();
}, LIMIT_MS);

const keys = () => ({
  BERTH_SECRET_KEY: randomBytes(32).toString("hex"),
  BERTH_ROOT_KEY: `opsk_${randomBytes(6).toString("hex")}_${randomBytes(16).toString("hex")}`,
});

const ready = async (url: string) =>
  (await fetch(`${url}/readyz`).catch(() => null))?.status === 200 ? "ready" : "not ready";

/** Creates a silo through the API, and returns the names of all silos. */
async function silosAfterCreate(url: string, key: string): Promise<readonly string[]> {
  await must(url, { method: "POST", path: "/v1/silos", body: { name: "acme" }, key });
  return await silos(url, key);
}

async function silos(url: string, key: string): Promise<readonly string[]> {
  const found = await must<{ name: string }[]>(url, { method: "GET", path: "/v1/silos", key });
  return found.map((silo) => silo.name);
}

test("the Compose file starts the control plane and PostgreSQL, and a restart keeps their data", async (context) => {
  needs(context, ...PROGRAMS);
  const site = join(folder.path, "site");
  await mkdir(site);
  const port = await guidePort();
  const url = `http://127.0.0.1:${port}`;
  const compose = await readFile(join(folder.path, "release", "compose.yaml"), "utf8");
  expect(compose).toContain("127.0.0.1:8080:8080");
  const files = {
    "compose.yaml": compose.replace("127.0.0.1:8080:8080", `127.0.0.1:${port}:8080`),
    "postgres.yaml": `services:\n  postgres:\n    image: ${POSTGRES}\n`,
    ".env": `BERTH_DATABASE_PASSWORD='${PASSWORD_OF_SIGNS}'\n`,
  };
  const { BERTH_ROOT_KEY: key, ...others } = keys();
  const settings = Object.entries({ BERTH_ROOT_KEY: key, ...others }).map(([name, value]) => `${name}=${value}\n`);
  for (const [file, text] of Object.entries({ ...files, "control-plane.env": settings.join("") })) {
    await writeFile(join(site, file), text, { mode: 0o600 });
  }
  const inSite = async (...words: readonly string[]) => {
    const argv = ["--project-name", name, "--file", "compose.yaml", "--file", "postgres.yaml", ...words];
    const cd = ["-c", 'cd "$1"; shift; exec "$@"', "bash", site, present("podman-compose"), ...argv];
    return await succeeds(present("bash"), cd, env);
  };
  closing.push(() => inSite("down", "--volumes"));
  await inSite("up", "--detach");
  await expect.poll(() => ready(url), READY).toBe("ready");
  expect(await silosAfterCreate(url, key)).toEqual(["acme"]);

  await inSite("stop");
  expect(await ready(url)).toBe("not ready");
  await inSite("start");
  await expect.poll(() => ready(url), READY).toBe("ready");
  expect(await silos(url, key)).toEqual(["acme"]);
}, LIMIT_MS);

test("the Deployment of the Kubernetes manifests runs without privileges, and answers requests", async (context) => {
  needs(context, ...PROGRAMS);
  const podman = (...argv: readonly string[]) => succeeds(present("podman"), argv, env);
  const port = await guidePort();
  const url = `http://127.0.0.1:${port}`;
  const postgres = `${name}-postgres`;
  await podman("network", "create", name);
  closing.push(() => run(present("podman"), ["network", "rm", "--force", name], env));
  const database = { POSTGRES_DB: "berth", POSTGRES_USER: "berth", POSTGRES_PASSWORD: DATABASE_PASSWORD };
  const variables = Object.entries(database).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  await podman("run", "--detach", "--name", postgres, "--network", name, ...variables, POSTGRES);
  closing.push(() => run(present("podman"), ["rm", "--force", postgres], env));

  const { BERTH_ROOT_KEY: key, ...others } = keys();
  const DATABASE_URL = `postgres://berth:${DATABASE_PASSWORD}@${postgres}:5432/berth`;
  const secret = Object.entries({ BERTH_ROOT_KEY: key, DATABASE_URL, ...others })
    .map(([name, value]) => [name, btoa(value)]);
  const secret_path = join(folder.path, "secret.json");
  await writeFile(secret_path, JSON.stringify(Object.fromEntries(secret)), { mode: 0o600 });
  await podman("secret", "create", "berth-control-plane", secret_path);
  closing.push(() => run(present("podman"), ["secret", "rm", "berth-control-plane"], env));

  // The image keeps the digest of the release, and gets the name that the manifests use.
  await podman("tag", IMAGE, `registry.example/${IMAGE}`);
  let manifests = await readFile(join(folder.path, "release", "kubernetes.yaml"), "utf8");
  // With Podman, all pods share the ports of this machine, so only one of the three pods can listen on the port.
  const changes = [
    ["replicas: 3", "replicas: 1"],
    ["{ name: http, containerPort: 8080 }", `{ name: http, containerPort: 8080, hostPort: ${port} }`],
  ] as const;
  for (const [from, to] of changes) {
    expect(manifests).toContain(from);
    manifests = manifests.replace(from, to);
  }
  const file = join(folder.path, "kubernetes.yaml");
  await writeFile(file, manifests);
  closing.push(() => run(present("podman"), ["kube", "down", file], env));
  await podman("kube", "play", "--network", name, file);
  await expect.poll(() => ready(url), READY).toBe("ready");
  expect(await silosAfterCreate(url, key)).toEqual(["acme"]);
  expect((await request(url, { method: "GET", path: "/v1/silos", key: "opsk_wrong" })).status).toBe(401);

  const container = "berth-control-plane-pod-0-berth";
  const about = JSON.parse(await podman("inspect", container))[0];
  expect([about.HostConfig.ReadonlyRootfs, about.Config.User]).toEqual([true, "65532:65532"]);
  // Podman shows no list for a container without capabilities.
  expect(about.EffectiveCaps ?? []).toEqual([]);
}, LIMIT_MS);
