import { useEffect, useMemo } from "preact/hooks";
import { type Query, type Read, store } from "../core/store.ts";

/** Reads a query while the component is on screen, and renders the component again when the data change. */
export function useQuery<T>(query: Query<T>): Read<T> {
  const held = useMemo(() => store.open(query), [query.key]);
  useEffect(() => held.hold(), [held]);
  return held.state.value;
}
