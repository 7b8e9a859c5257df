// Shows that the console has no page at an address.
import { fill, type Malformed } from "../core/path.ts";
import { path } from "../core/router.ts";
import { Heading, Link, WaysBack } from "./basics.tsx";

/** @param wrong - The malformed parameter of the address, if this is the reason. */
export function NotFound({ wrong }: { readonly wrong?: Malformed }) {
  return (
    <>
      <Heading title="No such page" />
      <p>
        The console has no page at <code>{path.value}</code>
        {wrong !== undefined && `, because “${wrong.value}” is not ${wrong.form}`}.
      </p>
      {wrong !== undefined && (
        <p>
          <Link to={fill("/go/:text", { text: wrong.value })}>Search for “{wrong.value}”</Link>
        </p>
      )}
      <WaysBack />
    </>
  );
}
