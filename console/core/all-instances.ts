// Reads the instances of all tenants, for operators.
import type { Instance } from "../../src/contract/instance.ts";
import { getAll } from "./client.ts";
import type { Query } from "./store.ts";

export const allInstancesQuery: Query<Instance[]> = {
  key: "all instances",
  kinds: ["instance"],
  read: (signal) => getAll<Instance>("/v1/system/instances", {}, signal),
};
