// Tests what the agent logs about its polls for network documents: the first of several failures, and the recovery.
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { NetworkPollView } from "../../../src/contract/network-document.ts";
import { documentsFolder } from "../../../nodeagent/network/document-store.ts";
import { documentOf } from "../../networks/documents.ts";
import type { FakeAnswer } from "../../cli/fake-environment.ts";
import { APPROVED, registered, reports, runAgent, stateDir } from "../agent.ts";

const EMPTY: FakeAnswer = { body: { nodes: [], vpcs: [], gone: [] } satisfies NetworkPollView };
const BUSY: FakeAnswer = { status: 503, body: { message: "Service Unavailable" } };
const OLDER: FakeAnswer = { status: 404, body: { message: "Not Found" } };
const RETRYING = "network: the server responded with status 503; retrying";
const RECOVERED = "network: recovered";

/** Runs an agent whose polls get these answers in order, and returns what the agent logs about networks. */
async function logOf(
  answers: readonly (FakeAnswer | (() => Promise<FakeAnswer>))[],
  state_dir = stateDir(),
): Promise<readonly string[]> {
  let turn = 0;
  const ran = await runAgent({
    ...reports(Infinity),
    "/v1/agent/register": () => registered(),
    "/v1/agent/register/status": () => APPROVED,
    "/v1/agent/network-realization": () => ({ body: null }),
    "/v1/agent/network/poll": async (_, agent) => {
      const answer = answers[turn++];
      if (answer === undefined) agent.abort();
      return typeof answer === "function" ? await answer() : answer ?? EMPTY;
    },
  }, { state_dir });
  return ran.err().split("\n").filter((line) => line.startsWith("network: "));
}

test("an empty answer ends a series of failures, and the next failure is logged again", async () => {
  expect(await logOf([BUSY, BUSY, EMPTY, EMPTY, BUSY, EMPTY, EMPTY])).toEqual([
    ...[RETRYING, RECOVERED],
    ...[RETRYING, RECOVERED],
  ]);
});

test("an answer of an older server also ends a series of failures", async () => {
  const older = "network: the control plane is older and sends no network documents";
  expect(await logOf([BUSY, OLDER, BUSY, EMPTY])).toEqual([RETRYING, older, RECOVERED, RETRYING, RECOVERED]);
});

test("a document that cannot be stored is logged once, and the recovery is logged when the document can be stored", async () => {
  const state_dir = stateDir();
  const folder = documentsFolder(state_dir);
  const view = { nodes: [], vpcs: [documentOf({ vni: 4_096, machines: [], rules: [], edge: null, routes: [] }, "n1")] };
  const document: FakeAnswer = { body: { ...view, gone: [] } satisfies NetworkPollView };
  const breakFolder = async () => {
    await rename(folder, `${folder}.kept`);
    await writeFile(folder, "");
    return document;
  };
  const restoreFolder = async () => {
    await rename(folder, join(state_dir, "broken"));
    await mkdir(folder);
    return document;
  };
  const logged = await logOf([EMPTY, breakFolder, document, document, restoreFolder, EMPTY], state_dir);
  expect(logged).toEqual([expect.stringMatching(/^network: EEXIST.*; retrying$/), RECOVERED]);
});
