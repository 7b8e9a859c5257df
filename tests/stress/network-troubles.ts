// Causes network faults between a server and its database. Each function causes one kind of fault and counts what
// happened.
import { CUTS } from "../support/commit-cutter.ts";
import type { Direction, Side } from "../support/network-link.ts";
import { request } from "../processes/client.ts";
import { type Load, registration } from "../processes/load.ts";
import type { NetworkSite, Place } from "./network-site.ts";
import { sleep, until } from "./waiting.ts";

export type Scene = { readonly site: NetworkSite; readonly load: Load };
/** How often each event happened, by name. An event that never happened fails the run. */
export type Happened = Readonly<Record<string, number>>;
type Trouble = (scene: Scene) => Promise<Happened>;

const CUT_EVERY = 5;
const CUTS_MIN = 25;
const MESSAGES_CUT_MIN = 100;
/** The upper limit of the random number of bytes before a cut. Most messages are shorter. */
const CUT_AFTER_BYTES_MAX = 3_000;
const PAUSE_MS_MAX = 100;
const SLOW_MS = 100;
const ACKNOWLEDGED_MIN = 50;
/** The time limit for enough events. A tenth of it usually suffices; the rest is for slow machines. */
const ENOUGH = { limit_ms: 180_000, look_ms: 20 };

export const TROUBLES: Readonly<Record<string, Trouble>> = {
  "commits cut": cutCommits,
  "messages cut": cutMessages,
  "a slow network": slowDown,
  "a server cut off": cutOff,
  "connections that the database lost": (scene) => loseSide(scene, "server"),
  "connections that the server lost": (scene) => loseSide(scene, "client"),
};

async function cutCommits({ site: { places } }: Scene): Promise<Happened> {
  const cut = () => Object.fromEntries(CUTS.map((each) => [each, sum(places, ({ cutter }) => cutter.counters[each])]));
  const before = cut();
  for (const { cutter } of places) cutter.every(CUT_EVERY);
  const happened = () =>
    Object.fromEntries(CUTS.map((each) => [`cut ${each}`, (cut()[each] ?? 0) - (before[each] ?? 0)]));
  await until(() => Object.values(happened()).every((count) => count >= CUTS_MIN), ENOUGH);
  for (const { cutter } of places) cutter.every(0);
  return happened();
}

async function cutMessages({ site: { places } }: Scene): Promise<Happened> {
  const cut = () => sum(places, ({ network }) => network.counters.cut);
  const before = cut();
  await until(async () => {
    const { network } = places[Math.random() < 0.5 ? 0 : 1];
    const direction: Direction = Math.random() < 0.5 ? "to_server" : "to_client";
    network.cutAfter(direction, Math.ceil(Math.random() * CUT_AFTER_BYTES_MAX));
    await sleep(Math.random() * PAUSE_MS_MAX);
    return cut() - before >= MESSAGES_CUT_MIN;
  }, ENOUGH);
  return { "messages cut": cut() - before };
}

/** Slows down the database connections of one server, until enough operations have been acknowledged. */
async function slowDown({ site: { places }, load }: Scene): Promise<Happened> {
  const [{ network }] = places;
  const [delayed, acknowledged] = [network.counters.delayed, load.acknowledged()];
  network.delay(SLOW_MS);
  const happened = () => ({
    "chunks delayed": network.counters.delayed - delayed,
    "acknowledged meanwhile": load.acknowledged() - acknowledged,
  });
  await until(() => Object.values(happened()).every((count) => count >= ACKNOWLEDGED_MIN), ENOUGH);
  network.heal();
  return happened();
}

/**
 * Cuts off each server in turn from the database while the server sends a commit, until the server answers 503. The
 * other server continues alone. When the network works again, the delayed data arrives. By then the server has given
 * up, and its clients use the other server.
 */
async function cutOff({ site, load }: Scene): Promise<Happened> {
  const happened = { silences: 0, "chunks that arrived late": 0, "acknowledged alone": 0 };
  for (const { network, cutter, server } of site.places) {
    const [late, acknowledged] = [network.counters.late, load.acknowledged()];
    const silence = Promise.withResolvers<void>();
    cutter.atNext(() => {
      network.silence();
      silence.resolve();
    });
    await silence.promise;
    const refuses = async () => {
      const { path, body } = registration(crypto.randomUUID());
      return (await request(server.url, { method: "POST", path, body, key: "" })).status === 503;
    };
    const alone = () => load.acknowledged() - acknowledged;
    await until(async () => await refuses() && network.abandoned() > 0 && alone() >= ACKNOWLEDGED_MIN, ENOUGH);
    happened["acknowledged alone"] += alone();
    network.heal();
    happened["chunks that arrived late"] += network.counters.late - late;
    happened.silences += 1;
    await serves(server.url);
  }
  return happened;
}

/** Drops one side of all database connections of each server in turn. The other side is not notified. */
async function loseSide({ site: { places } }: Scene, side: Side): Promise<Happened> {
  const happened: Record<string, number> = {};
  const add = (name: string, count: number) => happened[name] = (happened[name] ?? 0) + count;
  for (const { network, server } of places) {
    const { half_open, unheard } = network.counters;
    network.loseSide(side);
    await serves(server.url);
    add(`connections without their ${side}`, network.counters.half_open - half_open);
    if (side === "server") add("chunks that were lost", network.counters.unheard - unheard);
  }
  return happened;
}

/** Waits until the server accepts a registration. */
async function serves(url: string): Promise<void> {
  await until(async () => {
    const { path, body } = registration(crypto.randomUUID());
    return (await request(url, { method: "POST", path, body, key: "" })).status === 200;
  }, ENOUGH);
}

function sum(places: readonly Place[], of: (place: Place) => number): number {
  return places.reduce((total, place) => total + of(place), 0);
}
