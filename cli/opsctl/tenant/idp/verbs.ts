import { type AnyCommand, group } from "../../../framework.ts";
import { remove, show } from "../../record/verbs.ts";
import { IDP } from "./idp.ts";
import { set } from "./set.ts";

export function idpGroup(): AnyCommand {
  return group("idp", "Identity provider of a tenant", [show(IDP), set(), remove(IDP)]);
}
