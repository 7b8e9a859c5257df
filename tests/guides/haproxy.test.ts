// Tests the HAProxy blocks of the guide to automatic failover.
import type { Server } from "node:http";
import { expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answering, away, SESSIONS } from "./answering.ts";
import { startHaproxy } from "./haproxy.ts";
import { guidePort } from "./ports.ts";

type Proxied = {
  /** The ports of the three processes. */
  readonly api: readonly number[];
  readonly servers: readonly Server[];
  /** Sends one request of each session, and returns the ports that answered, by session. */
  readonly answers: (path: string) => Promise<readonly string[]>;
  /** Sends one request of each session, and returns the processes that answered: cp1 is 1. */
  readonly processes: (path: string) => Promise<readonly number[]>;
};

/** Runs `check` with HAProxy in front of three servers, each of which answers every request with its port. */
async function proxied(agents_apart: boolean, check: (site: Proxied) => Promise<void>): Promise<void> {
  const folder = await temporaryFolder("guide-haproxy");
  const api = [await guidePort(), await guidePort(), await guidePort()];
  const servers = await Promise.all(api.map(answering));
  const proxy = await startHaproxy({ folder: folder.path, port: await guidePort(), api, agents_apart });
  const answer = async (path: string, session: number) =>
    await (await fetch(`${proxy.url}${path}`, { headers: { cookie: `__Host-berth=${session}` } })).text();
  const answers = (path: string) => Promise.all(SESSIONS.map((session) => answer(path, session)));
  const processes = async (path: string) =>
    [...new Set(await answers(path))].map((port) => api.indexOf(Number(port)) + 1).toSorted();
  try {
    await check({ api, servers, answers, processes });
  } finally {
    await Promise.all(servers.map(away));
    await proxy.close();
    await folder.remove();
  }
}

test("the guide's HAProxy sends all change polls of a console session to one process that answers", async (context) => {
  needs(context, "haproxy");
  await proxied(false, async ({ api, servers, answers, processes }) => {
    const first = await answers("/v1/changes?wait=20");
    expect(new Set(first)).toEqual(new Set(api.map(String)));
    expect(await answers("/v1/changes?wait=20")).toEqual(first);
    await away(servers[0]!);
    expect(await processes("/v1/changes?wait=20")).toEqual([2, 3]);
  });
});

test("with the guide's lines for many nodes, agents and other clients use different control planes while both groups of control planes answer", async (context) => {
  needs(context, "haproxy");
  await proxied(true, async ({ servers, answers, processes }) => {
    expect(await processes("/v1/agent/poll")).toEqual([2, 3]);
    expect(await processes("/v1/system/cns")).toEqual([1]);
    expect(await processes("/v1/changes")).toEqual([1]);
    await away(servers[0]!);
    await expect.poll(() => processes("/v1/system/cns")).toEqual([2, 3]);
    await expect.poll(() => processes("/v1/changes")).toEqual([2, 3]);
    expect(await answers("/v1/changes")).toEqual(await answers("/v1/changes"));
    expect(await processes("/v1/agent/poll")).toEqual([2, 3]);
  });
});

test("with the guide's lines for many nodes, cp1 serves agents only after cp2 and cp3 have failed", async (context) => {
  needs(context, "haproxy");
  await proxied(true, async ({ servers, processes }) => {
    await away(servers[1]!);
    expect(await processes("/v1/agent/poll")).toEqual([3]);
    await away(servers[2]!);
    await expect.poll(() => processes("/v1/agent/poll")).toEqual([1]);
    expect(await processes("/v1/system/cns")).toEqual([1]);
  });
});
