import type { OperationView } from "../../src/contract/operation.ts";
import { get } from "../core/client.ts";
import type { Query } from "../core/store.ts";

/** One operation with its steps. */
export function operationQuery(id: string): Query<OperationView> {
  return {
    key: `operation ${id}`,
    kinds: ["saga", "job"],
    fresh_ms: 5_000,
    read: (signal) => get<OperationView>(`/v1/operations/${id}`, undefined, signal),
  };
}
