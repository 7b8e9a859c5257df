import { useEffect, useMemo } from "preact/hooks";
import { type Query, type Read, store } from "../core/store.ts";

/** Reads a query while the component is on screen, and renders the component again when the data change. */
export function useQuery<T>(query: Query<T>): Read<T> {
  const held = useMemo(() => store.open(query), [query.key]);
  useEffect(() => held.hold(), [held]);
  return held.state.value;
}

/** Reads several queries, and returns their data in the same order. */
export function useQueries<T>(queries: readonly Query<T>[]): readonly (T | undefined)[] {
  const held = useMemo(() => queries.map((query) => store.open(query)), [queries.map(({ key }) => key).join()]);
  useEffect(() => {
    const releases = held.map(({ hold }) => hold());
    return () => releases.forEach((release) => release());
  }, [held]);
  return held.map(({ state }) => state.value.data);
}
