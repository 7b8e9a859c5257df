// One connection for a whole command, looked for when it is first needed. The token of a saved session is exchanged for a
// new one when it nears its end, and when the server refuses it: this machine's clock may be wrong.
import type { Connection } from "./connection.ts";
import type { Link } from "./exchange.ts";
import type { Environment } from "./environment.ts";

export type Source = {
  resolve(): Promise<Connection>;
  /** With a new token in place of the old one's. */
  renew(old: Connection): Promise<Connection>;
};

export type OpenLink = { connection(): Promise<Connection>; link(): Promise<Link> };

export function openLink(environment: Environment, user_agent: string, { resolve, renew }: Source): OpenLink {
  let opened: Promise<Connection> | null = null;
  let trusts_clock = true;
  const isDue = async ({ session }: Connection) =>
    session !== undefined && (await import("./session.ts")).isDue(session.saved, environment.wallMs());
  const renewed = async (old: Connection) => {
    const made = await renew(old);
    if (await isDue(made)) trusts_clock = false;
    return made;
  };
  // One renewal for all who wait for it: `opened` is another as soon as one has asked.
  const inPlaceOf = async (old: Promise<Connection>) => {
    if (opened === old) opened = old.then(renewed);
    return await (opened ?? old);
  };
  const connection = async (): Promise<Connection> => {
    const now = opened ??= resolve();
    return trusts_clock && await isDue(await now) ? await inPlaceOf(now) : await now;
  };
  const link = async (): Promise<Link> => {
    const { endpoint, token, session } = await connection();
    if (session === undefined) return { endpoint, token, user_agent };
    const used = opened!;
    return { endpoint, token, user_agent, renew: async () => (await inPlaceOf(used)).token };
  };
  return { connection, link };
}
