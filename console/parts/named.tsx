// Shows an object by its name, as a link to its page.
import { nameQuery, pageOf, type Ref } from "../core/names.ts";
import { isOperator } from "../core/session.ts";
import { Link } from "./basics.tsx";
import { useQuery } from "./use-query.ts";

/** Matches the paths of pages that only operators may open. */
const FOR_OPERATORS = /^\/(?:nodes|tenants|jobs|boot|users|networks)\b/;

/** Returns the page of an object. Returns null if the object has no page, or if the user may not open it. */
export function openPageOf(ref: Ref, others: readonly Ref[] = []): string | null {
  const to = pageOf(ref, others);
  return to !== null && !isOperator() && FOR_OPERATORS.test(to) ? null : to;
}

type Props = Ref & {
  /** The other objects of the same operation. */
  readonly others?: readonly Ref[];
  /** The text while the name is not known. Default: the id. */
  readonly unnamed?: string;
};

/**
 * The name of an object, or another text while the name is not known. Each `Named` sends one request, so lists do not
 * use this component.
 */
export function Named({ scope, id, others = [], unnamed = id }: Props) {
  const { data: name } = useQuery(nameQuery({ scope, id }, others));
  const to = openPageOf({ scope, id }, others);
  return to === null ? <span>{name ?? unnamed}</span> : <Link to={to}>{name ?? unnamed}</Link>;
}
