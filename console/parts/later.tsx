// Loads the code of some pages only when they are opened, so that the first load stays small.
import type { FunctionComponent, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Heading } from "./basics.tsx";

/** Shows a page as soon as its code is loaded. */
export function Later({ load }: { readonly load: () => Promise<FunctionComponent> }): JSX.Element | null {
  const [page, setPage] = useState<{ readonly View: FunctionComponent } | "failed" | null>(null);
  useEffect(() => {
    let isGone = false;
    const show = (next: { readonly View: FunctionComponent } | "failed") => isGone || setPage(next);
    load().then((View) => show({ View }), () => show("failed"));
    return () => {
      isGone = true;
    };
  }, []);
  if (page === null) return null;
  if (page !== "failed") return <page.View />;
  // The load fails if the server was updated, because the new version has other files.
  return (
    <>
      <Heading title="This page could not be loaded" />
      <p>
        <button type="button" onClick={() => location.reload()}>Reload the console</button>
      </p>
    </>
  );
}
