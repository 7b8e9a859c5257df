// Loads the code of some pages after the first load, so that the first load stays small.
import type { FunctionComponent, JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Heading } from "./basics.tsx";

type Props = {
  readonly load: () => Promise<FunctionComponent>;
  /** Whether the code is for a part of a page. The page then has its own heading. */
  readonly isPart?: boolean;
};

/** Shows a page, or a part of a page, as soon as its code is loaded. */
export function Later({ load, isPart }: Props): JSX.Element | null {
  const [page, setPage] = useState<{ readonly View: FunctionComponent } | "failed" | null>(null);
  // Unlike an effect, a layout effect runs before the browser draws. So a page whose code is already loaded appears at
  // once.
  useLayoutEffect(() => {
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
      {isPart === true
        ? <p role="alert">This part of the page could not be loaded.</p>
        : <Heading title="This page could not be loaded" />}
      <p>
        <button type="button" onClick={() => location.reload()}>Reload the console</button>
      </p>
    </>
  );
}
