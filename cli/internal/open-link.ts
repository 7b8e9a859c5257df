// Resolves the connection of a command on first use. The token of a saved session is renewed before it expires. It is
// also renewed when the server rejects it, because this machine's clock may be wrong.
import type { Connection } from "./connection.ts";
import type { Link } from "./exchange.ts";
import type { Environment } from "./environment.ts";

export type Source = {
  resolve(): Promise<Connection>;
  /** Returns the connection with a new token. */
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
  // Concurrent callers share one renewal: the first caller replaces `opened`.
  const renewOnce = async (old: Promise<Connection>) => {
    if (opened === old) opened = old.then(renewed);
    return await (opened ?? old);
  };
  const connection = async (): Promise<Connection> => {
    const now = opened ??= resolve();
    return trusts_clock && await isDue(await now) ? await renewOnce(now) : await now;
  };
  const link = async (): Promise<Link> => {
    const { endpoint, token, session } = await connection();
    if (session === undefined) return { endpoint, token, user_agent };
    const used = opened!;
    return { endpoint, token, user_agent, renew: async () => (await renewOnce(used)).token };
  };
  return { connection, link };
}
