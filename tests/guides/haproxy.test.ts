// Tests the HAProxy block of the guide to automatic failover.
import { expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answering, away, SESSIONS } from "./answering.ts";
import { startHaproxy } from "./haproxy.ts";
import { guidePort } from "./ports.ts";

test("the guide's HAProxy sends all change polls of a console session to one process that answers", async (context) => {
  needs(context, "haproxy");
  const folder = await temporaryFolder("guide-haproxy-changes");
  const api = [await guidePort(), await guidePort(), await guidePort()] as const;
  const servers = await Promise.all(api.map(answering));
  const proxy = await startHaproxy({ folder: folder.path, port: await guidePort(), api });
  const poll = (session: number) =>
    fetch(`${proxy.url}/v1/changes?wait=20`, { headers: { cookie: `__Host-berth=${session}` } }).then((response) =>
      response.text()
    );
  try {
    const answers = await Promise.all(SESSIONS.map(poll));
    expect(new Set(answers)).toEqual(new Set(api.map(String)));
    for (const session of [...SESSIONS, ...SESSIONS]) expect(await poll(session)).toBe(answers[session]);
    await away(servers[0]!);
    for (const session of SESSIONS) expect(api.slice(1).map(String)).toContain(await poll(session));
  } finally {
    await Promise.all(servers.map(away));
    await proxy.close();
    await folder.remove();
  }
});

test("the guide's lines for many nodes separate agents from other clients while both groups answer", async (context) => {
  needs(context, "haproxy");
  const folder = await temporaryFolder("guide-haproxy-agents");
  const api = [await guidePort(), await guidePort(), await guidePort()] as const;
  const servers = await Promise.all(api.map(answering));
  const proxy = await startHaproxy({ folder: folder.path, port: await guidePort(), api, agents_apart: true });
  const answers = async (path: string) => {
    const texts = await Promise.all(SESSIONS.map(() => fetch(`${proxy.url}${path}`).then((reply) => reply.text())));
    return [...new Set(texts)].toSorted();
  };
  const ports = (...indexes: readonly number[]) => indexes.map((index) => String(api[index])).toSorted();
  try {
    expect(await answers("/v1/agent/poll")).toEqual(ports(1, 2));
    expect(await answers("/v1/system/cns")).toEqual(ports(0));
    await away(servers[0]!);
    await expect.poll(() => answers("/v1/system/cns")).toEqual(ports(1, 2));
    expect(await answers("/v1/agent/poll")).toEqual(ports(1, 2));
  } finally {
    await Promise.all(servers.map(away));
    await proxy.close();
    await folder.remove();
  }
});
