// The Kubernetes manifests of a release, run by `podman play kube`. Podman 4.3 has no address of a pod in variables, one
// pod for each port of the machine, and no Service and no PodDisruptionBudget, so the test changes these two things and
// Podman ignores the other two.
import { readFile, writeFile } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { guidePort } from "../guides/ports.ts";
import {
  CONTROL_PLANE,
  hex,
  openContainerSite,
  operatorKey,
  opsctl,
  POSTGRES,
  skipWithoutPodman,
  untilReady,
} from "./container-site.ts";

const NETWORK = `berth-kube-${process.pid}`;

test("the manifests start a control plane without rights, which keeps its data over a restart", async (context) => {
  skipWithoutPodman(context);
  const site = await openContainerSite();
  const { podman } = site;
  try {
    const documents = parseAllDocuments(await readFile(join(site.release, "kubernetes.yaml"), "utf8"));
    const [deployment, ...others] = documents.map((each) => each.toJS());
    const [container] = deployment.spec.template.spec.containers;
    // The digest is part of the name, so this finds only the image of the release.
    await podman("tag", CONTROL_PLANE, container.image.replace(/@.*$/, ""));
    const port = await guidePort();
    deployment.spec.replicas = 1;
    expect(container.env.map(({ name }: { name: string }) => name)).toEqual(["POD_IP", "BERTH_RELAY_URL"]);
    delete container.env;
    container.ports = container.ports.map((each: object) => ({ ...each, hostPort: port, hostIP: "127.0.0.1" }));
    const file = join(site.release, "changed.yaml");
    await writeFile(file, [deployment, ...others].map((each) => stringify(each)).join("---\n"));

    const [password, key] = [hex(16), operatorKey()];
    const secret = {
      BERTH_SECRET_KEY: hex(32),
      BERTH_ROOT_KEY: key,
      DATABASE_URL: `postgres://berth:${password}@postgres:5432/berth`,
    };
    const encoded = Object.entries(secret).map(([name, value]) => [name, Buffer.from(value).toString("base64")]);
    await writeFile(join(site.release, "secret.json"), JSON.stringify(Object.fromEntries(encoded)));
    await podman("secret", "create", "berth-control-plane", join(site.release, "secret.json"));
    await podman("network", "create", NETWORK);
    const settings = { POSTGRES_DB: "berth", POSTGRES_USER: "berth", POSTGRES_PASSWORD: password };
    const variables = Object.entries(settings).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const network = ["--network", NETWORK, "--network-alias", "postgres"];
    await podman("run", "--detach", "--name", `${NETWORK}-postgres`, ...network, ...variables, POSTGRES);

    const url = `http://127.0.0.1:${port}`;
    const play = () => podman("play", "kube", "--network", NETWORK, file);
    await play();
    await untilReady(url);
    const pod = "berth-control-plane-pod-0";
    const form = "{{.HostConfig.ReadonlyRootfs}} {{.Config.User}} {{.EffectiveCaps}} {{.HostConfig.SecurityOpt}}";
    expect((await podman("inspect", "--format", form, `${pod}-berth`)).trim())
      .toBe("true 65532:65532 [] [no-new-privileges]");
    await opsctl(url, key, "silo", "create", "acme");
    await podman("pod", "rm", "--force", pod);
    await play();
    await untilReady(url);
    expect(await opsctl(url, key, "silo", "list")).toContain("acme");
  } finally {
    await site.close(NETWORK);
  }
});
