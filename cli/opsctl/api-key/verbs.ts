import type { AnyCommand } from "../../framework.ts";
import { list, remove } from "../record/verbs.ts";
import { create } from "./create.ts";
import { API_KEY, API_KEYS } from "./keys.ts";

export function apiKeyVerbs(): AnyCommand[] {
  return [list(API_KEYS), create(), remove(API_KEY)];
}
