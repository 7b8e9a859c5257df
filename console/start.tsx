// Shows the start page, which depends on the signed-in user, and the page that finds an object by the text in its
// address.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { SEARCH_HITS_MAX } from "../src/contract/limits.ts";
import { type Refusal, refusalOf } from "./core/client.ts";
import { go } from "./core/router.ts";
import { type Hit, search } from "./core/search.ts";
import { isOperator, me } from "./core/session.ts";
import { Overview } from "./operator/overview.tsx";
import { Heading, Link, Problem } from "./parts/basics.tsx";
import { TenantStart } from "./tenant/projects.tsx";

export function Start() {
  const tenant = me.value?.tenant_id ?? null;
  if (isOperator()) return <Overview />;
  if (tenant !== null) return <TenantStart tenant={tenant} />;
  return (
    <>
      <Heading title="Berth" />
      <p>{me.value?.username} belongs to no tenant and has no capability. Ask an operator for access.</p>
    </>
  );
}

/** Opens the object that a text names. A single hit opens at once; several hits are listed. */
export function GoTo({ text }: { readonly text: string }) {
  const hits = useSignal<readonly Hit[] | null>(null);
  const refusal = useSignal<Refusal | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    hits.value = refusal.value = null;
    search(text, SEARCH_HITS_MAX, stop.signal).then((found) => {
      const [only] = found;
      if (only !== undefined && only.to !== null && found.length === 1) go(only.to, "replace");
      else hits.value = found;
    }, (error) => {
      if (!stop.signal.aborted) refusal.value = refusalOf(error);
    });
    return () => stop.abort();
  }, [text]);
  return (
    <>
      <Heading title={`Find ${text}`} />
      {refusal.value !== null && <Problem refusal={refusal.value} />}
      {hits.value?.length === 0 && <p>Nothing matches.</p>}
      {hits.value?.length === SEARCH_HITS_MAX && (
        <p class="hint">
          The page shows the best {SEARCH_HITS_MAX} hits. More objects may match; search for a longer text.
        </p>
      )}
      <ul class="plain">
        {(hits.value ?? []).map(({ id, title, hint, to }) => (
          <li key={id}>
            {to === null ? <span>{title}</span> : <Link to={to}>{title}</Link>}
            <span class="dim">{hint}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
