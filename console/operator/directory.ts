// Queries the names of users, nodes and instances. A page reads the names once, for all rows of its list.
import type { Instance } from "../../src/contract/instance.ts";
import type { User } from "../../src/contract/identity.ts";
import type { NodeRow } from "../../src/contract/node-window.ts";
import { useMemo } from "preact/hooks";
import { get, getFirst, isCut, Refusal } from "../core/client.ts";
import { isOperator, me } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { place } from "../tenant/place.ts";
import type { Window } from "../parts/lists.tsx";
import { useQueries, useQuery } from "../parts/use-query.ts";

export type Names = ReadonlyMap<string, string>;
/** The names before the first read. */
export const NO_NAMES: Names = new Map();

/** Names change seldom, so they are read again after this time, in milliseconds. */
const FRESH_MS = 300_000;
/** The server's largest window. */
const WINDOW_ROWS = 500;

/** The search begins this long after the last key press, in milliseconds. */
const REST_MS = 200;

/** The first users of the site that have this word in the name or the UUID: operators, and users of all tenants. */
export function usersQuery(word = ""): Query<User[]> {
  return {
    key: `users ${word}`,
    kinds: ["user"],
    rest_ms: word === "" ? 0 : REST_MS,
    read: (signal) => getFirst<User>("/v1/system/users", { q: word }, signal),
  };
}

/** Members of a tenant, and whether the tenant may have more members. */
export type Members = { readonly members: readonly User[]; readonly isCut: boolean };

/** The first members of a tenant with this word in the name or the UUID. */
export function membersQuery(tenant: string, word = ""): Query<Members> {
  return {
    key: `members ${tenant} ${word}`,
    kinds: ["user"],
    rest_ms: word === "" ? 0 : REST_MS,
    read: async (signal) => {
      const users = await getFirst<User>("/v1/system/users", { q: word, tenant }, signal);
      // A server of an earlier release does not know the parameter `tenant`, and returns the users of all tenants.
      return { members: users.filter(({ tenant_id }) => tenant_id === tenant), isCut: isCut(users) };
    },
  };
}

/**
 * The first users of the site. The audit pages need only the names of the users, so this query is read again less often
 * than `usersQuery`.
 */
const firstUsers: Query<User[]> = { ...usersQuery(), key: "first users", fresh_ms: FRESH_MS };

const noUsers: Query<User[]> = { key: "no users", kinds: [], read: () => Promise.resolve([]) };

/** One user. Null if the user was deleted. */
function userQuery(id: string): Query<User | null> {
  return {
    key: `user ${id}`,
    kinds: ["user"],
    fresh_ms: FRESH_MS,
    read: (signal) =>
      get<User>(`/v1/system/users/${id}`, undefined, signal).catch((error) => {
        if (error instanceof Refusal && error.status === 404) return null;
        throw error;
      }),
  };
}

/** The largest number of users whose names a page reads one by one. Further users are shown by their ids. */
const NAMES_MAX = 30;

/**
 * Returns the names of these users, by id. Reads the first users of the site, and then at most NAMES_MAX other users.
 * Only operators may read users; every other caller knows only its own name.
 */
export function useUsernames(ids: ReadonlySet<string>): Names {
  const { data: first } = useQuery(isOperator() ? firstUsers : noUsers);
  const known = useMemo(() => new Map(first?.map(({ id, username }) => [id, username])), [first]);
  // If `first` contains all users of the site, the users that are not in `known` were deleted.
  const missing = isCut(first) ? [...ids].filter((id) => !known.has(id)).slice(0, NAMES_MAX) : [];
  const found = useQueries(missing.map(userQuery)).filter((user) => user != null);
  return useMemo(() => {
    if (isOperator()) return new Map([...known, ...found.map(({ id, username }) => [id, username] as const)]);
    return me.value === null ? NO_NAMES : new Map([[me.value.user_id, me.value.username]]);
  }, [known, me.value, found.map(({ id, username }) => `${id} ${username}`).join()]);
}

/** The hostnames of all nodes, by UUID. */
export const hostnamesQuery: Query<Names> = {
  key: "hostnames",
  kinds: [],
  fresh_ms: FRESH_MS,
  read: async (signal) => {
    const names = new Map<string, string>();
    for (let offset = 0;; offset += WINDOW_ROWS) {
      const query = { offset, limit: WINDOW_ROWS };
      const { items, total } = await get<Window<NodeRow>>("/v1/system/nodes", query, signal);
      for (const { server_uuid, hostname } of items) names.set(server_uuid, hostname);
      if (items.length === 0 || offset + items.length >= total) return names;
    }
  },
};

/** Members may not read nodes. */
export const noHostnames: Query<Names> = { key: "no hostnames", kinds: [], read: () => Promise.resolve(NO_NAMES) };

/** The names of the first instances of the site; for a member, of the project in the address, or none without one. */
export function firstInstancesQuery(): Query<Names> {
  const project = isOperator() ? null : place.value;
  const path = isOperator() ? "/v1/system/instances" : "/v1/instances";
  return {
    key: `instance names ${path} ${project?.tenant} ${project?.project}`,
    // An operator's list is not read again at each change, because the instances of a large site change all the time.
    kinds: isOperator() ? [] : ["instance"],
    fresh_ms: FRESH_MS,
    read: async (signal) => {
      if (!isOperator() && project === null) return NO_NAMES;
      const instances = await getFirst<Instance>(path, { ...project }, signal);
      return new Map(instances.map(({ id, name }) => [id, name]));
    },
  };
}
